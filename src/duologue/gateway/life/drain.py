"""Whether the server takes new work, and what still runs.

Owns the one state behind `/ready`, the refusals and the end of a stop. `work_gate` asks before a request, the chat socket before a
message, a batch before a line; `server` and the admin routes begin a drain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal

from msgspec import Struct

from duologue.errors import Unavailable
from duologue.notifier import Notifier

CODE = "server_draining"
RETRY_S = 30.0
"""Seconds after which a refused client may try again: by then a restarted server is back, or another one has taken over."""

Reason = Literal["stopping", "admin"]


class DrainState(Struct, frozen=True):
    """A drain: why, and since when (Unix seconds)."""

    reason: Reason
    since: float


class Drain:
    """`running` counts the work that goes on behind requests that were answered: page runs, leases. `now` gives Unix seconds."""

    def __init__(self, now: Callable[[], float], running: Callable[[], int] = lambda: 0) -> None:
        self._now = now
        self._running = running
        self._requests = 0
        self._notifier = Notifier()
        self.state: DrainState | None = None

    def begin(self, reason: Reason) -> None:
        """Take no new work. Without effect while the server stops."""
        if self.state is None or (reason == "stopping" and self.state.reason != reason):
            self.state = DrainState(reason, self._now())
            self._notifier.notify()

    def undo(self) -> bool:
        """Take work again. False: the server stops, which cannot be undone here."""
        if self.state is not None and self.state.reason == "stopping":
            return False
        self.state = None
        self._notifier.notify()
        return True

    @property
    def running(self) -> int:
        """How many pieces of work go on, a request and what it runs counted once."""
        return max(self._requests, self._running())

    def refusal(self) -> Unavailable | None:
        """What new work is refused with; None while it is taken."""
        if self.state is None:
            return None
        if self.state.reason == "stopping":
            sentence = "The server is stopping and takes no new requests. Try again once it is back."
        else:
            sentence = "An admin drains this server, so it takes no new requests. Try again later."
        return Unavailable(sentence, code=CODE, retry_after=RETRY_S)

    def require(self) -> None:
        """Raises Unavailable (`server_draining`) while no new work is taken."""
        if (problem := self.refusal()) is not None:
            raise problem

    async def accepting(self) -> None:
        """Return when new work is taken."""
        while self.state is not None:
            await self._notifier.wait()

    @contextmanager
    def request(self) -> Iterator[None]:
        """A request that was admitted, for as long as it is answered."""
        self._requests += 1
        try:
            yield
        finally:
            self._requests -= 1
