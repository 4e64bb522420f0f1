"""Threads for blocking calls. No other file makes threads.

Model libraries, decoders and disks block. A `ThreadLane` runs such calls on a limited number of threads and carries
their results and items back to the event loop. The worker gives every engine a lane; the gateway shares `disk_io`,
`disk_cleanup`, `hardware_io` and `encoding` from here, and reads large requests with `in_thread` (`request_parsing`). Lanes
are separate so that a reply's sound does not wait behind a slow disk. Files that people send are not read in threads but in
processes that can be killed (`decoder`).

A thread cannot be stopped from outside. A call that has begun is awaited, even by a cancelled caller, so what runs here
is either short (one chunk of a file, a moment of sound) or a stream that checks what `emit` returns.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
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
ENCODING_THREADS = 2
LARGE = 32 * 1024
"""Bytes from which a request is read in a thread: below, reading takes a few milliseconds at most."""

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

    @property
    def busy(self) -> int:
        """The places that are taken. May be read from any thread."""
        return self._limiter.borrowed_tokens

    async def run(self, function: Callable[..., T], *args: object, never_refused: bool = False) -> T:
        """The result of `function(*args)`, called in a thread. Raises Busy, unless it is `never_refused`."""
        async with self.turn(never_refused=never_refused):
            return await in_thread(function, *args)

    @asynccontextmanager
    async def turn(self, *, never_refused: bool = False) -> AsyncIterator[None]:
        """Hold one of the lane's places without running anything in it. Raises Busy, unless it is `never_refused`."""
        most = None if never_refused else self._waiting
        if most is not None and self._limiter.statistics().tasks_waiting >= most:
            raise Busy(self._refusal.full, code=self._refusal.code)
        borrower = object()
        try:
            # Only the wait is limited: a call that has begun runs for as long as it takes.
            with anyio.fail_after(None if never_refused else self._patience):
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
_encoding = SharedLane(
    "encoding",
    ENCODING_THREADS,
    Refusal(
        "Too many files are being written at the moment; try again soon.",
        "Other files kept the server busy for too long; try again soon.",
        "files_busy",
    ),
)


async def disk_io(function: Callable[..., T], *args: object) -> T:
    """Run a call that reads or writes files: at most four at once. Raises Busy (`files_busy`)."""
    return await _disk.lane.run(function, *args)


async def disk_cleanup(function: Callable[..., T], *args: object) -> T:
    """Run a call that closes or removes a file, in the lane of `disk_io`. It waits for as long as it takes: what is not
    removed now would stay. Each one ends work that was bounded itself, so few wait."""
    return await _disk.lane.run(function, *args, never_refused=True)


async def hardware_io(function: Callable[..., T], *args: object) -> T:
    """Run a call that queries the hardware: one at a time, as a driver may take seconds. Raises Busy (`busy`)."""
    return await _hardware.lane.run(function, *args)


async def encoding(function: Callable[..., T], *args: object) -> T:
    """Run a call that encodes our own sound or packs an export: at most two at once. Raises Busy (`files_busy`)."""
    return await _encoding.lane.run(function, *args)


async def in_thread(function: Callable[..., T], *args: object) -> T:
    """Run a call in a thread at once. The caller holds a place that bounds how many run."""
    # A fresh limiter: AnyIO's own one would be shared with everything else.
    return await to_thread.run_sync(function, *args, limiter=anyio.CapacityLimiter(1))


def this_thread() -> int:
    """The number of the thread this is called in, as `sys._current_frames` has it."""
    return threading.get_ident()


@contextmanager
def repeatedly(function: Callable[[], None], every: float) -> Iterator[None]:
    """Call `function` every so many seconds in a thread of its own, while the context is open. It must be short."""
    ended = threading.Event()

    def run() -> None:
        while not ended.wait(every):
            function()

    thread = threading.Thread(target=run, name="duologue-watch", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


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
