"""When a running reply began, was prefilled and wrote its first word, for one that is cancelled: only its own end tells its timings.

Fed by `chat_socket`. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable

from duologue.values.events import Delta, Event, Prefilled, Started, Timings


class ReplyTimes:
    """Times are seconds of one clock; `start` is when the request came."""

    def __init__(self, start: float) -> None:
        self._start = start
        self._began: float | None = None
        self._prefilled: float | None = None
        self._first: float | None = None

    def saw(self, events: Iterable[Event], now: float) -> None:
        """These events came."""
        for event in events:
            if isinstance(event, Started | Prefilled) and self._began is None:
                self._began = now
            if isinstance(event, Prefilled) and self._prefilled is None:
                self._prefilled = now
            if isinstance(event, Delta) and self._first is None:
                self._first = now

    def timings(self, end: float) -> Timings:
        """The timings of a reply that ended now; what it never came to lasts nothing."""
        began = end if self._began is None else self._began
        prefilled = end if self._prefilled is None else self._prefilled
        first = end if self._first is None else self._first
        return Timings(
            queue=(began - self._start) * 1000,
            prefill=(prefilled - began) * 1000,
            generate=(end - prefilled) * 1000,
            first=(first - self._start) * 1000,
        )
