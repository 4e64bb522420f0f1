"""The list feed: what changed among each user's conversations, for every tab and device that shows the list.

Owns one event log per user, and for how many users one is kept. The service and the API routes publish; `/api/events` and the
calls read. All logs share one count, so that a number is a position in any of them. Events go to the other gateways of the database by
notices; each numbers them itself, and a reader that comes from another gateway reads everything again.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial

from duologue.http.event_log import REMEMBERED, EventLog, EventNumbers, NumberedEvent
from duologue.store.cluster.cluster_link import ClusterLink
from duologue.values.cluster.notices import ListNews
from duologue.values.runs import ListDraft, ListEvent, ListReset

USERS = 1000
"""Users whose events are kept. Beyond it the least recently active user without a reader is dropped."""

SHARES = 1024
"""Each gateway numbers its events in steps of this, with a remainder of its own. The numbers stay below 2^53 for two centuries."""


class Feed:
    """`start` is the first number, and must lie above every number given out before the last restart (the time in ms does)."""

    def __init__(
        self,
        start: int,
        *,
        cluster: ClusterLink | None = None,
        remembered: int = REMEMBERED,
        users: int = USERS,
    ) -> None:
        self._numbers = _numbers(start, cluster)
        self._complete_after = self._numbers.last
        """The number when a user was last dropped: a new log knows of nothing before it."""
        self._notices = cluster.notices if cluster is not None else None
        if self._notices is not None:
            self._notices.on(ListNews, lambda news: self._deliver(news.user, news.event))
            self._notices.when_blind(self._reset)
        self._remembered = remembered
        self._users = users
        self._logs: OrderedDict[str, EventLog[ListEvent]] = OrderedDict()
        self._closed = False

    @property
    def number(self) -> int:
        """The number of the last event of all users: where a new reader starts."""
        return self._numbers.last

    def publish(self, user: str, event: ListEvent) -> None:
        """Send an event to every reader of this user, at every gateway."""
        self._deliver(user, event)
        if self._notices is not None:
            self._notices.post(ListNews(user, event))

    def _deliver(self, user: str, event: ListEvent) -> None:
        # A draft is saved every second while its author types, and only the last state matters.
        replaces = partial(_same_draft, event) if isinstance(event, ListDraft) else None
        self._log(user).publish(event, replaces=replaces)

    def publish_to_all(self, event: ListEvent) -> None:
        """Send an event that is the same for everyone to the readers of every user at this gateway; only the last of a kind is kept."""
        for log in self._logs.values():
            log.publish(event, replaces=lambda earlier: type(earlier) is type(event))

    async def events(self, user: str, after: int | None = None) -> AsyncGenerator[NumberedEvent[ListEvent]]:
        """This user's events after the number `after` (None: from now on), until the feed is closed; `ListReset` where events
        since `after` are missing."""
        async with aclosing(self._log(user).read(after)) as events:
            async for event in events:
                yield event

    def close(self) -> None:
        """End every reader's iteration: the server shuts down."""
        self._closed = True
        for log in self._logs.values():
            log.close()

    def _reset(self) -> None:
        """Events of other gateways may be missing."""
        for log in self._logs.values():
            log.forget()
        self._complete_after = self._numbers.last

    def _log(self, user: str) -> EventLog[ListEvent]:
        log = self._logs.pop(user, None)
        if log is None:
            log = EventLog(
                self._numbers,
                reset=(ListReset(),),
                remembered=self._remembered,
                complete_after=self._complete_after,
            )
            if self._closed:
                log.close()
        self._logs[user] = log  # the end of the order is the most recently active
        if len(self._logs) > self._users:
            idle = next((name for name, log in self._logs.items() if not log.readers), None)
            if idle is not None and idle != user:
                del self._logs[idle]
                self._complete_after = self._numbers.last
        return log


def _numbers(start: int, cluster: ClusterLink | None) -> EventNumbers:
    if cluster is None or not cluster.shared:
        return EventNumbers(start)
    return EventNumbers(start * SHARES + int(cluster.gateway[:8], 16) % SHARES, SHARES)


def _same_draft(event: ListDraft, earlier: ListEvent) -> bool:
    return isinstance(earlier, ListDraft) and earlier.conversation == event.conversation
