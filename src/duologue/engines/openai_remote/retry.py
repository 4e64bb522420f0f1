"""When a request that an upstream did not begin to answer is sent again.

Used by `upstream_connection`. Pure, with the time and the chance as arguments. Nothing is repeated once a reply has begun.
"""

from __future__ import annotations

from datetime import UTC
from email.utils import parsedate_to_datetime

STATUSES = frozenset({429, 502, 503, 504})
"""What a server answers that is busy, or a proxy whose server is not there yet."""
FIRST = 0.25
"""Seconds before the second try, about; doubled with each further one."""
LONGEST = 20.0
"""Seconds that one request waits in all: somebody waits for the reply."""


def pause(attempt: int, retries: int, waited: float, told: float | None, chance: float) -> float | None:
    """Seconds to wait after try number `attempt` (from 0) failed; None to give up. `waited`: seconds so far; `told`: by the server,
    None where it said nothing; `chance`, 0 to 1, spreads the tries of many requests."""
    if attempt >= retries:
        return None
    seconds = FIRST * 2**attempt * (0.5 + chance) if told is None else told
    return seconds if waited + seconds <= LONGEST else None


def retry_after(value: str, now: float) -> float | None:
    """Seconds by a `Retry-After` header, which has seconds or a date; `now` in seconds since 1970. None where it has neither."""
    text = value.strip()
    if text.replace(".", "", 1).isdecimal() and text.isascii():
        return float(text)
    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        return None
    return max(0.0, (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() - now)
