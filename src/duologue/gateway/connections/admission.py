"""How many connections each address has and how many there are in all: pure. The acceptor asks before it takes one.

An IPv6 address counts with its /64, which is what one subscriber has. Connections from this machine and from trusted proxies
are not counted by address, because many people may share them, but they count in all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Literal

from duologue.gateway.middleware.address_group import address_group

Full = Literal["per_address", "total"]


class Admission:
    """A connection that was let in. `release` gives its place back; only the first time counts."""

    def __init__(self, table: ConnectionTable, group: str) -> None:
        self._table: ConnectionTable | None = table
        self._group = group

    def release(self) -> None:
        if self._table is not None:
            self._table.released(self._group)
            self._table = None


class ConnectionTable:
    """The open connections. `is_shared` tells addresses that many people may share."""

    def __init__(self, *, per_address: int, total: int, is_shared: Callable[[str], bool]) -> None:
        self._per_address = per_address
        self.total = total
        self._is_shared = is_shared
        self._groups: Counter[str] = Counter()
        self.count = 0

    def admit(self, peer: str) -> Admission | Full:
        """A place for a connection from `peer`, or which bound is met."""
        group = "" if self._is_shared(peer) else address_group(peer)
        if group and self._groups[group] >= self._per_address:
            return "per_address"
        if self.count >= self.total:
            return "total"
        self.count += 1
        if group:
            self._groups[group] += 1
        return Admission(self, group)

    def released(self, group: str) -> None:
        """Called by the admission."""
        self.count -= 1
        if group:
            self._groups[group] -= 1
            if not self._groups[group]:
                del self._groups[group]
