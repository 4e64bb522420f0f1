"""The way to a worker on this machine: two WebSockets to its loopback address, and pings. `WorkerKeeper` makes one for each process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, WebSocketException

from duologue.gateway.workers.heartbeat import Heartbeat
from duologue.gateway.workers.transport import Channels
from duologue.wire import worker_protocol

OPEN_TIMEOUT = 600.0
"""Seconds from a worker's start to its first message. A dead worker is noticed at once by its closed socket."""


class LocalChannel:
    """A WebSocket as a `FrameChannel`."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket

    async def receive(self) -> bytes:
        try:
            return await self.socket.recv(decode=False)
        except ConnectionClosed as closed:
            raise EOFError from closed

    async def send(self, frame: bytes) -> None:
        try:
            await self.socket.send(frame)
        except ConnectionClosed as closed:
            raise EOFError from closed


class LocalTransport:
    """`waits_for_disk`: whether the worker's process does."""

    def __init__(self, address: str, secret: str, waits_for_disk: Callable[[], bool] = lambda: False) -> None:
        self.peer = address
        self._secret = secret
        self._waits_for_disk = waits_for_disk
        self._live: ClientConnection | None = None
        self._pong: Awaitable[float] | None = None
        self._heartbeat = Heartbeat()

    @property
    def reachable(self) -> bool:
        return True

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Channels]:
        try:
            async with self._socket("live") as live, self._socket("bulk") as bulk:
                self._live = live
                yield Channels(LocalChannel(live), LocalChannel(bulk))
        except WebSocketException as error:
            raise OSError(str(error)) from error

    async def answer(self) -> None:
        assert self._live is not None, "the channels are open"
        try:
            if self._pong is None:
                self._pong = await self._live.ping()
            await asyncio.shield(self._pong)
        except ConnectionClosed as closed:
            raise EOFError from closed
        self._pong = None
        self._heartbeat.answered()

    def beaten(self, number: int) -> None:
        pass  # it is asked by pings

    def hangs(self, *, loading: bool) -> bool:
        return self._pong is not None and self._heartbeat.missed(
            loading=loading, waits_for_disk=self._waits_for_disk()
        )

    def abort(self) -> None:
        if self._live is not None:
            self._live.transport.abort()

    def _socket(self, name: str) -> connect:
        return connect(
            f"ws://{self.peer}/{name}",
            additional_headers={"Authorization": f"Bearer {self._secret}"},
            compression=None,
            max_size=worker_protocol.MAX_MESSAGE,
            open_timeout=OPEN_TIMEOUT,
            ping_interval=None,
            close_timeout=1,
            proxy=None,
        )
