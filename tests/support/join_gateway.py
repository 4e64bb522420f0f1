"""The gateway's side of a joined worker, as small as it can be: it lets workers in, begins work, and can break its connections."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager

import anyio
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from duologue.linked_socket import LinkedSocket
from duologue.notifier import Notifier
from duologue.values.events import Event, TextDelta
from duologue.wire import worker_protocol
from duologue.wire.machines.join_protocol import (
    FOR_GOOD,
    GOING,
    SESSION_UNKNOWN,
    Gateways,
    Join,
    JoinBulk,
    Refuse,
    Welcome,
    decode_opening,
    encode_opening,
)

KEY = "the-key"


class _Served:
    """A server's WebSocket as a connection of a `LinkedSocket`."""

    def __init__(self, socket: ServerConnection) -> None:
        self._socket = socket

    async def receive(self) -> bytes:
        try:
            return await self._socket.recv(decode=False)
        except ConnectionClosed as error:
            raise EOFError from error

    async def send(self, frame: bytes) -> None:
        try:
            await self._socket.send(frame)
        except ConnectionClosed as error:
            raise EOFError from error


class JoinedSession:
    """A session of a worker, and everything that it said."""

    def __init__(self, join: Join) -> None:
        self.join = join
        self.live, self.bulk = LinkedSocket(), LinkedSocket()
        self.said: list[worker_protocol.Up] = []
        self.connections = 0
        self.gone = False
        """Whether the worker said that it does not come back with this session."""
        self.for_good = False
        """Whether it said that it does not come back at all."""
        self._changed = Notifier()

    async def send(self, *messages: worker_protocol.Down, bulk: bool = False) -> None:
        await (self.bulk if bulk else self.live).send(worker_protocol.encode(messages))

    async def read(self) -> None:
        joiner = worker_protocol.FragmentJoiner()
        try:
            while True:
                for message in worker_protocol.decode_up(await self.live.receive()):
                    if isinstance(message, worker_protocol.Fragment):
                        if (whole := joiner.add(message)) is not None:
                            self.said += worker_protocol.decode_up(whole)
                    else:
                        self.said.append(message)
                self._changed.notify()
        except EOFError:
            self.changed()

    async def read_bulk(self) -> None:
        """A worker says nothing there; a link notices by reading that its connection broke."""
        try:
            while True:
                await self.bulk.receive()
        except EOFError:
            return

    def changed(self) -> None:
        self._changed.notify()

    async def until(self, enough: Callable[[JoinedSession], object]) -> None:
        """Return once that is so."""
        while not enough(self):
            await self._changed.wait()

    async def until_ready(self) -> None:
        await self.until(lambda session: any(report.state == "ready" for report in session.reports))

    @property
    def reports(self) -> list[worker_protocol.Report]:
        return [message for message in self.said if isinstance(message, worker_protocol.Report)]

    @property
    def elsewhere(self) -> list[tuple[int, ...]]:
        return [message.slots for message in self.said if isinstance(message, worker_protocol.SlotsElsewhere)]

    def closed(self, lease: int) -> bool:
        return worker_protocol.Closed(lease) in self.said

    def events(self, lease: int) -> list[Event]:
        emits = (message for message in self.said if isinstance(message, worker_protocol.Emit))
        return [event for emit in emits if emit.lease == lease for event in emit.events]

    def text(self, lease: int) -> str:
        return "".join(event.text for event in self.events(lease) if isinstance(event, TextDelta))


class JoinGateway:
    """A gateway whose process has the id `name`. `refusal`: what it answers every worker with, until it is None."""

    def __init__(self, name: str = "g1", lease_s: float = 600.0) -> None:
        self.name, self.lease_s = name, lease_s
        self.gateways: tuple[str, ...] = ()
        self.refusal: Refuse | None = None
        self.is_revoked = False
        """Whether the key is worth nothing any more."""
        self.sessions: dict[str, JoinedSession] = {}
        self.dials = 0
        self.address = ""
        self._open: set[ServerConnection] = set()
        self._changed = Notifier()
        self._tasks: anyio.abc.TaskGroup | None = None

    @asynccontextmanager
    async def serving(
        self, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None
    ) -> AsyncIterator[None]:
        async with anyio.create_task_group() as self._tasks:
            async with serve(
                self._accept,
                host,
                0,
                ssl=tls,
                process_request=self._check,
                compression=None,
                max_size=None,
                close_timeout=1,
            ) as server:
                port = next(iter(server.sockets)).getsockname()[1]
                self.address = f"{'https' if tls else 'http'}://{host}:{port}"
                yield
                self.cut()
            self._tasks.cancel_scope.cancel()

    async def session(self, number: int = 0) -> JoinedSession:
        """The session of this number, waiting for it."""
        while len(self.sessions) <= number:
            await self._changed.wait()
        return list(self.sessions.values())[number]

    async def until_dialled(self, times: int) -> None:
        while self.dials < times:
            await self._changed.wait()

    def cut(self) -> None:
        """Break every connection, without a word."""
        for socket in self._open:
            socket.transport.abort()

    def forget(self, name: str) -> None:
        """Be another process, which knows nothing."""
        self.name = name
        for session in self.sessions.values():
            session.live.close()
            session.bulk.close()
        self.sessions = {}
        self.cut()

    async def tell_gateways(self, addresses: Iterable[str]) -> None:
        """Tell every worker of a change."""
        for socket in self._open:
            if socket.request is not None and socket.request.path.endswith("/live"):
                await socket.send(encode_opening(Gateways(tuple(addresses))))

    def _check(self, socket: ServerConnection, request: Request) -> Response | None:
        if self.is_revoked or request.headers.get("Authorization") != f"Bearer {KEY}":
            return socket.respond(401, "no")
        return None

    async def _accept(self, socket: ServerConnection) -> None:
        self._open.add(socket)
        try:
            await self._serve(socket)
        except ConnectionClosed:
            return
        finally:
            self._open.discard(socket)

    async def _serve(self, socket: ServerConnection) -> None:
        opening = decode_opening(await socket.recv())
        self.dials += isinstance(opening, Join)
        self._changed.notify()
        session = self._let_in(opening)
        if isinstance(session, Refuse):
            await socket.send(encode_opening(session))
            return
        link = session.bulk if isinstance(opening, JoinBulk) else session.live
        welcome = Welcome(
            opening.newest if isinstance(opening, Join) else 7,
            self.name,
            self.lease_s,
            link.link.received,
            self.gateways or (self.address,),
        )
        await socket.send(encode_opening(welcome))
        if isinstance(opening, Join):
            session.connections += 1
        await link.serve(_Served(socket), opening.received)
        await socket.close()
        if socket.close_code == GOING:
            session.gone = True
            session.for_good = socket.close_reason == FOR_GOOD
        session.changed()

    def _let_in(self, opening: Join | JoinBulk) -> JoinedSession | Refuse:
        if self.refusal is not None:
            return self.refusal
        session = self.sessions.get(opening.session)
        if session is None:
            if isinstance(opening, JoinBulk) or opening.received:
                return Refuse(SESSION_UNKNOWN, "I do not know this session.", 0)
            session = self.sessions[opening.session] = JoinedSession(opening)
            assert self._tasks is not None
            self._tasks.start_soon(session.read)
            self._tasks.start_soon(session.read_bulk)
            self._changed.notify()
        return session
