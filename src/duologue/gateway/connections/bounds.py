"""What one connection may send, and how long it may take: pure, bytes and times in, the bound that is met out.

`http_protocol` and `socket_protocol` tell these machines what arrives and ask them at every sweep. Times are in seconds of
one clock, sizes in bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto
from typing import Literal

from duologue.config.sections.connections import ConnectionSettings

Bound = Literal[
    "request_line",
    "headers",
    "first_byte",
    "header_time",
    "body_time",
    "body_rate",
    "unread",
    "pipeline",
    "invalid",
    "handshake",
    "per_address",
    "total",
    "evicted",
    "open_files",
]
"""What can be met; the label of the metric."""

KILOBYTE = 1024
PIPELINED = 16
"""Requests that may wait behind one that is being answered. Browsers send none."""
REFUSED_SECONDS = 2.0
REFUSED_BYTES = 2**20
"""How long, and how much, a refused client is still listened to, so that it gets to read the answer."""
CLOSING_SECONDS = 10.0
"""How long a connection that is being closed may take to deliver what was written to it."""


class Exceeded(Exception):
    """A request is larger than a bound."""

    def __init__(self, bound: Bound) -> None:
        super().__init__(bound)
        self.bound: Bound = bound


class Reading(Enum):
    """What is expected next from the client."""

    WAITING = auto()
    HEAD = auto()
    BODY = auto()
    REFUSED = auto()


WAITING, HEAD, BODY, REFUSED = Reading


class RateWatch:
    """Whether something that takes long arrives fast enough: at least `rate` bytes a second over each `window`."""

    def __init__(self, settings: ConnectionSettings, now: float, size: int = 0) -> None:
        self._least = settings.body_rate_kb * KILOBYTE * settings.body_window_s
        self._window = settings.body_window_s
        self._end = now + settings.body_s
        self.pause(now, size)

    def pause(self, now: float, size: int) -> None:
        """Begin a new window: for a while the server itself has not read."""
        self._at = now
        self._size = size

    def verdict(self, now: float, size: int) -> Bound | None:
        """The bound that is met when `size` bytes have arrived so far."""
        if now >= self._end:
            return "body_time"
        if now - self._at >= self._window:
            if size - self._size < self._least:
                return "body_rate"
            self.pause(now, size)
        return None


class RequestProgress:
    """The requests of one connection: their sizes while they are parsed, and what takes how long.

    The methods named after what happened are called for every request, so they do little.
    """

    def __init__(self, settings: ConnectionSettings, now: float) -> None:
        self._settings = settings
        self._most_line = settings.request_line_kb * KILOBYTE
        self._most_bytes = settings.header_kb * KILOBYTE
        self._most_headers = settings.headers
        self._head = self._unparsed = 0
        self._since = now
        self._is_fresh = True
        self._watch: RateWatch | None = None
        self.reading = WAITING
        self.body = 0

    def received(self, now: float) -> None:
        """Bytes have arrived."""
        if self.reading is WAITING:
            self.reading = HEAD
            self._since = now
            self._is_fresh = False
            self._head = self._unparsed = 0

    def head_continues(self, size: int, line: int) -> None:
        """`size` more bytes have not ended the headers; the address has `line` bytes so far. Raises Exceeded."""
        self._head += size
        if line > self._most_line:
            raise Exceeded("request_line")
        if self._head > self._most_line + self._most_bytes:
            raise Exceeded("headers")

    def check_head(self, line: int, headers: Sequence[tuple[bytes, bytes]], last: int) -> None:
        """The whole head, of which `last` bytes have come last. Raises Exceeded."""
        if line > self._most_line:
            raise Exceeded("request_line")
        if len(headers) > self._most_headers:
            raise Exceeded("headers")
        # Summing up takes longer than everything else here, and most requests come in one small piece.
        if self._head + last > self._most_bytes:
            size = sum(len(name) + len(value) for name, value in headers)
            if size > self._most_bytes:
                raise Exceeded("headers")

    def parsed_nothing(self, size: int) -> None:
        """`size` bytes after the headers contained nothing of a body: trailers, an extension of a chunk. Raises Exceeded."""
        self._unparsed += size
        if self._unparsed > self._most_bytes:
            raise Exceeded("headers")

    def parsed(self) -> None:
        """Bytes contained a piece of a body."""
        self._unparsed = 0

    def head_complete(self, now: float) -> None:
        self.reading = BODY
        self._since = now
        self._watch = None
        self.body = 0

    def request_complete(self) -> None:
        self.reading = WAITING

    def refused(self, now: float) -> None:
        """The client was told so; it is listened to a little longer."""
        self.reading = REFUSED
        self._since = now

    def verdict(self, now: float, *, is_paused: bool = False) -> Bound | None:
        """The bound in time that is met now. `is_paused`: the server itself does not read at the moment."""
        settings = self._settings
        match self.reading:
            case Reading.WAITING:
                return "first_byte" if self._is_fresh and now - self._since >= settings.first_byte_s else None
            case Reading.HEAD:
                if is_paused:
                    self._since = now
                return "header_time" if now - self._since >= settings.header_s else None
            case Reading.BODY:
                if self._watch is None:
                    self._watch = RateWatch(settings, self._since)
                if is_paused:
                    self._watch.pause(now, self.body)
                    return None
                return self._watch.verdict(now, self.body)
            case Reading.REFUSED:
                return None

    def is_done_with(self, now: float) -> bool:
        """Whether a refused client had its time to read the answer."""
        return self.reading is REFUSED and now - self._since >= REFUSED_SECONDS


class SendProgress:
    """Whether a client takes what is sent to it."""

    def __init__(self, settings: ConnectionSettings) -> None:
        self._seconds = settings.unread_s
        self._unsent = 0
        self._since: float | None = None

    def verdict(self, now: float, unsent: int, *, is_closing: bool) -> Bound | None:
        """The bound that is met now. `unsent`: bytes that the server has written and the system has not taken yet."""
        if unsent == 0 and not is_closing:
            self._since = None
        elif self._since is None or unsent < self._unsent:
            self._since = now
        self._unsent = unsent
        limit = min(CLOSING_SECONDS, self._seconds) if is_closing else self._seconds
        return "unread" if self._since is not None and now - self._since >= limit else None
