"""Conversations of the API, on every kind of database."""

from __future__ import annotations

import pytest

from duologue.errors import NotFound, TooLarge
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
