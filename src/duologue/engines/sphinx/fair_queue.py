"""A queue for few places in which the one that used least so far goes first.

Used by `decoder_pool` for the processor's cores: a short sentence is transcribed at once although others have talked for
minutes, and those get what is left.
"""

from __future__ import annotations

import heapq
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count

import anyio


class FairQueue:
    """At most `places` at a time."""

    def __init__(self, places: int) -> None:
        self._free = places
        self._waiting: list[tuple[int, int, anyio.Event]] = []
        self._arrivals = count()

    @asynccontextmanager
    async def turn(self, used: int) -> AsyncIterator[None]:
        """A place, for the length of the context. `used` is how much this caller had before; equals go in order of
        arrival."""
        await self._enter(used)
        try:
            yield
        finally:
            self._leave()

    async def _enter(self, used: int) -> None:
        if self._free:
            self._free -= 1
            return
        entry = (used, next(self._arrivals), anyio.Event())
        heapq.heappush(self._waiting, entry)
        try:
            await entry[2].wait()
        except BaseException:
            if entry[2].is_set():
                # Cancelled after the place was assigned and before it was noticed: pass it on.
                self._leave()
            else:
                self._waiting.remove(entry)
                heapq.heapify(self._waiting)
            raise

    def _leave(self) -> None:
        if self._waiting:
            heapq.heappop(self._waiting)[2].set()
        else:
            self._free += 1
