"""The clock of a call: the real one, or one that tests advance by hand, so that a call of minutes takes a moment."""

from __future__ import annotations

import heapq
import itertools
import time
from typing import Protocol

import anyio


class Clock(Protocol):
    """A monotonic clock in seconds."""

    def now(self) -> float:
        """Seconds since some fixed moment; never falls."""
        ...

    async def sleep(self, seconds: float) -> None: ...


class RealClock:
    """Real time."""

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
        wake = anyio.Event()
        # The counter breaks ties: events cannot be compared.
        heapq.heappush(self._sleepers, (self._now + seconds, next(self._order), wake))
        await wake.wait()

    def advance(self, seconds: float) -> None:
        """Let time pass, and wake every sleeper that is due."""
        self._now += seconds
        # Steps of 32 ms do not add up exactly in binary; a sleeper due now must not wait for the next step.
        while self._sleepers and self._sleepers[0][0] <= self._now + 1e-9:
            heapq.heappop(self._sleepers)[2].set()
