"""Folders, on every kind of database."""

from __future__ import annotations

import pytest
from sqlalchemy import update
from tests.support.at_once import done_before

from duologue.errors import BadRequest, NotFound
from duologue.store.conversations import Conversations
from duologue.store.folders import Folders
from duologue.store.schema.tables import folders
from duologue.values.conversations import Conversation, Folder

pytestmark = pytest.mark.anyio


async def test_folders_are_kept_by_user_and_listed_by_name(store, clock):
    put = store.folders.put
    work = await put("local", Folder("w", "Work"))
    boats = await put("local", Folder("b", "Boats", parent="w"))
    await put("anna", Folder("h", "Home"))
    assert await store.folders.all("local") == [boats, work]
    assert work.created == clock()


async def test_putting_one_again_renames_and_moves_it(store, clock):
    await store.folders.put("local", Folder("a", "A"))
    made = await store.folders.put("local", Folder("b", "B"))
    clock.forward(5)
    moved = await store.folders.put("local", Folder("b", "Better", parent="a", created=77))
    assert moved == Folder("b", "Better", "a", made.created)
    assert moved in await store.folders.all("local")


@pytest.mark.parametrize(
    ("user", "folder", "code"),
    [
        ("local", Folder("x", "X", parent="gone"), "unknown_folder"),
        ("local", Folder("x", "X", parent="hers"), "unknown_folder"),
        ("local", Folder("x", "X", parent="x"), "cycle"),
        ("local", Folder("a", "A", parent="b"), "cycle"),
        ("local", Folder("hers", "Mine"), "id_taken"),
    ],
)
async def test_a_folder_that_fits_nowhere_is_refused(store, user, folder, code):
    await store.folders.put("anna", Folder("hers", "Hers"))
    await store.folders.put("local", Folder("a", "A"))
    await store.folders.put("local", Folder("b", "B", parent="a"))
    with pytest.raises(BadRequest) as raised:
        await store.folders.put(user, folder)
    assert raised.value.code == code


async def test_what_is_in_a_deleted_folder_moves_up(store):
    for folder in (Folder("a", "A"), Folder("b", "B", parent="a"), Folder("c", "C", parent="b")):
        await store.folders.put("local", folder)
    await store.conversations.create("local", Conversation(id="x", folder="b"))
    await store.folders.delete("local", "b")
    assert [(one.id, one.parent) for one in await store.folders.all("local")] == [("a", None), ("c", "a")]
    assert (await store.conversations.get("local", "x")).folder == "a"
    await store.folders.delete("local", "a")
    assert (await store.conversations.get("local", "x")).folder is None


async def test_only_its_user_deletes_a_folder(store):
    await store.folders.put("anna", Folder("hers", "Hers"))
    with pytest.raises(NotFound):
        await store.folders.delete("local", "hers")


async def test_two_folders_that_are_moved_into_each_other_at_two_gateways_are_no_circle(both, clock):
    one, two = (Folders(database, clock) for database in both)
    await one.put("ann", Folder("a", "A"))
    await one.put("ann", Folder("b", "B"))
    async with done_before(both[0], lambda: two.put("ann", Folder("b", "B", parent="a"))) as (first, results):
        await Folders(first, clock).put("ann", Folder("a", "A", parent="b"))
    assert results[0].code == "cycle"
    assert [(folder.id, folder.parent) for folder in await one.all("ann")] == [("a", "b"), ("b", None)]


async def test_a_circle_that_is_stored_keeps_nobody_from_making_a_folder_elsewhere(store):
    for folder in (Folder("a", "A"), Folder("b", "B", parent="a")):
        await store.folders.put("local", folder)
    async with store.writing() as connection:
        await connection.execute(update(folders).where(folders.c.id == "a").values(parent="b"))
    with pytest.raises(BadRequest) as raised:
        await store.folders.put("local", Folder("c", "C", parent="a"))
    assert raised.value.code == "cycle"
    assert (await store.folders.put("local", Folder("a", "A"))).parent is None


async def test_a_folder_that_is_made_at_two_gateways_at_once_is_made_once(both, clock):
    two = Folders(both[1], clock)
    async with done_before(both[0], lambda: two.put("ann", Folder("a", "Later"))) as (first, results):
        await Folders(first, clock).put("ann", Folder("a", "First"))
    assert [folder.name for folder in await two.all("ann")] == [results[0].name] == ["Later"]


async def test_of_two_users_who_make_a_folder_of_one_id_at_once_the_later_is_refused(both, clock):
    two = Folders(both[1], clock)
    async with done_before(both[0], lambda: two.put("bob", Folder("a", "His"))) as (first, results):
        await Folders(first, clock).put("ann", Folder("a", "Hers"))
    assert results[0].code == "id_taken"


async def test_nothing_is_put_into_a_folder_that_another_gateway_is_deleting(both, clock):
    one = Folders(both[0], clock)
    await one.put("ann", Folder("a", "A"))
    conversations = Conversations(both[1], clock)
    await conversations.create("ann", Conversation("there"))
    for act in (
        lambda: Folders(both[1], clock).put("ann", Folder("b", "B", parent="a")),
        lambda: conversations.create("ann", Conversation("new", folder="a")),
        lambda: conversations.change("ann", "there", {"folder": "a"}),
    ):
        await one.put("ann", Folder("a", "A"))
        async with done_before(both[0], act) as (first, results):
            await Folders(first, clock).delete("ann", "a")
        assert results[0].code == "unknown_folder"
