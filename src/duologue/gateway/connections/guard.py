"""All connections of the server together: who is let in, whose time is over, and what is logged and counted about it.

`acceptor` asks it for a place, the protocols register themselves with it, and `sweep` looks at each of them regularly: one
task, because a timer for every phase of every request would cost more than the requests.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Protocol

import anyio

from duologue import telemetry
from duologue.config.sections.connections import ConnectionSettings
from duologue.gateway.connections.admission import Admission, ConnectionTable, Full
from duologue.gateway.connections.bound_log import BoundLog
from duologue.gateway.connections.bounds import REFUSED_SECONDS, Bound

log = logging.getLogger(__name__)

SWEEP_SECONDS = (0.05, 1.0)


class Watched(Protocol):
    """A connection that is looked at by `sweep`."""

    def check(self, now: float) -> None:
        """End what takes too long."""


class Evictable(Protocol):
    """A connection that owes no answer."""

    def evict(self) -> None:
        """Close it, and give its place back."""


class ConnectionGuard:
    """The bounds of all connections, and their state. `clock` is the one of every time in this package, in seconds."""

    def __init__(
        self,
        settings: ConnectionSettings,
        table: ConnectionTable,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.settings = settings
        self.table = table
        self.clock = clock
        self.open: set[Watched] = set()
        self.idle: dict[Evictable, None] = {}
        """Connections without a complete request, the one that has waited longest first. They make room for new ones."""
        self.turned_away = 0
        """Connections that got no place and are reading why."""
        self._log = BoundLog()

    def admit(self, peer: str) -> Admission | Full:
        """A place for a connection from `peer`, or the bound that is met."""
        place = self.table.admit(peer)
        if place == "total" and self.idle:
            oldest = next(iter(self.idle))
            del self.idle[oldest]
            oldest.evict()
            self.met("evicted", "")
            place = self.table.admit(peer)
        if not isinstance(place, Admission):
            self.met(place, peer)
        return place

    def met(self, bound: Bound, peer: str) -> None:
        """Count a bound that was met by a connection from `peer`, and log it unless that was done a moment ago."""
        telemetry.metrics().connection_bound_met(bound)
        if line := self._log.line(bound, peer, self.clock()):
            log.warning("%s", line)

    async def sweep(self) -> None:
        """Look at every connection regularly, until cancelled."""
        settings = self.settings
        limits = (settings.first_byte_s, settings.header_s, settings.body_window_s, settings.unread_s)
        least, most = SWEEP_SECONDS
        interval = max(least, min(most, min(*limits, REFUSED_SECONDS) / 4))
        while True:
            await anyio.sleep(interval)
            self.look()

    def look(self) -> None:
        """Look at every connection once."""
        now = self.clock()
        telemetry.metrics().connections_open(self.table.count)
        for connection in list(self.open):
            connection.check(now)
