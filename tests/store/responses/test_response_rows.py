"""Stored responses, on every kind of database: their owners, their chains, their end."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from tests.support.at_once import done_before

from duologue.errors import NotFound, TooLarge
from duologue.store.responses.conversation_rows import ApiConversationRows
from duologue.store.responses.response_record import (
    ApiConversation,
    ItemBounds,
    ItemSide,
    StoredItem,
    StoredResponse,
)
from duologue.store.responses.response_rows import ResponseRows
from duologue.store.stores import Store
from duologue.values.conversations import Blob

pytestmark = pytest.mark.anyio

HASH = "ab" * 32
DAY = 24 * 3_600_000


def item(id: str, side: ItemSide = "input", *files: str, text: str = "Hi") -> StoredItem:
    return StoredItem(id, {"id": id, "type": "message", "text": text}, side, files)


def response(
    id: str, previous: str | None = None, status: str = "completed", **fields: Any
) -> StoredResponse:
    return StoredResponse(id, fields.pop("user", "ann"), status, {"id": id}, previous, **fields)


async def add(store: Store, id: str, previous: str | None = None, **fields: Any) -> None:
    items = [item(f"{id}_in"), item(f"{id}_out", "output")]
    await store.responses.add(response(id, previous, **fields), items)


def ids(items: list[StoredItem]) -> list[str]:
    return [each.id for each in items]


async def test_a_response_is_read_by_its_owner_alone(store, clock):
    await store.responses.add(response("r"), [item("in", text="Hi \0 there"), item("out", "output")])
    stored = await store.responses.get("ann", "r")
    assert (stored.status, stored.response, stored.created) == ("completed", {"id": "r"}, clock())
    items = await store.responses.items("ann", "r")
    assert [(each.id, each.side) for each in items] == [("in", "input"), ("out", "output")]
    assert items[0].item["text"] == "Hi \0 there"
    for read in (store.responses.get, store.responses.delete, store.responses.chain):
        with pytest.raises(NotFound) as missing:
            await read("bob", "r")
        assert missing.value.code == "response_not_found"
    assert await store.responses.items("bob", "r") == []
    assert await store.responses.items_by_id("bob", ["in"]) == {}


async def test_no_id_is_too_strange_to_be_looked_for(store):
    for id in ("", "\0", "a\0b", "\uffff", "x" * 10_000):
        for read in (store.responses.get, store.responses.delete, store.responses.chain):
            with pytest.raises(NotFound):
                await read("ann", id)
        with pytest.raises(NotFound):
            await store.api_conversations.get("ann", id)
        assert await store.responses.items_by_id("ann", [id]) == {}
    await store.responses.add(response("r"), [item("a\0b")])
    assert ids(await store.responses.items("ann", "r")) == ["ab"]


async def test_a_chain_has_the_items_of_every_turn_in_order(store):
    for id, previous in (("a", None), ("b", "a"), ("c", "b"), ("fork", "a")):
        await add(store, id, previous)
    assert ids(await store.responses.chain("ann", "c")) == [
        "a_in", "a_out", "b_in", "b_out", "c_in", "c_out",
    ]  # fmt: skip
    assert ids(await store.responses.chain("ann", "fork")) == ["a_in", "a_out", "fork_in", "fork_out"]
    await store.responses.delete("ann", "a")
    with pytest.raises(NotFound) as broken:
        await store.responses.chain("ann", "c")
    assert broken.value.param == "previous_response_id"


async def test_a_chain_that_is_too_long_is_refused(store):
    for id, previous in (("a", None), ("b", "a"), ("c", "b")):
        await add(store, id, previous)
    assert len(await store.responses.chain("ann", "c", ItemBounds(6, 2**20))) == 6
    wanted = ("a_in", "a_out", "b_in", "b_out", "c_in", "c_out")
    for bounds in (ItemBounds(5, 2**20), ItemBounds(6, 100)):
        with pytest.raises(TooLarge):
            await store.responses.chain("ann", "c", bounds)
        with pytest.raises(TooLarge):
            await store.responses.items_by_id("ann", wanted, bounds)


async def test_items_are_found_by_their_ids(store):
    await add(store, "a")
    found = await store.responses.items_by_id("ann", ["a_out", "unknown"])
    assert list(found) == ["a_out"]
    await store.responses.delete("ann", "a")
    assert await store.responses.items_by_id("ann", ["a_out"]) == {}


async def test_a_running_response_is_saved_and_finished(store):
    running = response("r", status="queued", background=True)
    await store.responses.add(running, [item("in")])
    assert ids(await store.responses.unfinished()) == ["r"]
    await store.responses.save(response("r", status="in_progress"))
    assert (await store.responses.get("ann", "r")).status == "in_progress"
    await store.responses.finish(response("r", status="completed"), [item("in")], [item("out", "output")])
    assert ids(await store.responses.items("ann", "r")) == ["in", "out"]
    assert await store.responses.unfinished() == []


async def test_one_that_was_deleted_meanwhile_does_not_come_back(store):
    await store.responses.add(response("r", status="queued"), [])
    await store.responses.delete("ann", "r")
    await store.responses.save(response("r"))
    await store.responses.finish(response("r"), [], [item("out", "output")])
    assert await store.responses.items("ann", "r") == []


async def test_the_items_of_a_response_join_its_conversation_when_it_ends(store):
    await store.api_conversations.create(ApiConversation("c", "ann"), [], 2**20)
    await add(store, "a", conversation="c")
    await store.responses.add(response("b", status="queued", conversation="c"), [item("b_in")])
    assert ids(await store.api_conversations.items("ann", "c")) == ["a_in", "a_out"]
    finished = response("b", conversation="c")
    await store.responses.finish(finished, [item("b_in")], [item("b_out", "output")])
    assert ids(await store.api_conversations.items("ann", "c")) == ["a_in", "a_out", "b_in", "b_out"]
    await add(store, "gone", conversation="unknown")
    await add(store, "foreign", conversation="c", user="bob")
    assert len(await store.api_conversations.items("ann", "c")) == 4


async def test_the_oldest_go_when_a_user_has_too_much(store, clock):
    for id in ("a", "b", "c"):
        clock.forward(1)
        await add(store, id)
    await add(store, "other", user="bob")
    await store.responses.add(response("running", status="queued"), [])
    assert await store.responses.make_room("ann", 2**20) == 0
    assert await store.responses.make_room("ann", 150) == 2
    assert (await store.responses.get("ann", "c")).id == "c"
    assert await store.responses.make_room("ann", 0) == 1
    assert (await store.responses.get("ann", "running")).id == "running"
    assert (await store.responses.get("bob", "other")).id == "other"


async def test_what_nobody_continued_for_long_is_forgotten(store, clock):
    await add(store, "a")
    await add(store, "alone")
    await store.responses.add(response("running", status="queued"), [])
    await store.api_conversations.create(ApiConversation("c", "ann"), [], 2**20)
    clock.forward(20 * DAY)
    await add(store, "b", "a")
    clock.forward(20 * DAY)
    assert await store.responses.forget(30 * DAY) == 2
    assert len(await store.responses.chain("ann", "b")) == 4
    with pytest.raises(NotFound):
        await store.responses.get("ann", "alone")
    with pytest.raises(NotFound):
        await store.api_conversations.get("ann", "c")


async def test_a_file_is_kept_while_an_item_has_it(store, clock):
    await store.blobs.put("ann", Blob(HASH, "image/png", 4))
    await store.responses.add(response("r"), [item("in", "input", HASH)])
    clock.forward(DAY)
    assert await store.blobs.unreferenced(1) == []
    await store.responses.delete("ann", "r")
    assert await store.blobs.unreferenced(1) == [HASH]


async def test_a_response_is_stored_although_another_gateway_is_deleting_its_conversation(both, clock):
    one, two = (Store(database, clock) for database in both)
    await one.api_conversations.create(ApiConversation("c", "ann"), [], 2**20)
    async with done_before(both[0], partial(add, two, "r", conversation="c")) as (first, results):
        await ApiConversationRows(first, clock).delete("ann", "c")
    assert results == [None]
    assert ids(await one.responses.items("ann", "r")) == ["r_in", "r_out"]


async def test_the_items_of_responses_that_end_at_two_gateways_at_once_do_not_mix(both, clock):
    one, two = (Store(database, clock) for database in both)
    await one.api_conversations.create(ApiConversation("c", "ann"), [], 2**20)

    async def more(first: Any) -> None:
        await ResponseRows(first, clock).add(response("r2", conversation="c"), [item("r_out", "output")])

    async with done_before(both[0], partial(add, two, "s", conversation="c"), more) as (first, _):
        await ResponseRows(first, clock).add(response("r1", conversation="c"), [item("r_in")])
    assert ids(await one.api_conversations.items("ann", "c")) == ["r_in", "r_out", "s_in", "s_out"]
