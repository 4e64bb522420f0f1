"""The worker program: two sockets for the gateway, `/health` and `/metrics`, around one station.

The composition root of the worker process. It is started by the gateway with everything it needs in its environment:
a listening socket, the gateway's secret and its loadout. When the gateway dies, however it dies, it ends.
"""

from __future__ import annotations

import hmac
import logging
import os
import select
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import anyio
import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from duologue import telemetry
from duologue.wire import worker_protocol
from duologue.worker.connection import Emit, Tell, WorkerLink
from duologue.worker.inbox import ControlInbox
from duologue.worker.language import LanguageStation
from duologue.worker.service import WorkerService
from duologue.worker.state import Standing
from duologue.worker.voice import VOICE, VoiceStation

log = logging.getLogger(__name__)

FRAME_LIMIT = 64 * 1024 * 1024
"""Bytes of one frame from the gateway; larger messages come in pieces."""


class Worker:
    """One station, its standing, and the link to the gateway."""

    def __init__(self, loadout: worker_protocol.LoadSpec) -> None:
        self.loadout = loadout
        self.standing = Standing(loadout.worker)
        self.link = WorkerLink(self._serve, self._count, self.standing.report, self._attend)
        station = VoiceStation if loadout.engine == VOICE else LanguageStation
        self.station: WorkerService = station(loadout, self.standing, self.link.changed)
        self.served = 0
        self.started = time.time()

    async def _serve(self, begin: worker_protocol.Begin, emit: Emit) -> None:
        self._take(begin.request_id)
        await self.station.serve(begin, emit)

    async def _attend(self, opened: worker_protocol.Open, inbox: ControlInbox, tell: Tell) -> None:
        self._take(opened.request_id)
        await self.station.attend(opened, inbox, tell)

    async def _count(self, asked: worker_protocol.Count) -> worker_protocol.Counted:
        return await self.station.count(asked)

    def _take(self, request_id: str) -> None:
        self.served += 1
        telemetry.request_id.set(request_id)

    def health(self) -> dict[str, object]:
        return {
            "status": "healthy",
            "worker_status": self.standing.state,
            "detail": self.standing.detail,
            "model_loaded": self.standing.state == "ready",
            "running": self.link.running,
            "served": self.served,
        }

    def metrics(self) -> str:
        card = self.standing.card
        return (
            "# TYPE duologue_worker_requests_total counter\n"
            f"duologue_worker_requests_total {self.served}\n"
            "# TYPE duologue_worker_running gauge\n"
            f"duologue_worker_running {self.link.running}\n"
            "# TYPE duologue_worker_slots gauge\n"
            f"duologue_worker_slots {card.slots if card else 0}\n"
            "# TYPE duologue_worker_start_time_seconds gauge\n"
            f"duologue_worker_start_time_seconds {self.started:.3f}\n"
        )


class _GatewaySocket:
    """A Starlette WebSocket as the link wants it."""

    def __init__(self, socket: WebSocket) -> None:
        self._socket = socket

    async def receive(self) -> bytes:
        try:
            return await self._socket.receive_bytes()
        except (WebSocketDisconnect, KeyError, RuntimeError) as error:
            raise EOFError from error

    async def send(self, frame: bytes) -> None:
        try:
            await self._socket.send_bytes(frame)
        except (WebSocketDisconnect, RuntimeError) as error:
            raise EOFError from error


def build(worker: Worker, secret: str) -> Starlette:
    """The worker's ASGI application. Every door demands the gateway's secret."""
    expected = f"Bearer {secret}".encode()

    def allowed(headers: object) -> bool:
        given = getattr(headers, "get")("authorization", "")  # noqa: B009
        return hmac.compare_digest(str(given).encode(), expected)

    def guarded(answer: Callable[[], Response]) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            if not allowed(request.headers):
                return PlainTextResponse("This door is the gateway's alone.\n", 403)
            return answer()

        return endpoint

    def socket(run: Callable[[_GatewaySocket], Awaitable[None]]) -> Callable[[WebSocket], Awaitable[None]]:
        async def endpoint(websocket: WebSocket) -> None:
            if not allowed(websocket.headers):
                await websocket.close(1008)
                return
            await websocket.accept()
            await run(_GatewaySocket(websocket))

        return endpoint

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(worker.station.load)
            tasks.start_soon(_end_with_the_gateway)
            yield
            tasks.cancel_scope.cancel()
        await worker.station.close()

    return Starlette(
        routes=[
            Route("/health", guarded(lambda: JSONResponse(worker.health()))),
            Route("/metrics", guarded(lambda: PlainTextResponse(worker.metrics()))),
            WebSocketRoute("/live", socket(worker.link.run_live)),
            WebSocketRoute("/bulk", socket(worker.link.run_bulk)),
        ],
        lifespan=lifespan,
    )


async def _end_with_the_gateway() -> None:
    """End this process at once when the gateway's end of our standard input closes: it is gone."""
    descriptor = sys.stdin.fileno()
    while True:
        await anyio.wait_readable(descriptor)
        if not os.read(descriptor, 4096):
            os._exit(0)


def _die_with_parent() -> None:
    """Ask the kernel to end us with the gateway, for the moments when a library holds the interpreter (Linux).

    The gateway may have died before the kernel was asked; then its end of our standard input is closed already.
    """
    if sys.platform == "linux":
        import ctypes

        set_parent_death_signal = 1
        ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL)
    readable, _, _ = select.select([sys.stdin], [], [], 0)
    if readable and not os.read(sys.stdin.fileno(), 4096):
        os._exit(0)


def main() -> None:
    """Run the worker this process's environment describes."""
    _die_with_parent()
    level, _, form = os.environ.pop("DUOLOGUE_WORKER_LOG", "info:text").partition(":")
    telemetry.set_up_logging(level, "json" if form == "json" else "text")
    secret = os.environ.pop("DUOLOGUE_WORKER_SECRET")
    loadout = msgspec.json.decode(os.environ.pop("DUOLOGUE_WORKER_LOADOUT"), type=worker_protocol.LoadSpec)
    listener = socket.socket(fileno=int(os.environ.pop("DUOLOGUE_WORKER_SOCKET")))
    config = uvicorn.Config(
        build(Worker(loadout), secret),
        log_config=None,
        access_log=False,
        ws="websockets-sansio",
        ws_max_size=FRAME_LIMIT,
        ws_per_message_deflate=False,
        timeout_graceful_shutdown=1,
        lifespan="on",
    )
    uvicorn.Server(config).run(sockets=[listener])
