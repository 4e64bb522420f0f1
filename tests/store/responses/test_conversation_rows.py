"""Conversations of the API, on every kind of database."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from tests.support.at_once import done_before

from duologue.errors import NotFound, TooLarge
from duologue.store.responses.conversation_rows import ApiConversationRows
from duologue.store.responses.response_record import ApiConversation, StoredItem

pytestmark = pytest.mark.anyio

ROOM = 2**20


def item(id: str, text: str = "Hi") -> StoredItem:
    return StoredItem(id, {"id": id, "type": "message", "text": text})


async def test_a_conversation_is_made_changed_and_deleted_by_its_owner(store, clock):
    rows = store.api_conversations
    made = await rows.create(ApiConversation("c", "ann", {"a": "b"}), [item("1")], ROOM)
    assert made.created == clock()
    assert await rows.get("ann", "c") == made
    assert (await rows.update("ann", "c", {"a": "c"}, ROOM)).metadata == {"a": "c"}
    assert (await rows.get("ann", "c")).metadata == {"a": "c"}
    for change in (
        rows.get("bob", "c"),
        rows.update("bob", "c", {}, ROOM),
        rows.delete("bob", "c"),
        rows.items("bob", "c"),
        rows.add_items("bob", "c", [item("2")], ROOM),
        rows.delete_item("bob", "c", "1"),
    ):
        with pytest.raises(NotFound) as missing:
            await change
        assert missing.value.code == "conversation_not_found"
    await rows.delete("ann", "c")
    with pytest.raises(NotFound):
        await rows.items("ann", "c")


async def test_items_are_added_and_removed(store):
    rows = store.api_conversations
    await rows.create(ApiConversation("c", "ann"), [item("1")], ROOM)
    await rows.add_items("ann", "c", [item("2"), item("3")], ROOM)
    await rows.delete_item("ann", "c", "2")
    assert [each.id for each in await rows.items("ann", "c")] == ["1", "3"]
    with pytest.raises(NotFound) as missing:
        await rows.delete_item("ann", "c", "2")
    assert missing.value.code == "item_not_found"


async def test_a_user_has_room_for_so_much(store):
    rows = store.api_conversations
    await rows.create(ApiConversation("c", "ann"), [], 2000)
    await rows.add_items("ann", "c", [item("1", "x" * 1000)], 2000)
    with pytest.raises(TooLarge) as full:
        await rows.add_items("ann", "c", [item("2", "x" * 1000)], 2000)
    assert full.value.code == "responses_full"
    assert [each.id for each in await rows.items("ann", "c")] == ["1"]
    with pytest.raises(TooLarge):
        await rows.update("ann", "c", {"a": "x" * 1000}, 2000)
    assert (await rows.get("ann", "c")).metadata == {}
    await rows.update("ann", "c", {"a": "x" * 500}, 2000)
    with pytest.raises(TooLarge):
        await rows.add_items("ann", "c", [item("2", "x" * 300)], 2000)
    await rows.update("ann", "c", {}, 2000)
    await rows.add_items("ann", "c", [item("2", "x" * 300)], 2000)
    await rows.delete_item("ann", "c", "1")
    await rows.add_items("ann", "c", [item("2", "x" * 1000)], 2000)
    await rows.create(ApiConversation("other", "bob"), [item("3", "x" * 1000)], 2000)
    await rows.check_room("ann", 2000)
    with pytest.raises(TooLarge):
        await rows.check_room("ann", 1000)


async def test_items_that_two_gateways_add_at_once_do_not_mix(both, clock):
    one, two = (ApiConversationRows(database, clock) for database in both)
    await one.create(ApiConversation("c", "ann"), [], ROOM)
    add = partial(two.add_items, "ann", "c", [item("3"), item("4")], ROOM)

    async def second_item(first: Any) -> None:
        await ApiConversationRows(first, clock).add_items("ann", "c", [item("2")], ROOM)

    async with done_before(both[0], add, second_item) as (first, _):
        await ApiConversationRows(first, clock).add_items("ann", "c", [item("1")], ROOM)
    assert [each.id for each in await one.items("ann", "c")] == ["1", "2", "3", "4"]


async def test_a_conversation_that_another_gateway_is_deleting_is_not_found(both, clock):
    one, two = (ApiConversationRows(database, clock) for database in both)
    for act in (
        partial(two.add_items, "ann", "c", [item("1")], ROOM),
        partial(two.update, "ann", "c", {"a": "b"}, ROOM),
        partial(two.delete_item, "ann", "c", "0"),
    ):
        await one.create(ApiConversation("c", "ann"), [item("0")], ROOM)
        async with done_before(both[0], act) as (first, results):
            await ApiConversationRows(first, clock).delete("ann", "c")
        assert results[0].code == "conversation_not_found"


async def test_an_item_that_two_gateways_remove_at_once_is_counted_once(both, clock):
    one, two = (ApiConversationRows(database, clock) for database in both)
    await one.create(ApiConversation("c", "ann"), [item("1", "x" * 500), item("2", "x" * 500)], ROOM)
    async with done_before(both[0], partial(two.delete_item, "ann", "c", "1")) as (first, results):
        await ApiConversationRows(first, clock).delete_item("ann", "c", "1")
    assert results[0].code == "item_not_found"
    with pytest.raises(TooLarge):
        await one.check_room("ann", 600)
