"""The rows of conversations, on every kind of database."""

from __future__ import annotations

from contextlib import suppress

import anyio
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from sqlalchemy import select
from tests.support.store_fixtures import conversation, row

from duologue.errors import BadRequest, NotFound, Problem
from duologue.store import messages
from duologue.store.database import Database
from duologue.store.schema.tables import message_blobs
from duologue.store.stores import Store
from duologue.values.conversations import (
    AudioContent,
    Conversation,
    DocumentContent,
    ImageContent,
    ResourceContent,
    RowError,
    StoredMessage,
    StoredToolCall,
    TextContent,
    ToolCallRecord,
    VideoContent,
)
from duologue.values.events import Fitted, FittingNote, Timings, Usage
from duologue.values.speech import TranscribedPart

pytestmark = pytest.mark.anyio

WHOLE = StoredMessage(
    id="whole",
    conversation="a",
    parent=None,
    role="assistant",
    content=(
        TextContent("Text with a NUL \0, a quote ' and 🎈"),
        ImageContent("a" * 64, "image/heic", "beach.heic", shown="b" * 64, width=4, height=3),
        AudioContent("c" * 64, "audio/wav", duration=1200),
        VideoContent("d" * 64, "video/mp4"),
        DocumentContent(
            "e" * 64, "application/pdf", text="f" * 64, pages=("0" * 64, "1" * 64), given="pages"
        ),
        ResourceContent("files", "file:///x", blob="2" * 64),
    ),
    created=17,
    status="failed",
    kind="summary",
    active=False,
    reasoning="Hm \0.",
    tool_calls=(StoredToolCall("call_1", "add", '{"a": '),),
    tool_call_id="call_0",
    call=ToolCallRecord("add", '{"a": 1}', "server", "plus", "done", ms=5, expires=9),
    model="mini",
    finish="length",
    usage=Usage(3, 4, 1, 0, True),
    timings=Timings(1.5, 2.5, 3.5, 4.5),
    error=RowError("model", "worker_lost", "The worker ended."),
    run="r",
    edited=18,
    fitted=Fitted(
        (TranscribedPart(0, 1, "Buy \0 tea."),),
        (FittingNote("messages[0].content[1]", "audio", "text", seconds=2.5),),
    ),
)


@pytest.fixture
async def a(store) -> Conversation:
    return await store.conversations.create("local", Conversation(id="a"))


async def test_every_field_of_a_row_is_found_again(store, a):
    (kept,) = await store.messages.add([WHOLE])
    assert kept.sequence > 0
    assert kept == msgspec.structs.replace(WHOLE, sequence=kept.sequence)
    assert await store.messages.get("a", "whole") == kept
    assert await store.messages.all("a") == (kept,)


async def test_saving_writes_every_field_but_its_place(store, a):
    (plain,) = await store.messages.add([row("a", "whole", created=3)])
    await store.messages.save(msgspec.structs.replace(WHOLE, parent="elsewhere", created=99))
    assert await store.messages.get("a", "whole") == msgspec.structs.replace(
        WHOLE, parent=None, created=3, sequence=plain.sequence
    )


async def test_adding_numbers_rows_in_their_order_and_moves_the_conversation(store, a, clock):
    clock.forward(1000)
    kept = await store.messages.add([row("a", "m0"), row("a", "m1", "m0"), row("a", "m2", "m1")], leaf="m2")
    assert [one.sequence for one in kept] == sorted(one.sequence for one in kept)
    assert [one.created for one in kept] == [clock()] * 3
    found = await store.conversations.get("local", "a")
    assert (found.leaf, found.updated) == ("m2", clock())
    (later,) = await store.messages.add([row("a", "m3", "m0")])
    assert later.sequence > kept[-1].sequence
    assert (await store.conversations.get("local", "a")).leaf == "m2"


async def test_numbers_are_never_used_again(store, a):
    (first,) = await store.messages.add([row("a", "m0")])
    await store.messages.delete("a", ["m0"])
    (second,) = await store.messages.add([row("a", "m0")])
    assert second.sequence > first.sequence


async def test_adding_the_same_row_again_gives_what_is_there(store, a):
    first = await store.messages.add([row("a", "m0", text="one"), row("a", "m1", "m0", "two")])
    again = await store.messages.add(
        [row("a", "m0", text="other"), row("a", "m1", "m0"), row("a", "m2", "m1")]
    )
    assert again[:2] == first
    assert [one.id for one in await store.messages.all("a")] == ["m0", "m1", "m2"]


