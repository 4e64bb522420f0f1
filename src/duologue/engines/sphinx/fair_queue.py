"""Who works next where there are more who want to than places: whoever had the least so far.

Somebody who says a sentence is written down at once, beside others who talk for minutes, and those get what is left. Owns the
order; knows no work.
"""

from __future__ import annotations

import heapq
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count

import anyio


class LeastFirst:
    """At most `places` at a time."""

    def __init__(self, places: int) -> None:
        self._free = places
        self._waiting: list[tuple[int, int, anyio.Event]] = []
        self._arrivals = count()

    @asynccontextmanager
    async def place(self, had: int) -> AsyncIterator[None]:
        """A place, for the length of the context; `had` is how much this one had before. Of equals the first goes first."""
        await self._enter(had)
        try:
            yield
        finally:
            self._leave()

    async def _enter(self, had: int) -> None:
        if self._free:
            self._free -= 1
            return
        waiting = (had, next(self._arrivals), anyio.Event())
        heapq.heappush(self._waiting, waiting)
        try:
            await waiting[2].wait()
        except BaseException:
            if waiting[2].is_set():
                self._leave()  # the place came in the moment of leaving
            else:
                self._waiting.remove(waiting)
                heapq.heapify(self._waiting)
            raise

    def _leave(self) -> None:
        if self._waiting:
            heapq.heappop(self._waiting)[2].set()
        else:
            self._free += 1
