"""What `/join` knows of places: whether there is one, and who takes the worker that has joined for it."""

from __future__ import annotations

from typing import Protocol

from duologue.gateway.workers.transport import WorkerTransport
from duologue.wire.machines.join_protocol import Join


class JoinedSession(Protocol):
    """A worker that has joined for a place, for as long as its session lives."""

    @property
    def join(self) -> Join:
        """What it said first."""

    @property
    def transport(self) -> WorkerTransport:
        """The way to it, for one `WorkerConnection`."""

    def end(self) -> None:
        """Give the session up: the worker is not wanted any more."""


class Places(Protocol):
    """The places of a gateway with `pool: ray`."""

    def place_of(self, key: str) -> str | None:
        """The place that this key opens; None for a key that is none of a place."""

    def arrived(self, place: str, session: JoinedSession) -> bool:
        """A worker has joined for this place. False: nobody waits for it, and it is refused."""
