"""The acceptor and its protocols on a real port, with a small application and a clock that the test moves."""

from __future__ import annotations

import contextlib
import socket
import ssl
from collections.abc import AsyncIterator, Callable
from typing import Any

import anyio
import anyio.lowlevel
import uvicorn
from anyio.abc import SocketStream
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect
from uvicorn.server import ServerState

from duologue.config.sections.connections import ConnectionSettings
from duologue.gateway.connections.acceptor import Acceptor
from duologue.gateway.connections.admission import Admission, ConnectionTable
from duologue.gateway.connections.guard import ConnectionGuard
from duologue.gateway.connections.http_protocol import GuardedHttpProtocol
from duologue.gateway.middleware.byte_ledger import ByteLedger
from duologue.gateway.middleware.bytes_in_flight import BytesInFlight
from duologue.gateway.middleware.message_limit import MessageLimit
from duologue.gateway.middleware.socket_answers import answering

GET = b"GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n"
HELD = b"GET /held HTTP/1.1\r\nHost: localhost\r\n\r\n"
HEAD = b"POST /size HTTP/1.1\r\nHost: localhost\r\n"


class BoundedServer:
    """`log`: the bounds that were met; `seen`: the messages that the application received; `ledger`: the bytes of the only user,
    ada; `reads` and `answers`: whether sockets are read, and answered, before `released`."""

    def __init__(
        self,
        settings: ConnectionSettings,
        *,
        per_address: int,
        total: int,
        shared: bool,
        in_flight: int,
        message_limits: dict[str, int],
    ) -> None:
        self._message_limits = message_limits
        self.now = 1000.0
        self.ledger = ByteLedger(in_flight)
        table = ConnectionTable(per_address=per_address, total=total, is_shared=lambda peer: shared)
        self.guard = ConnectionGuard(settings, table, lambda: self.now)
        self.port = 0
        self.released = anyio.Event()
        self.reads = self.answers = True
        self.seen: list[Any] = []
        self.log: list[str] = []
        met = self.guard.met

        def noted(bound: Any, peer: str) -> None:
            self.log.append(bound)
            met(bound, peer)

        self.guard.met = noted  # type: ignore[method-assign]

    @property
    def open(self) -> list[Any]:
        """The protocols of the open connections."""
        return list(self.guard.open)

    def application(self) -> ASGIApp:
        async def hello(request: Request) -> PlainTextResponse:
            return PlainTextResponse("hello")

        async def size(request: Request) -> PlainTextResponse:
            try:
                return PlainTextResponse(str(len(await request.body())))
            except Exception as error:
                self.seen.append(type(error).__name__)
                return PlainTextResponse("")

        async def held(request: Request) -> PlainTextResponse:
            await self.released.wait()
            return PlainTextResponse("held")

        async def large(request: Request) -> PlainTextResponse:
            return PlainTextResponse("x" * 20_000_000)

        async def headers(request: Request) -> PlainTextResponse:
            await request.body()
            return PlainTextResponse(" ".join(request.headers))

        async def echo(socket: WebSocket) -> None:
            await socket.accept()
            with contextlib.suppress(WebSocketDisconnect):
                while True:
                    if not self.reads:
                        await self.released.wait()
                    message = await socket.receive()
                    self.seen.append(message)
                    if message["type"] == "websocket.disconnect":
                        return
                    with answering(socket.scope):
                        if not self.answers:
                            await self.released.wait()
                        await socket.send_text(str(len(message.get("text") or message.get("bytes") or b"")))

        routed = Starlette(
            routes=[
                Route("/hello", hello),
                Route("/size", size, methods=["POST"]),
                Route("/held", held),
                Route("/large", large),
                Route("/headers", headers, methods=["POST"]),
                WebSocketRoute("/echo", echo),
            ]
        )
        counted = BytesInFlight(MessageLimit(routed, self._message_limits), self.ledger)

        async def of_ada(scope: Scope, receive: Receive, send: Send) -> None:
            scope["state"]["user"] = "ada"
            await counted(scope, receive, send)

        return of_ada

    async def pass_time(self, seconds: float) -> None:
        """Let the clock go on and the guard look, as often as it would within this time."""
        for _ in range(4):
            self.now += seconds / 4
            self.guard.look()
            await anyio.lowlevel.checkpoint()

    async def until(self, true: Callable[[], bool]) -> None:
        with anyio.fail_after(60):
            while not true():  # noqa: ASYNC110 - the event loop's own callbacks set no events
                await anyio.sleep(0.001)

    @contextlib.asynccontextmanager
    async def client(self, sent: bytes = b"") -> AsyncIterator[Client]:
        async with await anyio.connect_tcp("127.0.0.1", self.port) as stream:
            client = Client(stream)
            await client.send(sent)
            yield client


class Client:
    """One raw connection."""

    def __init__(self, stream: SocketStream) -> None:
        self.stream = stream

    async def send(self, data: bytes) -> None:
        """Send; a server that has closed may reset the connection meanwhile."""
        with contextlib.suppress(anyio.BrokenResourceError):
            await self.stream.send(data)

    async def read(self, until: bytes | None = None) -> bytes:
        """What comes until this text, or until the server closes."""
        data = b""
        with anyio.fail_after(60):
            while until is None or until not in data:
                try:
                    data += await self.stream.receive()
                except (anyio.EndOfStream, anyio.BrokenResourceError):
                    break
        return data


@contextlib.asynccontextmanager
async def bounded_server(
    *,
    per_address: int = 100,
    total: int = 100,
    shared: bool = False,
    in_flight: int = 2**30,
    context: ssl.SSLContext | None = None,
    message_limits: dict[str, int] | None = None,
    **settings: Any,
) -> AsyncIterator[BoundedServer]:
    made = BoundedServer(
        ConnectionSettings(**settings),
        per_address=per_address,
        total=total,
        shared=shared,
        in_flight=in_flight,
        message_limits=message_limits or {},
    )
    config = uvicorn.Config(
        made.application(),
        log_config=None,
        ws="websockets-sansio",
        ws_max_size=2**20,
        ws_per_message_deflate=False,
    )
    config.load()
    state = ServerState()

    def protocol(admission: Admission | None) -> GuardedHttpProtocol:
        return GuardedHttpProtocol(config, state, {}, guard=made.guard, admission=admission)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        made.port = listener.getsockname()[1]
        acceptor = Acceptor(made.guard, protocol, context)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(acceptor.run, listener)
            try:
                yield made
            finally:
                made.released.set()
                await acceptor.stop()
                for connection in list(state.connections):
                    connection.transport.abort()
                await made.until(lambda: not state.tasks and not state.connections)
    assert (made.guard.table.count, made.guard.open, made.guard.idle) == (0, set(), {})