@pytest.mark.parametrize(
    ("rows", "code"),
    [
        ([row("a", "m1", "gone")], "unknown_parent"),
        ([row("a", "m1", "other")], "unknown_parent"),
        ([row("a", "m1", "m2"), row("a", "m2")], "unknown_parent"),
        ([row("a", "m1", "m1")], "unknown_parent"),
        ([row("a", "m0", "root")], "id_taken"),
    ],
)
async def test_a_row_that_fits_nowhere_is_refused_and_nothing_is_kept(store, a, rows, code):
    await conversation(store, id="b")
    await store.messages.add([row("b", "other")])
    await store.messages.add([row("a", "root"), row("a", "m0")])
    with pytest.raises(BadRequest) as raised:
        await store.messages.add([row("a", "fine"), *rows])
    assert raised.value.code == code
    assert [one.id for one in await store.messages.all("a")] == ["root", "m0"]


async def test_a_leaf_that_is_no_row_is_refused(store, a):
    with pytest.raises(BadRequest) as raised:
        await store.messages.add([row("a", "m0")], leaf="gone")
    assert raised.value.code == "unknown_message"
    assert await store.messages.all("a") == ()


async def test_rows_need_a_conversation(store):
    with pytest.raises(NotFound):
        await store.messages.add([row("gone", "m0")])


async def test_two_conversations_may_use_the_same_ids(store, a):
    await conversation(store, "one", "two", id="b")
    await store.messages.add([row("a", "m0", text="mine")])
    assert (await store.messages.get("a", "m0")).text == "mine"
    assert (await store.messages.get("b", "m0")).text == "one"


async def test_copied_rows_leave_the_conversation_where_it_is_in_the_list(store, a, clock):
    clock.forward(1000)
    await store.messages.copy([row("a", "m0", created=5), row("a", "m1", "m0", created=6)], leaf="m1")
    found = await store.conversations.get("local", "a")
    assert (found.leaf, found.updated) == ("m1", a.updated)
    assert [one.created for one in await store.messages.all("a")] == [5, 6]


async def test_rows_of_several_new_conversations_are_copied_at_once_in_their_order(store, a):
    await store.conversations.create("local", Conversation(id="b"))
    new = [row("b", "m0", created=5), row("b", "m1", "m0"), row("a", "m0", created=6), row("a", "m2", "m0")]
    await store.messages.copy_all("local", new)
    kept = [*await store.messages.all("b"), *await store.messages.all("a")]
    assert [one.id for one in kept] == ["m0", "m1", "m0", "m2"]
    assert [one.sequence for one in kept] == sorted(one.sequence for one in kept)
    await store.messages.copy_all("local", [])
    with pytest.raises(BadRequest) as raised:
        await store.messages.copy_all("local", [row("b", "m3", "m1"), row("a", "m3", "nowhere")])
    assert raised.value.code == "unknown_parent"
    assert len(await store.messages.all("b")) == 2


async def test_a_path_goes_from_the_root_to_the_leaf_whatever_the_numbers(store, a):
    await store.messages.add(
        [row("a", "m0"), row("a", "m1", "m0"), row("a", "side", "m0"), row("a", "m2", "m1")]
    )
    await store.messages.add([row("a", "between", "m0")])
    await store.messages.reparent("a", {"m1": "between"})
    assert [one.id for one in await store.messages.path("a", "m2")] == ["m0", "between", "m1", "m2"]
    assert [one.id for one in await store.messages.path("a", "side")] == ["m0", "side"]
    with pytest.raises(NotFound):
        await store.messages.path("a", "gone")
    with pytest.raises(NotFound):
        await store.messages.get("a", "gone")


async def test_a_long_path_is_found_whole(store, a):
    rows = [row("a", f"m{at}", f"m{at - 1}" if at else None) for at in range(1500)]
    await store.messages.add(rows, leaf="m1499")
    assert [one.id for one in await store.messages.path("a", "m1499")] == [one.id for one in rows]


async def test_saving_a_row_that_is_gone_is_not_found_and_saves_none(store, a):
    await store.messages.add([row("a", "m0", text="before")])
    with pytest.raises(NotFound) as raised:
        await store.messages.save(row("a", "m0", text="after"), row("a", "gone"))
    assert raised.value.code == "message_gone"
    assert (await store.messages.get("a", "m0")).text == "before"


async def test_a_running_row_is_found_by_search_when_it_has_ended(store, a):
    await store.messages.add([row("a", "m0", role="assistant", status="running")])
    await store.messages.save(row("a", "m0", None, "walrus", "assistant", status="running"))
    assert await store.search.find("local", "walrus") == []
    await store.messages.save(row("a", "m0", None, "walrus", "assistant"))
    assert len(await store.search.find("local", "walrus")) == 1
    await store.messages.save(row("a", "m0", None, "penguin", "assistant"))
    assert await store.search.find("local", "walrus") == []
    assert len(await store.search.find("local", "penguin")) == 1


async def test_unfinished_rows_of_everyone_are_found(store, a):
    await conversation(store, "hello", id="b", user="anna")
    await store.messages.add([row("b", "r", "m0", role="assistant", status="running")])
    await store.messages.add([row("a", "r", role="tool", status="running"), row("a", "done")])
    assert [(one.conversation, one.id) for one in await store.messages.unfinished()] == [
        ("b", "r"),
        ("a", "r"),
    ]


