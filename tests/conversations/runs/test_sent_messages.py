"""What users send: content, and how much of it may wait."""

import pytest
from tests.support.store_fixtures import clock, conversation, memory

from duologue.conversations.runs.sent_messages import check_room, first_queued
from duologue.errors import Busy
from duologue.store.stores import Store
from duologue.values.conversations import PendingMessage, TextContent

__all__ = ["clock", "memory"]
pytestmark = pytest.mark.anyio


def waiting(id: str, how="queue") -> PendingMessage:
    return PendingMessage(id, "c", (TextContent("Hello"),), how)


async def test_one_message_too_many_is_refused_and_a_known_one_is_not(memory, clock):
    store = Store(memory, clock)
    await conversation(store, "Hello", id="c")
    await store.pending.add("local", waiting("a"))

    await check_room(store, waiting("a"), most=1)
    await check_room(store, waiting("b"), most=2)
    with pytest.raises(Busy) as refused:
        await check_room(store, waiting("b"), most=1)
    assert refused.value.code == "too_many_pending"


async def test_those_on_hold_are_not_sent(memory, clock):
    store = Store(memory, clock)
    await conversation(store, "Hello", id="c")
    assert await first_queued(store, "c") is None
    for id, how in (("a", "hold"), ("b", "queue"), ("c", "queue")):
        await store.pending.add("local", waiting(id, how))
    first = await first_queued(store, "c")
    assert first is not None
    assert first.id == "b"
