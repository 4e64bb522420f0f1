"""Threads for blocking calls. No other file makes threads.

Model libraries, decoders and disks block. A `ThreadLane` runs such calls on a limited number of threads and carries
their results and items back to the event loop. The worker gives every engine a lane; the gateway shares `disk_io` and
`hardware_io` from here, and the lanes of `media.decoding`. Lanes are separate so that an upload continues while a long
document is rendered.

A thread cannot be stopped from outside. A call that has begun is awaited, even by a cancelled caller, so what runs here
is either short (one picture, one page, one chunk of a file) or a stream that checks what `emit` returns.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Generic, NamedTuple, TypeVar

import anyio
from anyio import from_thread, lowlevel, to_thread
from anyio.lowlevel import RunVar

from duologue.errors import Busy

T = TypeVar("T")
Emit = Callable[[T], bool]
"""Called in the lane's thread. True: continue; False: the consumer has left, stop."""

WAITING = 256
"""Calls that may wait for one of the shared lanes; the next one is refused."""
PATIENCE = 120.0
"""Seconds a call waits for a thread of a shared lane."""
DISK_THREADS = 4

log = logging.getLogger("duologue.threads")


class Refusal(NamedTuple):
    """What a caller of a lane reads when the queue is full, and when no thread came free in time."""

    full: str
    timeout: str
    code: str = Busy.code


BUSY = Refusal(
    "Too many requests are waiting for a thread at the moment; try again soon.",
    "No thread came free in time; try again soon.",
)


class ThreadLane:
    """At most `threads` blocking calls at a time; later ones wait and may be cancelled while they wait.

    `waiting` bounds how many may wait, `patience` for how many seconds; None is no bound. Beyond a bound a call raises
    Busy with a sentence of `refusal`.
    """

    def __init__(
        self,
        threads: int,
        *,
        waiting: int | None = None,
        patience: float | None = None,
        refusal: Refusal = BUSY,
    ) -> None:
        self._limiter = anyio.CapacityLimiter(threads)
        self._waiting, self._patience, self._refusal = waiting, patience, refusal

    async def run(self, function: Callable[..., T], *args: object) -> T:
        """The result of `function(*args)`, called in a thread. Raises Busy."""
        async with self.turn():
            # A fresh limiter: this call already holds its place in the lane.
            return await to_thread.run_sync(function, *args, limiter=anyio.CapacityLimiter(1))

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Hold one of the lane's places without running anything in it. Raises Busy."""
        if self._waiting is not None and self._limiter.statistics().tasks_waiting >= self._waiting:
            raise Busy(self._refusal.full, code=self._refusal.code)
        borrower = object()
        try:
            # Only the wait is limited: a call that has begun runs for as long as it takes.
            with anyio.fail_after(self._patience):
                await self._limiter.acquire_on_behalf_of(borrower)
        except TimeoutError:
            raise Busy(self._refusal.timeout, code=self._refusal.code) from None
        try:
            yield
        finally:
            self._limiter.release_on_behalf_of(borrower)

    @asynccontextmanager
    async def stream(self, step: Callable[[Emit[T]], None], size: int) -> AsyncIterator[AsyncIterator[T]]:
        """Run `step(emit)` in a thread and iterate over what it emits, at most `size` items ahead of the consumer.

        What `step` raises is raised by the iterator, after the items before it. Leaving the context, in whatever
        way, makes `emit` return False; the context is left only when the thread has ended.
        """
        bridge = _Bridge[T](size)
        failure: Exception | None = None
        async with anyio.create_task_group() as group:
            group.start_soon(self._drive, step, bridge)
            try:
                yield bridge
            except Exception as error:  # noqa: BLE001
                # Carried around the task group, which would wrap it in an ExceptionGroup.
                failure = error
            finally:
                bridge.leave()
                # A step that still waits for its thread never begins; one that has begun is awaited.
                group.cancel_scope.cancel()
        if bridge.unread_failure is not None:
            log.warning(
                "an engine failed after its caller had left: %s",
                bridge.unread_failure,
                exc_info=bridge.unread_failure,
            )
        if failure is not None:
            raise failure

    async def _drive(self, step: Callable[[Emit[T]], None], bridge: _Bridge[T]) -> None:
        failure: Exception | None = None
        try:
            await self.run(step, bridge.emit)
        except Exception as error:  # noqa: BLE001
            failure = error
        finally:
            bridge.end(failure)


