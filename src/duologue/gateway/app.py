"""The gateway program: the composition root where doors, routes, queue and workers are put together.

Owns the order of things at start and stop. Decides nothing else: every part is in its own file and is handed what it
needs here.
"""

from __future__ import annotations

import logging
import signal
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
import uvicorn
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.types import ASGIApp

from duologue import __version__, telemetry
from duologue.config import Settings
from duologue.errors import BadRequest, NotFound, Problem
from duologue.gateway import auth, chat, claims, doors, logins, openai, status
from duologue.gateway.eta import BASES, Estimator
from duologue.gateway.loadouts import loadouts
from duologue.gateway.models import Models
from duologue.gateway.pages import FOLDER, Pages
from duologue.gateway.pool import Pool
from duologue.gateway.problems import problem_body, problem_headers, problem_status, request_id_of
from duologue.gateway.queue import Queue
from duologue.gateway.relay import Relay
from duologue.values.events import Done, Failed
from duologue.wire.internal import Loadout

log = logging.getLogger(__name__)

MEGABYTE = 1024 * 1024
STOP_SECONDS = 0.7
"""Seconds that running answers have to say why they end; as long again for their connections to close."""


def build(settings: Settings, worker_loadouts: Sequence[Loadout], announce: Callable[[str], None]) -> FastAPI:
    """The gateway's application, to be put behind its doors. Its pool is at `app.state.pool` and runs with it."""
    keys = auth.Keys(auth.read_key(_key(settings), settings.key_file))
    sessions = logins.Logins()
    cookie = auth.cookie_name(settings.port)
    pages = Pages(FOLDER if settings.ui else None)
    estimator = Estimator({**BASES, "chat": settings.eta.chat_s}, alpha=settings.eta.alpha)
    herald = Herald(settings, announce)
    pool = Pool(
        worker_loadouts,
        Queue(settings.queue.limit, estimator),
        port=settings.worker_port_base,
        log=(settings.log.level, settings.log.format),
        on_change=lambda: herald.look(pool),
    )
    generate = Relay(pool, observe=_observe)
    models = Models(pool.cards, settings.aliases)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with anyio.create_task_group() as tasks:
            await tasks.start(pool.run)
            yield
            tasks.cancel_scope.cancel()

    app = FastAPI(
        title="Duologue",
        version=__version__,
        description="A self-hosted server you can talk to. Sockets are described in docs/protocols.md.",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        middleware=[
            Middleware(
                auth.Authentication,
                keys,
                sessions,
                cookie=cookie,
                open_files=pages.addresses,
                login_page=pages.login if settings.ui else None,
            ),
            Middleware(auth.SocketLimit, settings.limits.sockets_per_user),
            Middleware(doors.BodyLimit, settings.limits.body_mb * MEGABYTE),
        ],
        exception_handlers=_exception_handlers(),
    )
    app.state.pool = pool
    app.include_router(logins.router(keys, sessions, cookie=cookie))
    app.include_router(
        status.router(
            pool,
            build=pages.build,
            auth_required=keys.required,
            metrics=lambda: _metrics(pool),
            limits={"text_bytes": settings.limits.text_mb * MEGABYTE},
        )
    )
    app.include_router(openai.router(generate, models, limits=settings.limits))
    app.include_router(chat.router(generate, models, limits=settings.limits, timeouts=settings.chat))
    app.router.default = pages
    return app


def serve(settings: Settings, *, announce: Callable[[str], None]) -> None:
    """Serve until told to end. Raises StartFailed when it cannot start.

    `announce` is given the lines meant for the person at the terminal.
    """
    telemetry.set_up_logging(settings.log.level, settings.log.format)
    auth.check_start(
        settings.host,
        has_key=auth.read_key(_key(settings), settings.key_file) is not None,
        insecure_http=settings.insecure_http,
    )
    worker_loadouts = loadouts(settings)
    listener = claims.port(settings.host, settings.port)
    with listener, claims.data_folder(settings.data, _url(settings.host, listener.getsockname()[1])):
        settings = settings.model_copy(update={"port": listener.getsockname()[1]})
        # Told to end and having ended, uvicorn raises the signal once more; a clean end is no failure of the command.
        for told in (signal.SIGINT, signal.SIGTERM):
            signal.signal(told, lambda number, frame: None)
        _Server(build(settings, worker_loadouts, announce), settings).run(sockets=[listener])


