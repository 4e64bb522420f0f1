"""How long requests wait: the slots are simulated until each has one. Pure; the scheduler calls this.

Durations are passed in, in seconds. A forecast goes on request by request, in the order in which they will get slots.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from typing import Protocol

LEAST_WAIT = 0.1
"""The shortest wait that is told: what waits is not served yet."""


class WaitForecast(Protocol):
    """The slots of one model, as they will be."""

    def wait(self, duration: float, whole: bool) -> float:
        """How long the next request waits, which will then take so long; `whole`: a whole worker."""


class SlotForecast:
    """Each request takes the slot that becomes free first; a whole worker is asked of `WorkerForecast` only. `remaining`: seconds until each busy slot is
    free. Without any slot the wait is the sum of the durations before it."""

    def __init__(self, remaining: Iterable[float]) -> None:
        self._free = list(remaining) or [0.0]
        heapq.heapify(self._free)

    def wait(self, duration: float, whole: bool = False) -> float:
        start = self._free[0]
        heapq.heapreplace(self._free, start + duration)
        return start


class WorkerForecast:
    """As `SlotForecast`, where some requests take a worker whole. `workers`: for each the seconds until each of its slots is free."""

    def __init__(self, workers: Iterable[Iterable[float]]) -> None:
        self._free = [sorted(slots) for slots in workers if slots] or [[0.0]]

    def wait(self, duration: float, whole: bool) -> float:
        if whole:
            slots = min(self._free, key=lambda slots: slots[-1])
            start = slots[-1]
            slots[:] = [start + duration] * len(slots)
            return start
        slots = min(self._free, key=lambda slots: slots[0])
        start = slots[0]
        slots[0] = start + duration
        slots.sort()
        return start


def told(wait: float) -> float:
    """A wait as it is told: in tenths of a second, never 0."""
    return max(LEAST_WAIT, round(wait, 1))
