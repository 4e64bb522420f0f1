"""A worker on another machine, seen from the gateway: it joins over real sockets, and a test answers by hand."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, Literal

import anyio
import anyio.abc
from msgspec.structs import replace
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from duologue.linked_socket import LinkedSocket
from duologue.notifier import Notifier
from duologue.values.requests import ModelCard
from duologue.wire import worker_protocol
from duologue.wire.machines.join_protocol import Join, JoinBulk, Refuse, Welcome, decode_reply, encode_opening

PATIENCE = 60
SESSION = "session-of-the-test-1"
JOIN = Join("box", "gpu0", SESSION, 7, 7, version="1.0", engine="scripted", model="mini")


class Line:
    """An open socket, as a `LinkedSocket` uses it."""

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


class JoinedStandIn:
    """`received`: every message that came down, beats left out; those are answered."""

    def __init__(self, address: str, key: str = "worker", join: Join = JOIN) -> None:
        self.address, self.key, self.join = address, key, join
        self.lines = {"live": LinkedSocket(), "bulk": LinkedSocket()}
        self.sockets: dict[str, ClientConnection] = {}
        self.received: list[worker_protocol.Down] = []
        self.welcome: Welcome | None = None
        self.answers_beats = True
        self._joiner = worker_protocol.FragmentJoiner()
        self._notifier = Notifier()

    @asynccontextmanager
    async def joined(self) -> AsyncIterator[None]:
        """Within a session: connected, and read; the connections are closed at the end."""
        async with anyio.create_task_group() as tasks:
            for line in self.lines.values():
                tasks.start_soon(self._read, line)
            await self.dial(tasks)
            yield
            tasks.cancel_scope.cancel()
        for socket in self.sockets.values():
            await socket.close()

    async def dial(self, tasks: anyio.abc.TaskGroup) -> None:
        """Open both sockets, perhaps again."""
        for name in ("live", "bulk"):
            socket, reply, _received = await self.open(name)
            assert isinstance(reply, Welcome), reply
            self.welcome = reply
            self.sockets[name] = socket
            tasks.start_soon(self.lines[name].serve, Line(socket), reply.received)

    async def open(
        self, name: Literal["live", "bulk"] | str
    ) -> tuple[ClientConnection, Welcome | Refuse, int]:
        socket = await self.connect(name)
        received = self.lines[name].link.received
        opening = (
            replace(self.join, received=received) if name == "live" else JoinBulk(self.join.session, received)
        )
        await socket.send(encode_opening(opening))
        with anyio.fail_after(PATIENCE):
            return socket, decode_reply(await socket.recv()), received

    async def connect(self, name: str) -> ClientConnection:
        return await connect(
            f"ws://{self.address}/join/{name}",
            additional_headers={"Authorization": f"Bearer {self.key}"},
            compression=None,
            proxy=None,
        )

    def cut(self) -> None:
        """The network is gone."""
        for socket in self.sockets.values():
            socket.transport.abort()

    async def send(self, *messages: worker_protocol.Up) -> None:
        await self.lines["live"].send(worker_protocol.encode(messages))

    async def ready(self, slots: int = 2, model: str = "mini", **fields: Any) -> None:
        card = ModelCard(model, "scripted", 2048, slots=slots, **fields)
        await self.send(worker_protocol.Report("gpu0", "ready", card=card))

    async def until(self, true: Callable[[], bool]) -> None:
        with anyio.fail_after(PATIENCE):
            while not true():
                await self._notifier.wait()

    def leases(self) -> list[int]:
        """What was begun, in order."""
        return [message.lease for message in self.received if isinstance(message, worker_protocol.Begin)]

    async def _read(self, line: LinkedSocket) -> None:
        try:
            while True:
                for message in worker_protocol.decode_down(await line.receive()):
                    await self._take(message)
        except EOFError:
            self._notifier.notify()

    async def _take(self, message: worker_protocol.Down) -> None:
        if isinstance(message, worker_protocol.Fragment):
            if (whole := self._joiner.add(message)) is not None:
                self.received += worker_protocol.decode_down(whole)
        elif isinstance(message, worker_protocol.Beat):
            if self.answers_beats:
                await self.send(worker_protocol.Beaten(message.number))
        else:
            self.received.append(message)
        self._notifier.notify()
