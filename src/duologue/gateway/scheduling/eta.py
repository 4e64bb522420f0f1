"""Estimates of the wait for a slot: moving averages of the durations of each kind of work, and a simulation of the busy slots.

Pure: durations are passed in, in seconds. The scheduler calls this.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping

FALLBACK = 30.0
"""The expected seconds of a kind of work that has no base."""
OVERDUE = 15.0
"""The remaining seconds of work that has already taken longer than expected."""
BASES: Mapping[str, float] = {
    "chat": 15.0,
    "embed": 2.0,
    "rerank": 2.0,
    "voice": 5.0,
    "call": 180.0,
    "audio_duplex": 120.0,
    "omni_duplex": 90.0,
    "speech": 3.0,
    "transcription": 5.0,
    "clip": 20.0,
    "batch": 15.0,
}
"""The expected seconds of each kind until enough were measured. `chat`, `voice` (a reply in a call), `batch` (a line of one), `embed` and `rerank` take slots of a model, the others
seats of the voice worker, or where a model holds its calls by itself a worker of it."""


class Estimator:
    """An exponential moving average of the durations of each kind; its base until enough were measured."""

    def __init__(
        self, bases: Mapping[str, float] = BASES, *, alpha: float = 0.3, minimum_samples: int = 3
    ) -> None:
        self._bases = dict(bases)
        self._alpha = alpha
        self._minimum = minimum_samples
        self._average: dict[str, float] = {}
        self._samples: dict[str, int] = {}

    def observe(self, kind: str, seconds: float) -> None:
        """Work of this kind took `seconds`."""
        last = self._average.get(kind, seconds)
        self._average[kind] = last + self._alpha * (seconds - last)
        self._samples[kind] = self._samples.get(kind, 0) + 1

    def expected(self, kind: str) -> float:
        """Seconds that work of this kind is expected to take."""
        if self._samples.get(kind, 0) >= self._minimum:
            return self._average[kind]
        return self._bases.get(kind, FALLBACK)

    def remaining(self, kind: str, elapsed: float) -> float:
        """Seconds still expected of work of this kind that has run for `elapsed`."""
        expected = self.expected(kind)
        return expected - elapsed if elapsed < expected else OVERDUE


def waits(remaining: Iterable[float], durations: Iterable[float]) -> list[float]:
    """The wait of each queued request, in order.

    `remaining`: seconds until each busy slot is free. `durations`: seconds that each queued request will then take.
    Each takes the slot that becomes free first. Without any slot the wait is the sum of the durations before it.
    """
    heap = list(remaining) or [0.0]
    heapq.heapify(heap)
    result = []
    for duration in durations:
        start = heapq.heappop(heap)
        result.append(start)
        heapq.heappush(heap, start + duration)
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
