"""Bounds on what one tool server may send: bytes and parts of a message, and how much a second. Pure.

`program.py` and `bounded_http.py` apply them before anything is parsed. A JSON document of 8 MB that is all numbers took
2.2 s and 560 MB to parse, while a picture of twice the size took 0.2 s; so the parts of a message are counted too.
"""

from __future__ import annotations

import re

from duologue.errors import Unavailable

MESSAGE = 16 * 1024 * 1024
"""Maximum bytes of one message: a photograph of 12 MB in base64."""
PARTS = 300_000
"""Maximum commas, braces and brackets of one message; parsing that many takes about a fifth of a second."""
BURST = 64 * 1024 * 1024
"""Bytes that are read without a pause."""
RATE = 8 * 1024 * 1024
"""Bytes a second after that."""
MESSAGE_COST = 8 * 1024
"""What one message counts for at least, in bytes: 8,000 small ones are read at once, then 1,000 a second."""

_BLANK_LINE = re.compile(rb"\r?\n\r?\n|\r\r")


class MessageTooLarge(Unavailable):
    """A server's message is over a bound."""

    code = "tool_server_error"


def count_parts(data: bytes | bytearray) -> int:
    """The commas, braces and brackets in `data`; those inside strings count too, telling them apart would cost as much
    as parsing."""
    return data.count(b",") + data.count(b"{") + data.count(b"[")


def check_size(size: int, limit: int = MESSAGE) -> None:
    """Raises MessageTooLarge when `size` bytes are over `limit`."""
    if size > limit:
        raise MessageTooLarge(f"It sent a message of more than {limit // (1024 * 1024)} MB.")


def check_parts(parts: int) -> None:
    """Raises MessageTooLarge when a message has more than `PARTS` parts."""
    if parts > PARTS:
        raise MessageTooLarge(f"It sent a message of more than {PARTS:,} values.")


class BodyMeter:
    """Checks the pieces of one HTTP body. `events`: an event stream, whose events are bounded one by one."""

    def __init__(self, limit: int = MESSAGE, *, events: bool = False) -> None:
        self._limit = limit
        self.events = events
        self._size = 0
        self._parts = 0

    def add(self, piece: bytes) -> int:
        """Count a piece; returns how many messages ended in it. Raises MessageTooLarge."""
        if not self.events:
            self._count(piece)
            return 0
        first, *others = _BLANK_LINE.split(piece)
        self._count(first)
        for other in others:
            self._size = self._parts = 0
            self._count(other)
        return len(others)

    def _count(self, data: bytes) -> None:
        self._size += len(data)
        check_size(self._size, self._limit)
        self._parts += count_parts(data)
        if self.events:
            # An event of 16 MB in tiny lines took 8 s to put together.
            self._parts += data.count(b"\n")
        check_parts(self._parts)


class Pace:
    """How fast one server is read: `burst` bytes at once, then `rate` a second. A reader that waits makes the server
    wait."""

    def __init__(self, burst: int = BURST, rate: int = RATE) -> None:
        self._burst, self._rate = burst, rate
        self._spent = 0.0
        self._last = 0.0

    def wait(self, size: int, messages: int, now: float) -> float:
        """Count `size` bytes with `messages` in them, read at `now`; returns the seconds to wait before reading on."""
        self._spent = max(0.0, self._spent - max(0.0, now - self._last) * self._rate)
        self._last = now
        self._spent += max(size, messages * MESSAGE_COST)
        return max(0.0, self._spent - self._burst) / self._rate
