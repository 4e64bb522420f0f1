"""How long requests wait: the slots are simulated until each has one. Pure; the scheduler calls this.

Durations are passed in, in seconds.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable

LEAST_WAIT = 0.1
"""The shortest wait that is told: what waits is not served yet."""


def waits(remaining: Iterable[float], durations: Iterable[float]) -> list[float]:
    """The wait of each queued request, in order.

    `remaining`: seconds until each busy slot is free. `durations`: seconds that each queued request will then take.
    Each takes the slot that becomes free first. Without any slot the wait is the sum of the durations before it.
    """
    heap = list(remaining) or [0.0]
    heapq.heapify(heap)
    result = []
    for duration in durations:
        start = heap[0]
        result.append(start)
        heapq.heapreplace(heap, start + duration)
    return result


def waits_whole(
    workers: Iterable[Iterable[float]], durations: Iterable[float], whole: Iterable[bool]
) -> list[float]:
    """As `waits`, where some requests take a worker whole. `workers`: for each the seconds until each of its slots is free."""
    free = [sorted(slots) for slots in workers if slots] or [[0.0]]
    result = []
    for duration, takes_all in zip(durations, whole, strict=True):
        if takes_all:
            slots = min(free, key=lambda slots: slots[-1])
            start = slots[-1]
            slots[:] = [start + duration] * len(slots)
        else:
            slots = min(free, key=lambda slots: slots[0])
            start = slots[0]
            slots[0] = start + duration
            slots.sort()
        result.append(start)
    return result


def told(wait: float) -> float:
    """A wait as it is told: in tenths of a second, never 0."""
    return max(LEAST_WAIT, round(wait, 1))
