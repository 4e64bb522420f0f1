"""The rate limit on login attempts, by client address. `sessions` asks it before it checks a key."""

from __future__ import annotations

from collections import OrderedDict

ATTEMPTS = 5
SECONDS_PER_ATTEMPT = 6.0
ADDRESSES = 10_000
"""Addresses that are remembered, so that the memory stays bounded."""


class TokenBucket:
    """A token bucket: `burst` attempts at once, then one every `seconds`."""

    def __init__(self, burst: int, seconds: float, now: float) -> None:
        self._burst = burst
        self._seconds = seconds
        self._level = float(burst)
        self._at = now

    def take(self, now: float) -> float:
        """Take an attempt: 0 if one was available, else the seconds until one is."""
        self._level = min(self._burst, self._level + (now - self._at) / self._seconds)
        self._at = now
        if self._level < 1:
            return (1 - self._level) * self._seconds
        self._level -= 1
        return 0.0


class LoginRateLimit:
    """A bucket for each client address that tries keys. The least recently active address is dropped first."""

    def __init__(
        self, burst: int = ATTEMPTS, seconds: float = SECONDS_PER_ATTEMPT, limit: int = ADDRESSES
    ) -> None:
        self._burst = burst
        self._seconds = seconds
        self._limit = limit
        self._buckets: OrderedDict[str, TokenBucket] = OrderedDict()

    def take(self, address: str, now: float) -> float:
        """0 if the address may try, else the seconds it must wait."""
        bucket = self._buckets.setdefault(address, TokenBucket(self._burst, self._seconds, now))
        self._buckets.move_to_end(address)
        if len(self._buckets) > self._limit:
            self._buckets.popitem(last=False)
        return bucket.take(now)
