"""The transport to a joined worker: two sockets that survive broken connections, and the lease that ends them when no connection comes back.

`join_socket` passes each connection of a session to `serve`; `JoinedKeeper` runs a `WorkerConnection` over it.
"""

from __future__ import annotations

import logging
import math
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Literal

import anyio

from duologue.gateway.workers.heartbeat import LOADING_PATIENCE, PATIENCE
from duologue.gateway.workers.transport import Channels
from duologue.linked_socket import Connection, LinkedSocket
from duologue.notifier import Notifier
from duologue.wire import worker_protocol

log = logging.getLogger(__name__)

Line = Literal["live", "bulk"]
LARGEST = 256 * 1024 * 1024
"""Bytes of the large messages that a joined worker may have on their way: clips, pictures."""


class JoinedTransport:
    """One session. `on_reach` is called when both sockets are connected, and when one of them breaks."""

    def __init__(
        self,
        peer: str,
        lease_s: float,
        clock: Callable[[], float],
        on_reach: Callable[[bool], None] = lambda reach: None,
    ) -> None:
        self.peer = peer
        self.on_reach = on_reach
        self.lines: dict[Line, LinkedSocket] = {"live": LinkedSocket(), "bulk": LinkedSocket()}
        self.ended = ""
        """Why the session is over; "" while it is not."""
        self.expired = False
        """Whether it ended because it was out of reach for too long."""
        self.left_for_good = False
        """Whether the worker said that no other process of it will come."""
        self._lease_s = lease_s
        self._clock = clock
        self._broken_at: float | None = clock()
        self._serving: dict[Line, anyio.CancelScope] = {}
        self._changed = Notifier()
        self._number = 0
        self._beaten: anyio.Event | None = None
        self._missed = 0

    @property
    def reachable(self) -> bool:
        return self._broken_at is None

    @property
    def lease_left(self) -> float:
        """Seconds until the session ends if no connection comes; the whole lease while there is one."""
        if self._broken_at is None:
            return self._lease_s
        return max(0.0, self._broken_at + self._lease_s - self._clock())

    async def serve(self, line: Line, connection: Connection, received: int) -> None:
        """Use this connection until it breaks, another one takes its place, or the session ends."""
        if (before := self._serving.get(line)) is not None:
            before.cancel()
        with anyio.CancelScope() as scope:
            self._serving[line] = scope
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._connected)
                await self.lines[line].serve(connection, received)
                tasks.cancel_scope.cancel()
        if self._serving.get(line) is scope:
            del self._serving[line]
        if self.lines[line].broken:
            self.end(self.lines[line].broken)
        self._look()

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Channels]:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._keep_lease)
            try:
                yield Channels(self.lines["live"], self.lines["bulk"])
            finally:
                tasks.cancel_scope.cancel()

    async def answer(self) -> None:
        if self.ended:
            raise EOFError
        if self._beaten is None:
            self._number += 1
            beaten = anyio.Event()
            await self.lines["live"].send(worker_protocol.encode([worker_protocol.Beat(self._number)]))
            self._beaten = beaten
        await self._beaten.wait()
        if self.ended:
            raise EOFError
        self._beaten, self._missed = None, 0

    def beaten(self, number: int) -> None:
        if number == self._number and self._beaten is not None:
            self._beaten.set()

    def hangs(self, *, loading: bool) -> bool:
        """Never: the lease decides whether the worker is lost. A silent connection is closed, and the worker dials again."""
        if self._beaten is None or not self.reachable:
            self._missed = 0
            return False
        self._missed += 1
        if self._missed >= (LOADING_PATIENCE if loading else PATIENCE):
            self._missed = 0
            log.warning("worker %s does not answer; its connection is closed", self.peer)
            for scope in list(self._serving.values()):
                scope.cancel()
        return False

    def abort(self) -> None:
        self.end("its connection was given up")

    def end(self, why: str) -> None:
        """The session is over."""
        self.ended = self.ended or why
        for line in self.lines.values():
            line.close()
        for scope in list(self._serving.values()):
            scope.cancel()
        if self._beaten is not None:
            self._beaten.set()
        self._changed.notify()

    def leave(self, *, for_good: bool) -> None:
        """The worker said goodbye."""
        self.left_for_good = for_good
        self.end("it has left")

    async def dismiss(self, message: worker_protocol.Dismiss, patience: float) -> None:
        """Tell the worker to end its process, and end the session once it has left, or after `patience` seconds."""
        with anyio.move_on_after(patience):
            try:
                await self.lines["live"].send(worker_protocol.encode([message]))
                # What it still sends is read to its end, so that its goodbye arrives.
                while True:
                    await self.lines["live"].receive()
            except EOFError:
                pass
        self.end("it was told to end")

    async def until_ended(self) -> None:
        """Return once the session is over."""
        while not self.ended:
            await self._changed.wait()

    async def _connected(self) -> None:
        # In a task beside `serve`, which connects the line before it waits.
        self._look()

    def _look(self) -> None:
        """Tell whether the worker can be reached, where that has changed."""
        reachable = all(line.connected for line in self.lines.values()) and not self.ended
        if reachable is self.reachable:
            return
        self._broken_at = None if reachable else self._clock()
        self._changed.notify()
        self.on_reach(reachable)

    async def _keep_lease(self) -> None:
        """End the session when it has been out of reach for the lease."""
        while not self.ended:
            with anyio.move_on_after(math.inf if self.reachable else self.lease_left) as waited:
                await self._changed.wait()
            if waited.cancelled_caught and not self.reachable:
                self.expired = True
                self.end(f"it was out of reach for {self._lease_s:.0f} s")
