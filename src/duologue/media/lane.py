"""The threads files are read in: the event loop never waits for a disk or a decoder.

Owns how many run at once and how long a call may wait for its turn. Decoding, the disk and the look at the machine have
threads of their own, so that an upload goes on while a long document is drawn. Knows nothing of what it runs.

A thread cannot be ended from outside: a call that has begun is waited for, even by a cancelled caller. What is given
to these functions is therefore kept short (one picture, one page, one piece of a file).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio
from anyio import to_thread
from anyio.lowlevel import RunVar

from duologue.errors import Busy

T = TypeVar("T")

DECODERS = 2
ENCODERS = 2
DISKS = 4
WAITING = 256
"""Calls that may wait for a thread of one kind; the next is refused."""
PATIENCE = 120.0
"""Seconds a call waits for a thread."""


class Lane:
    """At most `threads` calls at a time and `waiting` more in line. `patience` in seconds."""

    def __init__(self, threads: int, *, waiting: int = WAITING, patience: float = PATIENCE) -> None:
        self._limiter = anyio.CapacityLimiter(threads)
        self._room = waiting
        self._patience = patience

    async def run(self, function: Callable[..., T], *args: object) -> T:
        """What `function(*args)` returns, called in a thread. Raises Busy when too many wait or none comes free."""
        async with self.turn():
            # A limiter of its own: the turn is already taken.
            return await to_thread.run_sync(function, *args, limiter=anyio.CapacityLimiter(1))

    def turn(self) -> _Turn:
        """One of its places, for the length of an `async with`. Raises Busy."""
        return _Turn(self._limiter, self._room, self._patience)


class _Turn:
    """One place of a limiter, waited for with a limit."""

    def __init__(self, limiter: anyio.CapacityLimiter, room: int, patience: float) -> None:
        self._limiter, self._room, self._patience = limiter, room, patience

    async def __aenter__(self) -> None:
        if self._limiter.statistics().tasks_waiting >= self._room:
            raise Busy("Too many files are being read at the moment; try again soon.", code="files_busy")
        try:
            with anyio.fail_after(self._patience):
                await self._limiter.acquire_on_behalf_of(self)
        except TimeoutError:
            raise Busy(
                "Other files have kept the server busy for too long; try again soon.", code="files_busy"
            ) from None

    async def __aexit__(self, *_: object) -> None:
        self._limiter.release_on_behalf_of(self)


# One set of lanes for each event loop: a limiter belongs to the loop it was made in.
_decoders: RunVar[Lane] = RunVar("duologue.media.decoders")
_single: RunVar[Lane] = RunVar("duologue.media.single")
_disks: RunVar[Lane] = RunVar("duologue.media.disks")
_encoders: RunVar[Lane] = RunVar("duologue.media.encoders")
_machine: RunVar[Lane] = RunVar("duologue.media.machine")


def run(function: Callable[..., T], *args: object) -> Awaitable[T]:
    """Decode something: at most two at once. Raises Busy."""
    return _lane(_decoders, DECODERS).run(function, *args)


async def run_alone(function: Callable[..., T], *args: object) -> T:
    """Decode something with a library that must not run twice at once (PDFium). Raises Busy."""
    async with _lane(_single, 1).turn():
        return await run(function, *args)


def encode(function: Callable[..., T], *args: object) -> Awaitable[T]:
    """Encode a moment of sound: at most two at once, and never behind a document that is drawn. Raises Busy."""
    return _lane(_encoders, ENCODERS).run(function, *args)


def disk(function: Callable[..., T], *args: object) -> Awaitable[T]:
    """Read or write a file: at most four at once. Raises Busy."""
    return _lane(_disks, DISKS).run(function, *args)


def machine(function: Callable[..., T], *args: object) -> Awaitable[T]:
    """Ask what this machine has, one at a time: that may take seconds, in which files go on being read. Raises Busy."""
    return _lane(_machine, 1).run(function, *args)


def _lane(kept: RunVar[Lane], threads: int) -> Lane:
    lane = kept.get(None)
    if lane is None:
        lane = Lane(threads)
        kept.set(lane)
    return lane
