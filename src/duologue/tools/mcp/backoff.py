"""How long to wait before a server is tried again. Pure: the number of failures in, seconds out."""

from __future__ import annotations

FIRST = 1.0
LONGEST = 30.0


def delay(failures: int) -> float:
    """Seconds to wait after so many failures in a row: 1, 2, 4 ... and 30 from then on."""
    return min(FIRST * 2.0 ** min(max(failures, 1) - 1, 16), LONGEST)
