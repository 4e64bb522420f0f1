"""The list feed: what changed among a user's conversations, for every tab and device that looks at the list.

Owns the numbers of the events and how far back they are remembered. Viewers read by position, so a slow one costs
nothing and misses nothing but what was forgotten; then it is told to read the list again. Knows no store and no wire.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager

import anyio
from msgspec import Struct

from duologue.values.runs import ListDraft, ListEvent, ListReset

REMEMBERED = 256
"""Events of one user that are kept for viewers who were away."""
USERS = 1000
"""Users whose events are kept; the one who was quiet longest is forgotten first, unless somebody looks."""


class NumberedEvent(Struct, frozen=True):
    """An event with its number. Numbers grow; a user's are not without gaps."""

    number: int
    event: ListEvent


class _Ring:
    def __init__(self, number: int) -> None:
        self.events: deque[NumberedEvent] = deque()
        self.complete_after = number
        """Everything told later than this number is in `events`."""
        self.changed = anyio.Event()
        self.viewers = 0

    def forget_draft(self, conversation: str) -> None:
        for told in self.events:
            if isinstance(told.event, ListDraft) and told.event.conversation == conversation:
                self.events.remove(told)
                return  # there is never more than one


class Feed:
    """`start` is the first number, and must lie above every number of an earlier life of the server (the time in ms
    does): a viewer that comes back with one of those is told to read the list again."""

    def __init__(self, start: int, *, remembered: int = REMEMBERED, users: int = USERS) -> None:
        self._number = start
        self._forgotten = start
        """The number at which a user was forgotten last: nothing before it is known of one who is new."""
        self._remembered = remembered
        self._users = users
        self._rings: OrderedDict[str, _Ring] = OrderedDict()
        self._closed = False

    @property
    def number(self) -> int:
        """The number of the last event of all users: what a new viewer begins after."""
        return self._number

    def tell(self, user: str, event: ListEvent) -> None:
        """Tell every viewer of this user."""
        ring = self._ring(user)
        self._number += 1
        if isinstance(event, ListDraft):
            # One comes every second while somebody writes, and the last alone says anything.
            ring.forget_draft(event.conversation)
        ring.events.append(NumberedEvent(self._number, event))
        if len(ring.events) > self._remembered:
            ring.complete_after = ring.events.popleft().number
        ring.changed.set()
        ring.changed = anyio.Event()

    async def events(self, user: str, after: int | None = None) -> AsyncGenerator[NumberedEvent]:
        """What is told after the number `after` (None: from now on), for as long as the feed is open.

        Begins with `ListReset` when not everything since `after` is remembered; also later, for a viewer that was
        too slow.
        """
        ring = self._ring(user)
        seen = self._number if after is None else after
        with _looking(ring):
            while not self._closed:
                changed = ring.changed
                if seen < ring.complete_after or seen > self._number:
                    seen = self._number
                    yield NumberedEvent(seen, ListReset())
                    continue
                news = [told for told in ring.events if told.number > seen]
                for told in news:
                    if told.number <= ring.complete_after:
                        break  # forgotten while this viewer took the ones before it
                    seen = told.number
                    yield told
                if not news:
                    await changed.wait()

    def close(self) -> None:
        """End every viewer's iteration: the server goes down."""
        self._closed = True
        for ring in self._rings.values():
            ring.changed.set()

    def _ring(self, user: str) -> _Ring:
        ring = self._rings.pop(user, None) or _Ring(self._forgotten)
        self._rings[user] = ring  # at the end: heard of last
        if len(self._rings) > self._users:
            quiet = next((name for name, ring in self._rings.items() if not ring.viewers), None)
            if quiet is not None and quiet != user:
                del self._rings[quiet]
                self._forgotten = self._number
        return ring


@contextmanager
def _looking(ring: _Ring) -> Iterator[None]:
    ring.viewers += 1
    try:
        yield
    finally:
        ring.viewers -= 1
