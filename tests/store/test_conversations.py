"""Conversations as they are kept and listed, on every kind of database."""

from __future__ import annotations

import pytest
from tests.support.at_once import done_before
from tests.support.store_fixtures import conversation, row

from duologue.errors import BadRequest, NotFound
from duologue.store import conversations
from duologue.store.conversations import Conversations
from duologue.values.conversations import Conversation, Folder, GenerationOptions
from duologue.values.requests import Sampling

pytestmark = pytest.mark.anyio


async def test_what_is_created_is_found_again_whole(store, clock):
    await store.folders.put("local", Folder("work", "Work"))
    made = Conversation(
        id="a",
        title="Boats\0 and nets",
        title_source="user",
        folder="work",
        pinned=True,
        tags=("sea", 'with "quotes"'),
        options=GenerationOptions(
            model="mini", sampling=Sampling(temperature=0.5), servers={"builtin": False}
        ),
        forked_from="b",
    )
    created = await store.conversations.create("local", made)
    assert (created.created, created.updated) == (clock(), clock())
    found = await store.conversations.get("local", "a")
    assert found.title == "Boats and nets"
    assert found == Conversation(
        **{name: getattr(created, name) for name in Conversation.__struct_fields__ if name != "title"},
        title="Boats and nets",
    )


async def test_times_that_are_given_are_kept(store):
    await store.conversations.create("local", Conversation(id="a", created=5, updated=7))
    found = await store.conversations.get("local", "a")
    assert (found.created, found.updated) == (5, 7)


async def test_creating_it_again_gives_the_one_that_is_there(store):
    await store.conversations.create("local", Conversation(id="a", title="First"))
    again = await store.conversations.create("local", Conversation(id="a", title="Second"))
    assert again.title == "First"


async def test_several_are_created_at_once_or_none(store, clock):
    await store.conversations.create_all("local", [Conversation(id="a"), Conversation(id="b", updated=7)])
    assert (await store.conversations.get("local", "a")).updated == clock()
    assert (await store.conversations.get("local", "b")).updated == 7
    await store.conversations.create_all("local", [])
    for ids in (("c", "b"), ("c", "c")):
        with pytest.raises(BadRequest) as raised:
            await store.conversations.create_all("local", [Conversation(id=id) for id in ids])
        assert raised.value.code == "id_taken"
    await store.conversations.delete("local", "a")
    assert await store.conversations.existing(["a", "b", "c"]) == {
        "a": ("local", True),
        "b": ("local", False),
    }


async def test_an_id_of_someone_else_is_taken(store):
    await store.conversations.create("anna", Conversation(id="a"))
    with pytest.raises(BadRequest) as raised:
        await store.conversations.create("bert", Conversation(id="a"))
    assert raised.value.code == "id_taken"


async def test_another_users_conversation_does_not_exist(store):
    await store.conversations.create("anna", Conversation(id="a"))
    for doing in (
        store.conversations.get("bert", "a"),
        store.conversations.change("bert", "a", {"title": "Mine"}),
        store.conversations.delete("bert", "a"),
        store.conversations.restore("bert", "a"),
    ):
        with pytest.raises(NotFound):
            await doing
    assert await store.conversations.owner("a") == "anna"


async def test_the_list_has_pinned_ones_first_and_then_the_newest(store):
    for number in range(5):
        await store.conversations.create(
            "local", Conversation(id=f"c{number}", updated=100 + number, pinned=number == 1)
        )
    assert [one.id for one in await store.conversations.listed("local")] == ["c1", "c4", "c3", "c2", "c0"]


async def test_the_list_goes_on_where_it_ended_even_among_equal_times(store):
    for number in range(7):
        await store.conversations.create("local", Conversation(id=f"c{number}", updated=100))
    await store.conversations.create("local", Conversation(id="pin", updated=1, pinned=True))
    first = await store.conversations.listed("local", limit=3)
    assert [one.id for one in first] == ["pin", "c6", "c5", "c4"]
    seen = [one.id for one in first]
    while page := await store.conversations.listed("local", limit=3, before=(100, seen[-1])):
        seen += [one.id for one in page]
    assert seen == ["pin", "c6", "c5", "c4", "c3", "c2", "c1", "c0"]


