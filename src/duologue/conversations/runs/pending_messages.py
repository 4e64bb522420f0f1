"""Pending messages of a conversation: how many there may be, and which is sent next. Used by `service.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from duologue.errors import Busy
from duologue.values.conversations import PendingMessage

if TYPE_CHECKING:
    from duologue.store.stores import Store


async def check_room(store: Store, message: PendingMessage, most: int) -> None:
    """Raises Busy(code="too_many_pending") when a new message would be one too many."""
    pending = await store.pending.of(message.conversation)
    if len(pending) >= most and all(other.id != message.id for other in pending):
        raise Busy(
            f"{len(pending)} messages are pending in this conversation already, as many as `runs.pending` allows.",
            code="too_many_pending",
            status=409,
        )


async def first_queued(store: Store, conversation: str) -> PendingMessage | None:
    """The message to send when no reply is running. Those on hold wait for the user."""
    pending = await store.pending.of(conversation)
    return next((message for message in pending if message.how == "queue"), None)
