"""Exponential backoff between connection attempts. Pure."""

from __future__ import annotations

FIRST = 1.0
LONGEST = 30.0


def delay(failures: int) -> float:
    """Seconds to wait after `failures` consecutive failures: 1, 2, 4, ... at most 30."""
    return min(FIRST * 2.0 ** min(max(failures, 1) - 1, 16), LONGEST)
