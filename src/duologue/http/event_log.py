"""What changed among the models, told to whoever looks: numbered, remembered for a while, read by position.

Owns the numbers and how far back they go. A slow viewer costs nothing; one that missed too much is told to read
everything again. Knows no model and no download.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, Mapping

import anyio
import msgspec

from duologue.http.event_stream import frame, position

REMEMBERED = 256
READ_AGAIN: tuple[Mapping[str, object], ...] = ({"type": "loaded"}, {"type": "here"})
"""What a viewer is told that missed too much."""


class EventLog:
    """`start` is the number before the first, and must lie above every number of an earlier life of the server (the
    time in ms does)."""

    def __init__(self, start: int, *, remembered: int = REMEMBERED) -> None:
        self._number = start
        self._events: deque[tuple[int, bytes]] = deque(maxlen=remembered)
        self._complete_after = start
        self._changed = anyio.Event()
        self._closed = False

    def tell(self, event: Mapping[str, object]) -> None:
        """Tell everyone who looks."""
        if len(self._events) == self._events.maxlen:
            self._complete_after = self._events[0][0]
        self._number += 1
        self._events.append((self._number, msgspec.json.encode(event)))
        self._wake()

    async def frames(self, after: int | None = None) -> AsyncGenerator[bytes]:
        """The events after the number `after` (None: from now on), as server-sent ones, until the news is closed."""
        seen = self._number if after is None else after
        if after is None:
            # A viewer that is cut off before the first event must know where to go on.
            yield position(seen)
        while not self._closed:
            changed = self._changed
            if seen < self._complete_after or seen > self._number:
                seen = self._number
                for event in READ_AGAIN:
                    yield frame(seen, msgspec.json.encode(event))
                continue
            fresh = [(number, data) for number, data in self._events if number > seen]
            for number, data in fresh:
                if number <= self._complete_after:
                    break  # forgotten while this viewer took the ones before it
                seen = number
                yield frame(number, data)
            if not fresh:
                await changed.wait()

    def close(self) -> None:
        """End every viewer's stream: the server goes down."""
        self._closed = True
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()
