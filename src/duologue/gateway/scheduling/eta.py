"""How long until a waiting request gets its slot: moving averages a kind of work, and a walk over the busy slots.

Pure: durations are handed in, in seconds. Knows no queue and no clock.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping

FALLBACK = 30.0
"""Seconds expected of a kind of work without a configured base."""
OVERDUE = 15.0
"""Seconds still expected of work that has already outlasted its estimate."""
BASES: Mapping[str, float] = {
    "chat": 15.0,
    "voice": 5.0,
    "call": 180.0,
    "audio_duplex": 120.0,
    "omni_duplex": 90.0,
    "speech": 3.0,
    "transcription": 5.0,
}
"""Seconds expected of each kind until some were measured: of what takes a slot of a model (a chat, a reply in a call), and of
what takes a seat of the voice."""


class Estimator:
    """An exponential moving average of durations for each kind; the configured base until enough were seen."""

    def __init__(
        self, bases: Mapping[str, float] = BASES, *, alpha: float = 0.3, minimum_samples: int = 3
    ) -> None:
        self._bases = dict(bases)
        self._alpha = alpha
        self._minimum = minimum_samples
        self._average: dict[str, float] = {}
        self._samples: dict[str, int] = {}

    def observe(self, kind: str, seconds: float) -> None:
        """Learn that work of this kind took `seconds`."""
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

    `remaining` are the seconds until each busy slot frees, `durations` what each queued request will then take.
    Each takes the slot that frees first. Without any slot the wait is the sum of what stands before.
    """
    heap = list(remaining) or [0.0]
    heapq.heapify(heap)
    result = []
    for duration in durations:
        start = heapq.heappop(heap)
        result.append(start)
        heapq.heappush(heap, start + duration)
    return result
