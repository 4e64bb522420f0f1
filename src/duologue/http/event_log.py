"""A bounded log of numbered events, read by position, and its form as server-sent events.

Owns the numbers, how many events are remembered, and what a reader gets that asks for more. A slow reader costs nothing:
it holds no queue, only the number it has read up to. Used for the events of the models and, one log per user, of the list
of conversations. A run's own log (`conversations/runs/event_log.py`) is another thing: it forgets nothing, joins pieces of
text, is saved to the database, and stays pure.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import Generic, TypeVar

import msgspec
from msgspec import Struct
from starlette.requests import Request

from duologue.errors import BadRequest
from duologue.http.sse import EventStream, frame, position, resumable_stream
from duologue.notifier import Notifier

REMEMBERED = 256
"""Events kept for readers that reconnect."""

Event = TypeVar("Event")


class NumberedEvent(Struct, Generic[Event], frozen=True):
    """An event with its number. Numbers grow, but may skip: several logs can share one count."""

    number: int
    event: Event


class EventNumbers:
    """The count that logs number their events from. `last` must start above every number given out before the last restart
    (the time in ms does), so that a client that reconnects with an old number is recognised and starts over. Several gateways count in
    steps, each beside the others, so that the numbers of one are recognised at another."""

    def __init__(self, last: int, step: int = 1) -> None:
        self.last = last
        self._step = step

    def next(self) -> int:
        self.last += self._step
        return self.last

    def has_given(self, number: int) -> bool:
        """Whether this count can have given out the number."""
        return number <= self.last and (self.last - number) % self._step == 0


class EventLog(Generic[Event]):
    """The last events, for any number of readers.

    A reader whose position is no longer, or not yet, in the log gets the events of `reset`, which tell a client to read
    everything again. `complete_after`: the log has every event later than this number; by default those from now on.
    """

    def __init__(
        self,
        numbers: EventNumbers,
        *,
        reset: Sequence[Event],
        remembered: int = REMEMBERED,
        complete_after: int | None = None,
    ) -> None:
        self._numbers = numbers
        self._reset = tuple(reset)
        self._remembered = remembered
        self._complete_after = numbers.last if complete_after is None else complete_after
        self._events: deque[NumberedEvent[Event]] = deque()
        self._notifier = Notifier()
        self._closed = False
        self.readers = 0
        """Readers that are iterating now."""

    @property
    def number(self) -> int:
        """The number of the last event: where a new reader starts."""
        return self._numbers.last

    def publish(self, event: Event, *, replaces: Callable[[Event], bool] | None = None) -> None:
        """Add an event and wake the readers. The earlier event that `replaces` accepts is dropped: the new one says it all."""
        if replaces is not None:
            earlier = next((entry for entry in self._events if replaces(entry.event)), None)
            if earlier is not None:
                self._events.remove(earlier)
        self._events.append(NumberedEvent(self._numbers.next(), event))
        if len(self._events) > self._remembered:
            self._complete_after = self._events.popleft().number
        self._notifier.notify()

    async def read(self, after: int | None = None) -> AsyncGenerator[NumberedEvent[Event]]:
        """The events after number `after` (None: from now on), then each new one, until the log is closed.

        Gives `reset` first when events since `after` are missing, and later too if this reader falls too far behind.
        """
        position = self.number if after is None else after
        self.readers += 1
        try:
            while not self._closed:
                if position < self._complete_after or not self._numbers.has_given(position):
                    position = self.number
                    for event in self._reset:
                        yield NumberedEvent(position, event)
                    continue
                at = bisect_right(self._events, position, key=_number)
                if at == len(self._events):
                    await self._notifier.wait()
                    continue
                entry = self._events[at]
                position = entry.number
                yield entry
        finally:
            self.readers -= 1

    def forget(self) -> None:
        """Events may be missing from now on: every reader gets `reset`."""
        self._events.clear()
        self._complete_after = self._numbers.next()
        self._notifier.notify()

    def close(self) -> None:
        """End every reader's iteration: the server shuts down."""
        self._closed = True
        self._notifier.notify()


def _number(entry: NumberedEvent[Event]) -> int:
    return entry.number


async def event_frames(
    events: AsyncGenerator[NumberedEvent[Event]], start: int | None = None
) -> AsyncGenerator[bytes]:
    """The events as server-sent ones. `start` is sent ahead as a bare position: a new client that is disconnected before
    the first event then still knows where to resume."""
    if start is not None:
        yield position(start)
    async with aclosing(events):
        async for entry in events:
            yield frame(entry.number, msgspec.json.encode(entry.event))


def event_response(
    request: Request, read: Callable[[int], AsyncGenerator[NumberedEvent[Event]]], number: int
) -> EventStream[bytes]:
    """A response with the events that `read` gives: after the one the client saw last, else after `number`."""
    after = last_event_id(request)
    frames = event_frames(read(number), start=number) if after is None else event_frames(read(after))
    return resumable_stream(frames)


def last_event_id(request: Request) -> int | None:
    """The number of the last event the client saw: the header `Last-Event-ID`, which a browser sends by itself when it
    reconnects, else `after` in the query; None without either. Raises BadRequest."""
    text = request.headers.get("last-event-id") or request.query_params.get("after")
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 17):
        raise BadRequest(
            "after must be a whole number: the id of the last event that was seen.", param="after"
        )
    return int(text)
