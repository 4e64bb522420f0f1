"""The worker program: two sockets for the gateway, `/health` and `/metrics`, around one service.

The composition root of the worker process. The gateway starts it with everything it needs in its environment: a listening
socket, the gateway's secret and the load spec. It ends when the gateway dies, in whatever way.
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
from duologue.errors import DeviceLost
from duologue.notifier import Notifier
from duologue.sessions.chat.reply_controls import ReplyControls
from duologue.sessions.speech.speech_task import SendEvent
from duologue.stall_watch import watch_loop
from duologue.tracing import spans
from duologue.wire import worker_protocol
from duologue.worker import traced_work
from duologue.worker.connection import BeDismissed, Emit, EndProcess, GatewayConnection, Generate, RunSession
from duologue.worker.inbox import ControlInbox
from duologue.worker.language import LanguageService
from duologue.worker.service import WorkerService
from duologue.worker.state import WorkerLifecycle
from duologue.worker.voice import VOICE, VoiceService

log = logging.getLogger(__name__)

FRAME_LIMIT = 64 * 1024 * 1024
"""Bytes of one frame from the gateway; larger messages arrive in pieces."""
SPANS_SECONDS = 0.5
"""Seconds that the last spans have to reach the collector, where there is tracing."""
DEVICE_LOST = 75
"""The exit code of a worker whose graphics card failed."""


class Worker:
    """The service, its status, and the connections to its gateways: one, unless it has joined several."""

    def __init__(self, load_spec: worker_protocol.LoadSpec, traceparent: str = "") -> None:
        self.load_spec, self._traceparent = load_spec, traceparent
        self.status = WorkerLifecycle(load_spec.worker)
        self._connections: list[GatewayConnection] = []
        self.reported = Notifier()
        self.service: WorkerService = (
            VoiceService(load_spec, self.status, self.report)
            if load_spec.engine == VOICE
            else LanguageService(load_spec, self.status, self.report, self.lose_device)
        )
        self.served = 0
        self.stalls, self.stalled = 0, 0.0
        self.started = time.time()

    def connect(
        self,
        end_process: EndProcess,
        generate: Generate | None = None,
        run_session: RunSession | None = None,
        be_dismissed: BeDismissed | None = None,
    ) -> GatewayConnection:
        """A connection to a gateway, around the worker's own work or what is given."""
        connection = GatewayConnection(
            generate or self.generate,
            self.service.answer,
            self.status.report,
            run_session or self.run_session,
            end_process,
            be_dismissed,
        )
        self._connections.append(connection)
        return connection

    def disconnect(self, connection: GatewayConnection) -> None:
        """The connection is over."""
        self._connections.remove(connection)

    @property
    def running(self) -> int:
        """Number of running generations and sessions."""
        return sum(connection.running for connection in self._connections)

    def report(self) -> None:
        """Send the status to every gateway."""
        for connection in self._connections:
            connection.send_report()
        self.reported.notify()

    async def wait_idle(self) -> None:
        """Return once nothing runs."""
        for connection in tuple(self._connections):
            await connection.wait_idle()

    def lose_device(self, lost: DeviceLost) -> None:
        """As `GatewayConnection.lose_device`, for every gateway."""
        for connection in self._connections:
            connection.lose_device(lost)

    async def run(self) -> None:
        """Load the engines, then watch them and the event loop: while a model loads, its library holds the interpreter."""
        with traced_work.load_span(self.load_spec, self._traceparent) as span:
            await self.service.load()
            if self.status.state == "failed":
                span.fail(self.status.code)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.service.watch)
            await watch_loop(self._stalled)

    def _stalled(self, seconds: float) -> None:
        self.stalls += 1
        self.stalled += seconds

    async def generate(self, begin: worker_protocol.Begin, emit: Emit, controls: ReplyControls) -> None:
        """Run a generation."""
        self._note_request(begin.request_id)
        with (
            traced_work.reply_span(begin, self.load_spec.worker) as span,
            traced_work.watched(emit, span) as emit,
        ):
            await self.service.generate(begin, emit, controls)

    async def run_session(self, opening: worker_protocol.Open, inbox: ControlInbox, send: SendEvent) -> None:
        """Run a call, a speech, a transcription or a clip."""
        self._note_request(opening.request_id)
        with traced_work.session_span(opening, self.load_spec.worker):
            await self.service.run_session(opening, inbox, send)

    def _note_request(self, request_id: str) -> None:
        self.served += 1
        telemetry.request_id.set(request_id)

    def health(self) -> dict[str, object]:
        """The body of `/health`."""
        return {
            "status": "healthy",
            "worker_status": self.status.state,
            "detail": self.status.detail,
            "model_loaded": self.status.state == "ready",
            "running": self.running,
            "served": self.served,
        }

    def metrics(self) -> str:
        """The body of `/metrics`, in Prometheus text format."""
        card = self.status.card
        return (
            "# TYPE duologue_worker_requests_total counter\n"
            f"duologue_worker_requests_total {self.served}\n"
            "# TYPE duologue_worker_running gauge\n"
            f"duologue_worker_running {self.running}\n"
            "# TYPE duologue_worker_slots gauge\n"
            f"duologue_worker_slots {card.slots if card else 0}\n"
            "# TYPE duologue_worker_loop_stalls_total counter\n"
            f"duologue_worker_loop_stalls_total {self.stalls}\n"
            "# TYPE duologue_worker_loop_stall_seconds_total counter\n"
            f"duologue_worker_loop_stall_seconds_total {self.stalled:.3f}\n"
            "# TYPE duologue_worker_start_time_seconds gauge\n"
            f"duologue_worker_start_time_seconds {self.started:.3f}\n"
        )


