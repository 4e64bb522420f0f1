"""How fast something comes, and how long the rest will take.

A pure machine: amounts and times in, an estimate out. Knows no download.
"""

from __future__ import annotations

from collections import deque

WINDOW = 10.0
"""Seconds over which the rate is taken: short enough to follow a change, long enough not to flicker."""
LEAST = 0.5
"""Seconds that must have been seen before anything is said."""


class TransferRate:
    """The amounts `done` at the times `at` (seconds, any origin), the newest last."""

    def __init__(self, done: int, at: float) -> None:
        self._seen: deque[tuple[float, int]] = deque([(at, done)])

    def moved(self, done: int, at: float) -> None:
        """So much is done now. Less than before means that it began anew."""
        if done < self._seen[-1][1]:
            self._seen.clear()
        self._seen.append((at, done))
        # One sample from before the window stays: it is where the window begins.
        while len(self._seen) > 2 and self._seen[1][0] <= at - WINDOW:
            self._seen.popleft()

    def rate(self, at: float) -> float:
        """Bytes, or whatever is counted, a second; 0 while nothing is known or nothing comes."""
        since, before = self._seen[0]
        seconds = at - since
        return (self._seen[-1][1] - before) / seconds if seconds >= LEAST else 0.0

    def left(self, total: int, at: float) -> float | None:
        """Seconds until `total` is reached at this rate; None where that cannot be said."""
        rate = self.rate(at)
        return max(0, total - self._seen[-1][1]) / rate if rate > 0 and total > 0 else None
