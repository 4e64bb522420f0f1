"""A server with duplex sessions over seats of the test, and callers who speak its protocol over real sockets."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any

import anyio
from fastapi import FastAPI
from tests.gateway.fake_seats import FakeGenerate, FakeLease, FakeSeats
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from duologue.gateway.calls.call_services import CallServices
from duologue.gateway.duplex.duplex_socket import DuplexSessions, router
from duologue.gateway.middleware.socket_answers import SOCKET_ANSWERS, SocketAnswers
from duologue.gateway.models.registry import ModelRegistry
from duologue.values.generate import Generate
from duologue.values.requests import ModelCard

MINI = ModelCard("mini", "scripted", 2048)
SEEING = ModelCard("seeing", "scripted", 2048, modalities=("text", "image"))
JPEG = "/9j/4AAQSkZJRg=="
SECOND = base64.b64encode(bytes(4 * 16000)).decode()
SPOKEN = b"\1\0" * 24000


class Seat(FakeLease):
    """A seat whose end can be waited for."""

    left: anyio.Event | None = None

    @property
    def gone(self) -> bool:
        return self.left is not None and self.left.is_set()

    @gone.setter
    def gone(self, gone: bool) -> None:
        self.left = anyio.Event() if self.left is None else self.left
        if gone:
            self.left.set()

    async def is_left(self) -> None:
        """Returns once nobody has it."""
        assert self.left is not None
        with anyio.fail_after(60):
            await self.left.wait()


class Caller:
    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket

    async def says(self, kind: str, **fields: Any) -> None:
        await self.socket.send(json.dumps({"type": kind, **fields}))

    async def hears(self) -> Any:
        with anyio.fail_after(60):
            return json.loads(await self.socket.recv())

    async def prepares(self, **fields: Any) -> Any:
        """From the seat to the session."""
        assert await self.hears() == {"type": "queue_done"}
        await self.says("prepare", **fields)
        return await self.hears()

    async def speaks(self, **fields: Any) -> Any:
        """A second of sound, and its result."""
        await self.says("audio_chunk", audio_base64=SECOND, **fields)
        return await self.hears()

    def breaks_off(self) -> None:
        """The connection is lost, without a word."""
        self.socket.transport.abort()

    async def closes(self, code: int) -> None:
        """Close as clients do; 1005 is no code at all."""
        if code != 1005:
            await self.socket.close(code)
            return
        with suppress(ConnectionClosed):
            self.socket.protocol.send_close()
            self.socket.send_data()
        await self.socket.wait_closed()

    async def is_closed(self) -> tuple[int | None, str | None]:
        with anyio.fail_after(60), suppress(ConnectionClosed):
            async for _ in self.socket:
                pass
        return self.socket.close_code, self.socket.close_reason


class DuplexServer:
    """A server with these seats; `connect` is another socket to it."""

    def __init__(self, address: str) -> None:
        self.address = address

    @asynccontextmanager
    async def connect(self, id: str = "adx_1") -> AsyncIterator[Caller]:
        async with connect(f"ws://{self.address}/ws/duplex/{id}") as socket:
            yield Caller(socket)


Open = Callable[..., AbstractAsyncContextManager[DuplexServer]]


@asynccontextmanager
async def serve_duplex(
    serve: Any,
    *seats: FakeLease,
    generate: Generate | None = None,
    cards: tuple[ModelCard, ...] = (MINI,),
    most: int = 20,
    voice: bool = True,
    answers: SocketAnswers | None = None,
    **options: Any,
) -> AsyncIterator[DuplexServer]:
    """The server; `voice` False: it has none."""
    services = CallServices(
        FakeSeats(*seats) if voice else None,  # type: ignore[arg-type]
        generate or FakeGenerate(),
        ModelRegistry(lambda: cards, {}),
        **options,
    )
    sessions = DuplexSessions(services, most=most)
    app = FastAPI()
    app.include_router(router(sessions))

    async def with_state(scope: Any, receive: Any, send: Any) -> None:
        scope["state"] = {"request_id": "r-1", "user": "ada", SOCKET_ANSWERS: answers}
        await app(scope, receive, send)

    async with anyio.create_task_group() as tasks:
        await tasks.start(sessions.run)
        async with serve(with_state) as address:
            yield DuplexServer(address)
        tasks.cancel_scope.cancel()
