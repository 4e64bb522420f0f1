"""Where the request of the running task waits: what a lease tells the answer that is written meanwhile.

An HTTP answer opens a `QueueTicket` around its work, and every lease that the work takes reports to it, whatever dialect asks for it: the ticket,
each place, and how long it waited. So streams can say it in comments, and whole answers in their headers. A property of the task, as
`telemetry.request_id` is. `http/sse.py` and `http/whole_answer.py` open it, `gateway/scheduling/lease.py` reports.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from duologue.notifier import Notifier

TICKET_HEADER = "X-Duologue-Ticket"
"""The response header with the ticket, by which a request is found in `/api/queue`, and can be cancelled while it waits."""
WAITED_HEADER = "X-Duologue-Queue-Wait-Ms"
"""The response header with the milliseconds that the request waited for its slot."""
LOADED_HEADER = "X-Duologue-Load-Wait-Ms"
"""The response header with the milliseconds that the request waited for a model to be loaded; only where it did."""
SHORTEST_LOAD = 0.1
"""Seconds from which that is told: looking for a model on the disk takes a moment too."""


class QueueTicket:
    """The latest lease of an answer's work. `clock` gives seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._notifier = Notifier()
        self._since = 0.0
        self.ticket = ""
        self.place: tuple[int, float] | None = None
        """The position from 1, and the seconds that it will still take; None while nothing waits."""
        self.waited: float | None = None
        """Seconds that the first slot took; None until there is one."""
        self.load_waited = 0.0
        """Seconds that models took to be loaded for it."""
        self.changes = 0
        """Grows with every place that is told."""

    def waits(self, ticket: str) -> None:
        """A lease was taken."""
        self.ticket, self.place, self._since = ticket, None, self._clock()

    def moved(self, position: int, wait: float) -> None:
        """The lease waits at this position."""
        self.place = (position, wait)
        self.changes += 1
        self._notifier.notify()

    def granted(self) -> None:
        """The lease has a slot."""
        self.place = None
        if self.waited is None:
            self.waited = self._clock() - self._since

    def loaded(self, seconds: float) -> None:
        """A model was waited for, which has been loaded, or takes too long."""
        self.load_waited += seconds

    async def next_place(self, changes: int) -> None:
        """Return when something waits and its place was told after so many `changes`."""
        while self.place is None or self.changes == changes:
            await self._notifier.wait()

    @property
    def comment(self) -> bytes:
        """The place as a comment of a stream of events; empty while nothing waits."""
        if self.place is None:
            return b""
        return b": queue position=%d wait=%.1f ticket=%b\n\n" % (*self.place, self.ticket.encode())

    @property
    def headers(self) -> dict[str, str]:
        """What the head of the answer can say by now."""
        headers = {TICKET_HEADER: self.ticket} if self.ticket else {}
        if self.waited is not None:
            headers[WAITED_HEADER] = str(round(self.waited * 1000))
        if self.load_waited >= SHORTEST_LOAD:
            headers[LOADED_HEADER] = str(round(self.load_waited * 1000))
        return headers


queue_ticket: ContextVar[QueueTicket | None] = ContextVar("queue_ticket", default=None)


@contextmanager
def watched_queue() -> Iterator[QueueTicket]:
    """Leases that this task, and those that it starts meanwhile, take inside report to the ticket."""
    ticket = QueueTicket()
    token = queue_ticket.set(ticket)
    try:
        yield ticket
    finally:
        queue_ticket.reset(token)