async def test_files_are_held_by_the_rows_that_name_them(store, a):
    (kept,) = await store.messages.add([WHOLE])
    letters = sorted(letter * 64 for letter in "abcdef012")
    assert await store.blobs.of(kept.sequence) == letters
    await store.messages.save(msgspec.structs.replace(kept, content=(ImageContent("a" * 64, "image/png"),)))
    assert await store.blobs.of(kept.sequence) == ["a" * 64]
    await store.messages.delete("a", ["whole"])
    async with store.reading() as connection:
        assert (await connection.execute(select(message_blobs))).all() == []


async def test_deleting_a_branch_raises_the_leaf(store, a):
    await store.messages.add(
        [row("a", "m0"), row("a", "m1", "m0"), row("a", "m2", "m1"), row("a", "side", "m0")], leaf="m2"
    )
    assert await store.messages.delete("a", ["m2", "m1", "gone"]) == ("m2", "m1")
    assert (await store.conversations.get("local", "a")).leaf == "m0"
    assert [one.id for one in await store.messages.all("a")] == ["m0", "side"]
    assert await store.messages.delete("a", ["m2", "m1"]) == ()
    await store.messages.delete("a", ["side", "m0"])
    assert (await store.conversations.get("local", "a")).leaf is None


async def test_a_row_others_follow_is_not_deleted_alone(store, a):
    await store.messages.add([row("a", "m0"), row("a", "m1", "m0")])
    with pytest.raises(BadRequest) as raised:
        await store.messages.delete("a", ["m0"])
    assert raised.value.code == "has_children"
    assert len(await store.messages.all("a")) == 2


async def test_a_summary_is_undone_by_moving_what_is_below_it_up(store, a):
    await store.messages.add(
        [row("a", "m0"), row("a", "s", "m0", kind="summary"), row("a", "m1", "s")], leaf="m1"
    )
    async with store.writing() as connection:
        await store.messages.reparent("a", {"m1": "m0"}, within=connection)
        await store.messages.delete("a", ["s"], within=connection)
    assert [one.id for one in await store.messages.path("a", "m1")] == ["m0", "m1"]


async def test_rows_are_not_moved_where_no_tree_would_be_left(store, a):
    await store.messages.add([row("a", "m0"), row("a", "m1", "m0"), row("a", "m2", "m1")])
    for moves, code in (({"m0": "m2"}, "cycle"), ({"m1": "m1"}, "cycle"), ({"m1": "gone"}, "unknown_parent")):
        with pytest.raises(BadRequest) as raised:
            await store.messages.reparent("a", moves)
        assert raised.value.code == code
    with pytest.raises(NotFound):
        await store.messages.reparent("a", {"gone": "m0"})
    await store.messages.reparent("a", {"m1": None, "m0": "m2"})
    assert [one.id for one in await store.messages.path("a", "m0")] == ["m1", "m2", "m0"]


async def test_many_rows_are_added_and_deleted_at_once(store, a):
    rows = [row("a", f"m{at}", text=f"number {at}") for at in range(2500)]
    assert len(await store.messages.add(rows)) == 2500
    assert len(await store.messages.delete("a", [one.id for one in rows[1:]])) == 2499
    assert len(await store.search.find("local", "number", limit=1000)) == 1


Step = some.tuples(some.sampled_from(("add", "delete", "move")), some.integers(0, 9), some.integers(-1, 9))


@settings(max_examples=20)
@given(some.lists(Step, max_size=15))
def test_whatever_is_tried_the_rows_stay_a_tree(steps):
    anyio.run(try_all, steps)


async def try_all(steps: list[tuple[str, int, int]]) -> None:
    async with Database.memory() as database:
        store = Store(database, lambda: 1)
        await store.conversations.create("local", Conversation(id="a"))
        for what, number, other in steps:
            id, parent = f"m{number}", f"m{other}" if other >= 0 else None
            with suppress(Problem):
                if what == "add":
                    await store.messages.add([row("a", id, parent)], leaf=id)
                elif what == "delete":
                    await store.messages.delete("a", [id])
                else:
                    await store.messages.reparent("a", {id: parent})
        rows = await store.messages.all("a")
        for one in rows:
            assert (await store.messages.path("a", one.id))[0].parent is None
        leaf = (await store.conversations.get("local", "a")).leaf
        assert leaf is None or leaf in {one.id for one in rows}


async def test_a_save_finds_its_rows_without_reading_every_message(memory):
    """SQLite reads the whole table where pairs of columns are compared with a list of pairs."""
    named = messages._HELD.params(of=["a", "b"], ids=["m0", "m1"])
    async with memory.reading() as connection:
        sql = named.compile(connection.sync_connection, compile_kwargs={"literal_binds": True})
        plan = [row[-1] for row in await connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {sql}")]
    assert any(step.startswith("SEARCH messages") for step in plan)
    assert not any(step.startswith("SCAN") for step in plan)