def guarded(app: FastAPI, settings: Settings) -> ASGIApp:
    """The application behind the doors that every request passes, and every answer: errors too."""
    return doors.behind_doors(app, doors.Visitors(settings.host_names, settings.allow_origins))


class _Server(uvicorn.Server):
    """uvicorn, told first to let every running answer end with a sentence."""

    def __init__(self, app: FastAPI, settings: Settings) -> None:
        self._pool: Pool = app.state.pool
        super().__init__(
            uvicorn.Config(
                guarded(app, settings),
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                ws="websockets-sansio",
                ws_max_size=settings.limits.body_mb * MEGABYTE,
                ws_per_message_deflate=False,
                ws_ping_interval=15,
                timeout_graceful_shutdown=1,
                backlog=2048,
            )
        )

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        # Before uvicorn closes the sockets: their last message is the one that says why.
        await self._pool.stop(STOP_SECONDS)
        await super().shutdown(sockets)


def _key(settings: Settings) -> str | None:
    return settings.key.get_secret_value() if settings.key else None


def _url(host: str, port: int) -> str:
    shown = "127.0.0.1" if host in ("0.0.0.0", "::", "") else host
    return f"http://[{shown}]:{port}" if ":" in shown else f"http://{shown}:{port}"


class Herald:
    """Tells the terminal, once, that the server can be talked to, and each reason why its model cannot be used."""

    def __init__(self, settings: Settings, announce: Callable[[str], None]) -> None:
        self._settings = settings
        self._announce = announce
        self._told: set[str] = set()

    def look(self, pool: Pool) -> None:
        state, detail = status.standing(pool)
        if state == "failed":
            self._tell(detail, f"The model cannot be used: {detail}")
        elif state == "ready":
            card = pool.cards()[0]
            room = f", {card.context:,} tokens of context" if card.context else ""
            url = _url(self._settings.host, self._settings.port)
            self._tell(state, f"Duologue is ready at {url} ({card.name}{room}). Ctrl-C ends it.")

    def _tell(self, what: str, line: str) -> None:
        if what in self._told:
            return
        self._told.add(what)
        # A terminal that has gone (or `serve | head -1`) is no reason to stop serving.
        with suppress(OSError):
            self._announce(line)


def _observe(kind: str, event: Done | Failed) -> None:
    figures = telemetry.metrics()
    if isinstance(event, Done):
        figures.first_token(event.timings.first / 1000)
        figures.queue_waited(event.timings.queue / 1000)
        figures.stage_took("prefill", event.timings.prefill / 1000)
        figures.stage_took("generate", event.timings.generate / 1000)
        figures.tokens_counted(input=event.usage.input, cached=event.usage.cached, output=event.usage.output)


def _metrics(pool: Pool) -> str:
    figures = telemetry.metrics()
    figures.leases_active(sum(pool.queue.busy(worker) for worker in pool.workers))
    figures.queue_length(len(pool.queue.entries()))
    return figures.render()[0].decode()


def _exception_handlers() -> dict[Any, Any]:
    """Every exception leaves as a sentence in its dialect's shape."""

    def answer(request: Request, problem: Exception) -> JSONResponse:
        body = problem_body(problem, request.url.path, request_id_of(request.scope))
        return JSONResponse(body, problem_status(problem), headers=problem_headers(problem))

    async def known(request: Request, problem: Exception) -> JSONResponse:
        return answer(request, problem)

    async def invalid(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        first = error.errors()[0]
        where = ".".join(str(step) for step in first["loc"] if step != "body")
        return answer(request, BadRequest(f"{where or 'The body'}: {first['msg']}.", param=where or None))

    async def http(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, HTTPException)
        if error.status_code == 404:
            return answer(request, NotFound(f"There is nothing at {request.url.path}."))
        if error.status_code == 405:
            allowed = (error.headers or {}).get("Allow", "")
            sentence = (
                f"{request.url.path} does not answer {request.method}; it takes {allowed or 'other methods'}."
            )
            refusal = answer(request, Problem(sentence, code="method_not_allowed", status=405))
            refusal.headers["Allow"] = allowed
            return refusal
        return answer(request, Problem(f"{error.detail}.", code="http_error", status=error.status_code))

    async def unexpected(request: Request, error: Exception) -> JSONResponse:
        log.error("%s %s failed", request.method, request.url.path, exc_info=error)
        return answer(request, error)

    return {Problem: known, RequestValidationError: invalid, HTTPException: http, Exception: unexpected}
