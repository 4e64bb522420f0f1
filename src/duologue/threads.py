"""The lane: the only place where threads are made.

Model libraries block. A lane lends each blocking call one of its threads and carries what it yields back to the
event loop. Owns the crossing: pressure towards the thread, errors towards the consumer, and the promise that a
thread has really ended before its caller goes on. Knows nothing of models.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Generic, TypeVar

import anyio
from anyio import from_thread, lowlevel, to_thread

T = TypeVar("T")
Emit = Callable[[T], bool]
"""Called in the lane's thread. True: go on; False: nobody listens any more, end."""

log = logging.getLogger("duologue.engines")


class Lane:
    """At most `threads` blocking calls at a time; whoever comes later waits, and may be cancelled while waiting."""

    def __init__(self, threads: int) -> None:
        self._limiter = anyio.CapacityLimiter(threads)

    async def run(self, step: Callable[[], T]) -> T:
        """The result of `step`, called in a thread. Once begun it is waited for, even by a cancelled caller."""
        return await to_thread.run_sync(step, limiter=self._limiter)

    @asynccontextmanager
    async def stream(self, step: Callable[[Emit[T]], None], size: int) -> AsyncIterator[AsyncIterator[T]]:
        """Run `step(emit)` in a thread and iterate over what it emits, at most `size` items ahead of the consumer.

        What `step` raises is raised by the iterator, after the items before it. Leaving the context, in whatever
        way, makes `emit` answer False; the context is left only when the thread has ended.
        """
        crossing = _Crossing[T](size)
        failure: Exception | None = None
        async with anyio.create_task_group() as group:
            group.start_soon(self._drive, step, crossing)
            try:
                yield crossing
            except Exception as error:  # noqa: BLE001
                # Carried around the task group, which would wrap it in an ExceptionGroup.
                failure = error
            finally:
                crossing.leave()
                # A step still waiting for its thread never begins; one that has begun is waited for.
                group.cancel_scope.cancel()
        if crossing.unheard is not None:
            log.warning(
                "an engine failed after its caller had left: %s", crossing.unheard, exc_info=crossing.unheard
            )
        if failure is not None:
            raise failure

    async def _drive(self, step: Callable[[Emit[T]], None], crossing: _Crossing[T]) -> None:
        failure: Exception | None = None
        try:
            await to_thread.run_sync(step, crossing.emit, limiter=self._limiter)
        except Exception as error:  # noqa: BLE001
            failure = error
        finally:
            crossing.end(failure)


class _Crossing(Generic[T]):
    """The bounded way from one thread to one consumer. The lock is held for a few instructions, never over a wait."""

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
        self.unheard: Exception | None = None
        """What the thread raised, until the consumer has met it."""

    def emit(self, item: T) -> bool:
        """From the thread: hand over one item, waiting while the buffer is full."""
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
            self._failure = self.unheard = failure
            wake, self._wake = self._wake, None
        if wake is not None:
            wake.set()

    def leave(self) -> None:
        """From the event loop: nobody listens any more."""
        with self._room:
            self._left = True
            self._items.clear()
            self._room.notify()

    def __aiter__(self) -> _Crossing[T]:
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
                    self.unheard = None
                    raise self._failure
                if self._ended or self._left:
                    raise StopAsyncIteration
                wake = self._wake = anyio.Event()
            await wake.wait()
