"""Amounts of the last minute, such as requests or tokens. Pure: the time is an argument, in seconds that never go back."""

from __future__ import annotations

import math
from collections import deque

MINUTE = 60


class MinuteWindow:
    """What was added in any 60 seconds is in `total` at their end. Amounts are kept by the second, so each counts for up to 61 seconds;
    there are at most 62 of them however much is added."""

    def __init__(self) -> None:
        self.total = 0
        self._seconds: deque[list[int]] = deque()

    def add(self, amount: int, now: float) -> None:
        self.expire(now)
        second = math.floor(now)
        self.total += amount
        if self._seconds and self._seconds[-1][0] >= second:
            self._seconds[-1][1] += amount
        else:
            self._seconds.append([second, amount])

    def expire(self, now: float) -> None:
        """Forget what is too old to count."""
        while self._seconds and self._seconds[0][0] + 1 + MINUTE <= now:
            self.total -= self._seconds.popleft()[1]

    def seconds_until_less(self, amount: int, now: float) -> float:
        """Seconds until at least `amount` of what counts now has become too old; until all of it has, where it is less."""
        wait = 0.0
        for second, counted in self._seconds:
            if amount <= 0:
                break
            amount -= counted
            wait = second + 1 + MINUTE - now
        return max(0.0, wait)
