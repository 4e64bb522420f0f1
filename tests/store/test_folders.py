"""Folders, on every kind of database."""

from __future__ import annotations

import pytest

from duologue.errors import BadRequest, NotFound
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
