"""The rate of a transfer, and the time the rest will take.

Pure: amounts and times in, an estimate out. The downloads use it.
"""

from __future__ import annotations

from collections import deque

WINDOW = 10.0
"""Seconds over which the rate is measured: short enough to follow a change, long enough not to flicker."""
LEAST = 0.5
"""Seconds that must have been measured before there is a rate."""


class TransferRate:
    """The amounts `done` at the times `at` (seconds, any origin), the newest last."""

    def __init__(self, done: int, at: float) -> None:
        self._samples: deque[tuple[float, int]] = deque([(at, done)])

    def update(self, done: int, at: float) -> None:
        """The amount that is done now. Less than before means that the transfer started over."""
        if done < self._samples[-1][1]:
            self._samples.clear()
        self._samples.append((at, done))
        # One sample from before the window stays: the rate is measured from it.
        while len(self._samples) > 2 and self._samples[1][0] <= at - WINDOW:
            self._samples.popleft()

    def rate(self, at: float) -> float:
        """The amount per second; 0 while it is unknown or nothing arrives."""
        since, before = self._samples[0]
        seconds = at - since
        return (self._samples[-1][1] - before) / seconds if seconds >= LEAST else 0.0

    def left(self, total: int, at: float) -> float | None:
        """Seconds until `total` is reached at this rate; None if unknown."""
        rate = self.rate(at)
        return max(0, total - self._samples[-1][1]) / rate if rate > 0 and total > 0 else None
