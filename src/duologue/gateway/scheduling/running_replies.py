"""The replies that run or wait, by the ids that their users know them by, so that one can still be told something.

The generator enters each reply that has an id; `gateway/tokens/control_routes.py` looks them up. A reply is found by its own user alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from msgspec import Struct

from duologue.errors import NotFound
from duologue.gateway.scheduling.lease import Lease
from duologue.values.requests import ChatRequest


class RunningReply(Struct, frozen=True):
    """A reply: its model and its slots."""

    model: str
    lease: Lease


class RunningReplies:
    """Bounded by the queue and the slots: a reply is here as long as it has a lease."""

    def __init__(self) -> None:
        self._replies: dict[tuple[str, str], RunningReply] = {}

    @contextmanager
    def entered(self, user: str, request: ChatRequest, lease: Lease) -> Iterator[None]:
        """The reply is known inside, if it has an id."""
        key = (user, request.reply_id)
        if request.reply_id:
            self._replies[key] = RunningReply(request.model, lease)
        try:
            yield
        finally:
            if request.reply_id:
                self._replies.pop(key, None)

    def find(self, user: str, reply_id: str) -> RunningReply:
        """A reply of this user. Raises NotFound (`reply_not_found`)."""
        if (reply := self._replies.get((user, reply_id))) is None:
            raise NotFound(
                f"You have no running reply {reply_id[:80]!r}. Its id is in every chunk of its stream.",
                code="reply_not_found",
                param="id",
            )
        return reply