class SharedLane:
    """A bounded lane for the whole process, to be made when a module is imported.

    A limiter belongs to the event loop it was made in, so each loop gets a `ThreadLane` of its own at its first call.
    """

    def __init__(self, name: str, threads: int, refusal: Refusal) -> None:
        self._threads, self._refusal = threads, refusal
        self._lane: RunVar[ThreadLane] = RunVar(f"duologue.threads.{name}")

    @property
    def lane(self) -> ThreadLane:
        """The lane of the running event loop."""
        lane = self._lane.get(None)
        if lane is None:
            lane = ThreadLane(self._threads, waiting=WAITING, patience=PATIENCE, refusal=self._refusal)
            self._lane.set(lane)
        return lane


_disk = SharedLane(
    "disk",
    DISK_THREADS,
    Refusal(
        "Too many files are being read or written at the moment; try again soon.",
        "Other files kept the disk busy for too long; try again soon.",
        "files_busy",
    ),
)
_hardware = SharedLane(
    "hardware",
    1,
    Refusal(
        "Too many requests are waiting to learn what this machine has; try again soon.",
        "Finding out what this machine has took too long; try again soon.",
    ),
)


async def disk_io(function: Callable[..., T], *args: object) -> T:
    """Run a call that reads or writes files: at most four at once. Raises Busy (`files_busy`)."""
    return await _disk.lane.run(function, *args)


async def hardware_io(function: Callable[..., T], *args: object) -> T:
    """Run a call that queries the hardware: one at a time, as a driver may take seconds. Raises Busy (`busy`)."""
    return await _hardware.lane.run(function, *args)


class _Bridge(Generic[T]):
    """The bounded queue from one thread to one consumer on the event loop.

    A plain lock guards it, held for a few instructions and never over an await. The consumer leaves an event in `_wake`
    before it waits; whichever side changes the state takes the event out under the lock and sets it outside, so that
    the loop is never entered while the lock is held.
    """

    def __init__(self, size: int) -> None:
        if size < 1:
            raise ValueError("a stream needs room for at least one item")
        self._size = size
        self._items: deque[T] = deque()
        self._room = threading.Condition()
        self._wake: anyio.Event | None = None
        self._left = False
        self._ended = False
        self._failure: Exception | None = None
        self.unread_failure: Exception | None = None
        """What the thread raised, until the iterator has raised it to the consumer."""

    def emit(self, item: T) -> bool:
        """From the thread: hand over one item, waiting while the queue is full."""
        with self._room:
            while len(self._items) >= self._size and not self._left:
                self._room.wait()
            if self._left:
                return False
            self._items.append(item)
            wake, self._wake = self._wake, None
        if wake is not None:
            from_thread.run_sync(wake.set)
        return True

    def end(self, failure: Exception | None) -> None:
        """From the event loop: the thread has ended."""
        with self._room:
            self._ended = True
            self._failure = self.unread_failure = failure
            wake, self._wake = self._wake, None
        if wake is not None:
            wake.set()

    def leave(self) -> None:
        """From the event loop: the consumer has left; a thread that waits for room continues and is stopped."""
        with self._room:
            self._left = True
            self._items.clear()
            self._room.notify()

    def __aiter__(self) -> _Bridge[T]:
        return self

    async def __anext__(self) -> T:
        # A consumer that is always behind must still let the loop turn, and notice its own cancellation.
        await lowlevel.checkpoint()
        while True:
            with self._room:
                if self._items:
                    item = self._items.popleft()
                    self._room.notify()
                    return item
                if self._failure is not None:
                    self.unread_failure = None
                    raise self._failure
                if self._ended or self._left:
                    raise StopAsyncIteration
                wake = self._wake = anyio.Event()
            await wake.wait()
