"""Which of several servers with the same model gets a request. Pure.

Used by `replica_set`. A conversation stays with the server that has read its beginning, since reading it again is the longest part of a long
chat. A new one goes to a server that its beginning names, by rendezvous hashing, so that several gateways choose the same one without
asking each other. Neither holds when that server has much more to do than the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from hashlib import blake2b
from typing import Literal

from msgspec import Struct

Standing = Literal["ready", "resting", "down", "draining"]
"""`resting`: it said that it is too busy, and for how long."""

MUCH_BUSIER = 1.5
"""A server may have this many times the mean number of replies before others are preferred."""
ALWAYS = 2
"""A number of replies that never counts as too many."""


class ReplicaLoad(Struct, frozen=True):
    """A server. `load`: the replies that it has, by us and by its own word; `waits`: whether requests wait in its own queue."""

    name: str
    standing: Standing = "ready"
    load: int = 0
    slots: int = 1
    waits: bool = False

    @property
    def full(self) -> bool:
        return self.waits or self.load >= self.slots


def choose(
    servers: Sequence[ReplicaLoad], beginning: bytes = b"", home: str = "", tried: Set[str] = frozenset()
) -> str:
    """The name of the server; "" where none is left. `beginning`: a digest of how the conversation begins, `home`: the server that has
    read most of it, `tried`: those that failed with this request. One that is down is asked when no other is left: it may be back already."""
    left = [server for server in servers if server.name not in tried and server.standing != "draining"]
    if not left:
        return ""
    best = min(_RANK[server.standing] for server in left)
    able = [server for server in left if _RANK[server.standing] == best]
    able = [server for server in able if not server.full] or able
    most = max(ALWAYS, MUCH_BUSIER * (sum(server.load for server in able) + 1) / len(able))
    able = [server for server in able if server.load < most] or able
    if any(server.name == home for server in able):
        return home
    if not beginning:
        return min(able, key=lambda server: (server.load, _weight(server.name, b""))).name
    return max(able, key=lambda server: _weight(server.name, beginning)).name


_RANK: dict[Standing, int] = {"ready": 0, "resting": 1, "down": 2}


def _weight(name: str, key: bytes) -> bytes:
    return blake2b(key + name.encode(), digest_size=8).digest()


def names(servers: Iterable[ReplicaLoad], standing: Standing) -> tuple[str, ...]:
    """Those of this standing, in order."""
    return tuple(server.name for server in servers if server.standing == standing)
