"""What the scheduler tells the pool to do. The pool carries them out on the leases."""

from __future__ import annotations

from msgspec import Struct


class Granted(Struct, frozen=True):
    """The ticket has these slots of this worker, until each is released. A request for several slots may get them one after another."""

    ticket: str
    worker: str
    slots: tuple[int, ...]


class Moved(Struct, frozen=True):
    """The ticket waits at `position` (from 1) of `length`, for about `wait` seconds more."""

    ticket: str
    position: int
    wait: float
    length: int


class Refused(Struct, frozen=True):
    """The ticket will not be served, for this reason. `retry_after`: when a place in the queue is likely to be free, in
    seconds."""

    ticket: str
    code: str
    message: str
    retry_after: float | None = None


Command = Granted | Moved | Refused
