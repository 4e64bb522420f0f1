"""Work that goes on after its request has ended, and belongs to the user who began it: responses in the background, batches, runs of the page.

Owns one rule for all of it: it ends when the key that began it is revoked, or when its user is disabled or has no key any more. What was
begun by a login, as runs of the page are, has no key and ends with its user. A request checks its key itself; this looks again every
second while there is such work, also on a server that gets no requests. Used by `gateway/app.py`, which passes `allowed` and `watched` on.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

import anyio
import anyio.abc
from msgspec import Struct

from duologue.errors import AccessRevoked
from duologue.gateway.auth.keys import Keys
from duologue.notifier import Notifier

EVERY_S = 1.0
"""Seconds between two looks at the keys."""


class _Watched(Struct, frozen=True, eq=False):
    """`end` is called once the work may not go on."""

    user: str
    key: str
    end: Callable[[], None]


class BackgroundWork:
    """`run` looks at the keys until it is cancelled."""

    def __init__(self, keys: Keys, sleep: Callable[[float], Awaitable[None]] = anyio.sleep) -> None:
        self._keys, self._sleep = keys, sleep
        self._watched: list[_Watched] = []
        self._news = Notifier()

    async def run(self, *, task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Check the work there is until cancelled."""
        task_status.started()
        while True:
            while not self._watched:
                await self._news.wait()
            await self._sleep(EVERY_S)
            await self.check()

    async def check(self) -> None:
        """End what may not go on."""
        if not self._watched:
            return
        await self._keys.refresh()
        for work in tuple(self._watched):
            if not self._keys.accepts(work.user, work.key):
                work.end()

    def role(self, user: str) -> str | None:
        """What this user may do now; None for one without a valid key."""
        return self._keys.role(user)

    @contextmanager
    def watched(self, user: str, key: str, end: Callable[[], None]) -> Iterator[None]:
        """A context for work of this user, begun with the key of this id ("" for a login or none). `end` is called when it may not go on,
        and again until the context is left."""
        work = _Watched(user, key, end)
        self._watched.append(work)
        self._news.notify()
        try:
            yield
        finally:
            self._watched.remove(work)

    @contextmanager
    def allowed(self, user: str, key: str) -> Iterator[None]:
        """As `watched`, of work that is cancelled then. Raises AccessRevoked where it was, and before it begins where it may not."""
        if not self._keys.accepts(user, key):
            raise AccessRevoked
        with anyio.CancelScope() as scope, self.watched(user, key, scope.cancel):
            yield
        if scope.cancelled_caught:
            raise AccessRevoked
