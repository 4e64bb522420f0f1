"""The clock a call lives by: the real one, or one that moves when it is told to, so that a call of minutes is over in a
moment.

Owns the two clocks. Knows no call.
"""

from __future__ import annotations

import heapq
import itertools
import time
from typing import Protocol

import anyio


class Clock(Protocol):
    """Seconds that pass."""

    def now(self) -> float:
        """Seconds since some moment; never less than before."""
        ...

    async def sleep(self, seconds: float) -> None: ...


class RealClock:
    """Time as it passes."""

    def now(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await anyio.sleep(seconds)


class StepClock:
    """Time that passes only in `advance`."""

    def __init__(self) -> None:
        self._now = 0.0
        self._order = itertools.count()
        self._sleepers: list[tuple[float, int, anyio.Event]] = []

    def now(self) -> float:
        return self._now

    async def sleep(self, seconds: float) -> None:
        if seconds <= 0:
            await anyio.lowlevel.checkpoint()
            return
        woken = anyio.Event()
        heapq.heappush(self._sleepers, (self._now + seconds, next(self._order), woken))
        await woken.wait()

    def advance(self, seconds: float) -> None:
        """Let so much time pass, and wake whoever slept until then."""
        self._now += seconds
        while self._sleepers and self._sleepers[0][0] <= self._now + 1e-9:
            heapq.heappop(self._sleepers)[2].set()