class _GatewaySocket:
    """A Starlette WebSocket as a `FrameSocket`."""

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
    """The worker's ASGI application. Every endpoint requires the gateway's secret."""
    expected = f"Bearer {secret}".encode()
    connection = worker.connect(_end_without_device)

    def allowed(headers: object) -> bool:
        authorization = getattr(headers, "get")("authorization", "")  # noqa: B009
        return hmac.compare_digest(str(authorization).encode(), expected)

    def guarded(answer: Callable[[], Response]) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            if not allowed(request.headers):
                return PlainTextResponse("Only the gateway may use this endpoint.\n", 403)
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
            tasks.start_soon(worker.run)
            tasks.start_soon(end_with_parent)
            yield
            tasks.cancel_scope.cancel()
        await worker.service.close()
        await spans.sent(SPANS_SECONDS)

    return Starlette(
        routes=[
            Route("/health", guarded(lambda: JSONResponse(worker.health()))),
            Route("/metrics", guarded(lambda: PlainTextResponse(worker.metrics()))),
            WebSocketRoute("/live", socket(connection.run_live)),
            WebSocketRoute("/bulk", socket(connection.run_bulk)),
        ],
        lifespan=lifespan,
    )


def _end_without_device(lost: DeviceLost) -> None:
    """End this process at once, so that the gateway starts it again: a card's driver may keep an orderly end waiting for ever."""
    log.error("%s", lost.message)
    logging.shutdown()
    os._exit(DEVICE_LOST)


async def end_with_parent() -> None:
    """End this process at once when the other end of standard input closes: the gateway, or whoever else started it, is gone."""
    descriptor = sys.stdin.fileno()
    while True:
        await anyio.wait_readable(descriptor)
        if not os.read(descriptor, 4096):
            os._exit(0)


def die_with_parent() -> None:
    """Ask the kernel to kill this process together with the gateway, or whoever else started it (Linux only).

    The event loop cannot watch standard input while a library holds the interpreter, for example when it loads a model. If
    the parent died before the request to the kernel, standard input is closed already.
    """
    if sys.platform == "linux":
        import ctypes

        set_parent_death_signal = 1
        ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL)
    readable, _, _ = select.select([sys.stdin], [], [], 0)
    if readable and not os.read(sys.stdin.fileno(), 4096):
        os._exit(0)


def main() -> None:
    """Run the worker that this process's environment describes."""
    die_with_parent()
    level, _, form = os.environ.pop("DUOLOGUE_WORKER_LOG", "info:text").partition(":")
    telemetry.set_up_logging(level, "json" if form == "json" else "text")
    traced_work.set_up(os.environ.pop("DUOLOGUE_WORKER_TRACING", ""))
    secret = os.environ.pop("DUOLOGUE_WORKER_SECRET")
    load_spec = msgspec.json.decode(
        os.environ.pop("DUOLOGUE_WORKER_LOAD_SPEC"), type=worker_protocol.LoadSpec
    )
    listener = socket.socket(fileno=int(os.environ.pop("DUOLOGUE_WORKER_SOCKET")))
    config = uvicorn.Config(
        build(Worker(load_spec, os.environ.pop("DUOLOGUE_WORKER_TRACEPARENT", "")), secret),
        log_config=None,
        access_log=False,
        ws="websockets-sansio",
        ws_max_size=FRAME_LIMIT,
        ws_per_message_deflate=False,
        timeout_graceful_shutdown=1,
        lifespan="on",
    )
    uvicorn.Server(config).run(sockets=[listener])
