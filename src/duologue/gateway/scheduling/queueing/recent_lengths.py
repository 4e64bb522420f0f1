"""How long work of one kind has been lately, and how much is left of work that already runs: a conditional expectation.

Used by the estimator for tokens of replies and for seconds of everything else. Keeps the last `MOST` lengths, the newer the weightier. What is
expected of something that has run for a while is the mean rest of those that ran longer than that: where replies are short or very
long, one that is past the short ones is a long one. Beyond every known length a Lomax tail takes over, whose mean rest grows with what has
run, so an estimate that turns out too low grows smoothly and never jumps or stands still.
"""

from __future__ import annotations

import math
from collections import deque

MOST = 64
KEEP = 0.97
"""The weight of a length compared with the next newer one."""
TAIL = 0.2
"""The part of what is not known that may be of any length."""
MOST_REMEMBERED = 256
BLUR = 0.1
"""A length stands for those around it: so much more or less."""


class RecentLengths:
    """Lengths of any unit, from 0 up."""

    def __init__(self, keep: float = KEEP) -> None:
        self._lengths: deque[float] = deque(maxlen=MOST)
        self._keep = keep
        self._whole: dict[tuple[float, float], float] = {}
        """What is expected of something that has not begun, by `base` and `most`, until the next length is added: every waiting request is
        asked about each time that places are told."""

    def __len__(self) -> int:
        return len(self._lengths)

    def add(self, length: float) -> None:
        self._lengths.append(length)
        self._whole.clear()

    def mean(self, base: float) -> float:
        """The expected length; `base` counts as much as one length in the beginning, and less and less."""
        prior = 1.0 / (1 + len(self._lengths))
        total, weights, weight = base * prior, prior, 1.0
        for length in reversed(self._lengths):
            total += weight * length
            weights += weight
            weight *= self._keep
        return total / weights

    def rest(self, so_far: float, base: float, most: float = math.inf) -> float:
        """What is expected to come after `so_far`, of something that ends at `most` at the latest. `base` is the expected length of
        something about which nothing is known."""
        if so_far > 0.0:
            return 0.0 if so_far >= most else self._rest(so_far, base, most)
        if (whole := self._whole.get((base, most))) is None:
            if len(self._whole) >= MOST_REMEMBERED:
                self._whole.clear()
            whole = self._whole[base, most] = self._rest(0.0, base, most)
        return whole

    def _rest(self, so_far: float, base: float, most: float) -> float:
        mean = max(self.mean(base), 1e-9)
        prior = 1.0 / (1 + len(self._lengths))
        # Something about which little is known has about the mean length; a Lomax of shape 3, whose mean is half of its scale, has the rest.
        scale, low, high = 2 * mean, mean / 2, mean * 3 / 2
        alive = prior * ((1 - TAIL) * _chance(so_far, low, high) + TAIL * (1 + so_far / scale) ** -3)
        area = _area(so_far, low, high) - _area(most, low, high)
        rest = prior * ((1 - TAIL) * area + TAIL * (_tail(so_far, scale) - _tail(most, scale)))
        weight = 1.0
        for length in reversed(self._lengths):
            low, high = length * (1 - BLUR), length * (1 + BLUR)
            if so_far < high:
                alive += weight * _chance(so_far, low, high)
                rest += weight * (_area(so_far, low, high) - _area(most, low, high))
            weight *= self._keep
        return rest / alive


def _chance(so_far: float, low: float, high: float) -> float:
    """The chance that something evenly spread from `low` to `high` is longer than `so_far`."""
    return 1.0 if so_far <= low else max(0.0, (high - so_far) / (high - low))


def _tail(start: float, scale: float) -> float:
    """The integral of (1 + x / scale) ** -3 from `start` on."""
    return 0.0 if start == math.inf else scale / 2 * (1 + start / scale) ** -2


def _area(start: float, low: float, high: float) -> float:
    """The integral, from `start` on, of the chance that something evenly spread from `low` to `high` is longer."""
    if start >= high:
        return 0.0
    if start <= low:
        return low - start + (high - low) / 2
    return (high - start) ** 2 / (2 * (high - low))