async def test_lists_are_of_one_user_one_folder_one_tag_and_of_the_archive_or_not(store):
    await store.folders.put("local", Folder("f", "Folder"))
    make = store.conversations.create
    await make("local", Conversation(id="plain"))
    await make("local", Conversation(id="filed", folder="f"))
    await make("local", Conversation(id="tagged", tags=("sea",)))
    await make("local", Conversation(id="nearly", tags=("seaside", 'x"sea"y', "Sea")))
    await make("local", Conversation(id="old", archived=True))
    await make("anna", Conversation(id="hers", tags=("sea",)))
    listed = store.conversations.listed
    assert {one.id for one in await listed("local")} == {"plain", "filed", "tagged", "nearly"}
    assert [one.id for one in await listed("local", archived=True)] == ["old"]
    assert [one.id for one in await listed("local", folder="f")] == ["filed"]
    assert [one.id for one in await listed("local", tag="sea")] == ["tagged"]
    assert [one.id for one in await listed("local", tag='x"sea"y')] == ["nearly"]
    assert await store.conversations.tags("local") == {"Sea": 1, "sea": 1, "seaside": 1, 'x"sea"y': 1}


async def test_changes_are_kept_and_do_not_move_it_in_the_list(store, clock):
    made = await conversation(store, "hello", "hi")
    clock.forward(1000)
    changes = {"title": "New", "title_source": "user", "pinned": True, "tags": ("a",), "leaf": "m0"}
    changed = await store.conversations.change("local", made.id, changes)
    assert changed == await store.conversations.get("local", made.id)
    assert (changed.title, changed.pinned, changed.tags, changed.leaf) == ("New", True, ("a",), "m0")
    assert changed.updated == made.updated


async def test_a_change_to_what_is_not_there_is_refused(store):
    made = await conversation(store, "hello")
    await store.folders.put("anna", Folder("hers", "Hers"))
    for changes, code in (
        ({"leaf": "gone"}, "unknown_message"),
        ({"folder": "gone"}, "unknown_folder"),
        ({"folder": "hers"}, "unknown_folder"),
    ):
        with pytest.raises(BadRequest) as raised:
            await store.conversations.change("local", made.id, changes)
        assert raised.value.code == code
    with pytest.raises(ValueError, match="created"):
        await store.conversations.change("local", made.id, {"created": 1})


async def test_a_deleted_one_is_in_no_list_and_comes_back(store, clock):
    made = await conversation(store, "hello")
    await store.conversations.delete("local", made.id)
    await store.conversations.delete("local", made.id)
    assert await store.conversations.listed("local") == []
    with pytest.raises(NotFound):
        await store.conversations.get("local", made.id)
    assert (await store.conversations.get("local", made.id, deleted=True)).deleted == clock()
    restored = await store.conversations.restore("local", made.id)
    assert restored == made
    assert await store.conversations.listed("local") == [made]


async def test_purging_forgets_what_was_deleted_long_ago_with_all_that_is_in_it(store, clock):
    old = await conversation(store, "hello", "hi there")
    young = await conversation(store, "hello")
    kept = await conversation(store, "hello")
    await store.drafts.put("local", old.id, {"text": "x"})
    await store.conversations.delete("local", old.id)
    clock.forward(5000)
    await store.conversations.delete("local", young.id)
    assert await store.conversations.purge(older_than_ms=5000) == [old.id]
    assert await store.messages.all(old.id) == ()
    assert await store.drafts.get("local", old.id) is None
    with pytest.raises(NotFound):
        await store.conversations.restore("local", old.id)
    await store.conversations.restore("local", young.id)
    assert {hit.conversation for hit in await store.search.find("local", "hello")} == {young.id, kept.id}


async def test_purging_takes_some_at_a_time(store, monkeypatch):
    monkeypatch.setattr(conversations, "PURGE_BATCH", 2)
    for id in ("a", "b", "c"):
        await conversation(store, "hello", id=id)
        await store.conversations.delete("local", id)
    assert [len(await store.conversations.purge(0)) for _ in range(3)] == [2, 1, 0]


async def test_which_run_writes_in_it(store):
    made = await conversation(store, "hello")
    await store.conversations.set_running(made.id, "run")
    assert (await store.conversations.get("local", made.id)).running == "run"
    await store.conversations.set_running(made.id, None)
    assert (await store.conversations.get("local", made.id)).running is None


class Interrupted(Exception):
    pass


async def test_several_commands_can_be_one(store):
    async def broken_off() -> None:
        async with store.writing() as connection:
            made = await store.conversations.create("local", Conversation(id="a"), within=connection)
            await store.messages.add([row(made.id, "m", text="hello")], leaf="m", within=connection)
            raise Interrupted

    with pytest.raises(Interrupted):
        await broken_off()
    assert await store.conversations.listed("local") == []
    assert await store.messages.all("a") == ()


async def test_what_another_gateway_has_just_stored_is_refused_with_a_sentence(both, clock):
    two = Conversations(both[1], clock)
    new = [Conversation("a"), Conversation("b")]
    async with done_before(both[0], lambda: two.create_all("ann", new)) as (first, results):
        await Conversations(first, clock).create("ann", Conversation("b"))
    assert results[0].code == "id_taken"
    assert await two.owner("a") is None
