"""The worker program: two sockets for the gateway, `/health` and `/metrics`, around one engine.

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
from datetime import datetime

import anyio
import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from duologue import telemetry
from duologue.engines import LanguageEngine
from duologue.errors import Unavailable
from duologue.sessions.chat import count, reply
from duologue.values.events import Failed
from duologue.wire import internal
from duologue.worker.link import Emit, WorkerLink
from duologue.worker.loadout import load
from duologue.worker.state import Standing

log = logging.getLogger(__name__)

FRAME_LIMIT = 64 * 1024 * 1024
"""Bytes of one frame from the gateway; larger messages come in pieces."""


class Worker:
    """One engine, its standing, and the link to the gateway."""

    def __init__(self, loadout: internal.Loadout) -> None:
        self.loadout = loadout
        self.standing = Standing(loadout.worker)
        self.engine: LanguageEngine | None = None
        self.link = WorkerLink(self.serve, self.count, self.standing.report)
        self.served = 0
        self.started = time.time()

    async def load(self) -> None:
        """Load the engine; the gateway is told how it went."""
        self.engine = await load(self.loadout, self.standing, self.link.changed)

    async def serve(self, begin: internal.Begin, emit: Emit) -> None:
        """One lease: the reply's events into `emit`, ending with exactly one terminal event."""
        self.served += 1
        telemetry.request_id.set(begin.request_id)
        if self.engine is None:
            problem = Unavailable(self.standing.detail)
            await emit(Failed(problem.code, problem.message, problem.status))
            return
        await reply(
            self.engine,
            begin.slot,
            begin.request,
            emit,
            now=datetime.now().astimezone(),
            clock=time.monotonic,
        )

    async def count(self, asked: internal.Count) -> internal.Counted:
        """The tokens of a prompt. Raises Unavailable while there is no model, and the Problems of its template."""
        if self.engine is None:
            raise Unavailable(self.standing.detail)
        counted = await count(self.engine, asked.request, now=datetime.now().astimezone())
        return internal.Counted(asked.ask, counted.tokens, counted.context, counted.estimated)

    def health(self) -> dict[str, object]:
        return {
            "status": "healthy",
            "worker_status": self.standing.state,
            "detail": self.standing.detail,
            "model_loaded": self.standing.card is not None,
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
            tasks.start_soon(worker.load)
            tasks.start_soon(_end_with_the_gateway)
            yield
            tasks.cancel_scope.cancel()
        if worker.engine is not None:
            await worker.engine.close()

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
    loadout = msgspec.json.decode(os.environ.pop("DUOLOGUE_WORKER_LOADOUT"), type=internal.Loadout)
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
