"""The gateway program: the composition root where doors, routes, queue and workers are put together.

Owns the order of things at start and stop. Decides nothing else: every part is in its own file and is handed what it
needs here.
"""

from __future__ import annotations

import logging
import signal
import socket
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
import uvicorn
from fastapi import FastAPI
from starlette.middleware import Middleware
from starlette.types import ASGIApp

from duologue import __version__, telemetry
from duologue.config import Settings
from duologue.errors import StartFailed, Unavailable
from duologue.gateway import process_lock, tls
from duologue.gateway.admin import routes as admin_routes
from duologue.gateway.admin import status
from duologue.gateway.admin.metrics import measure_reply, measure_turn, rendered
from duologue.gateway.admin.metrics_history import STEP, MetricsHistory
from duologue.gateway.auth import key_routes, middleware, sessions
from duologue.gateway.auth.keys import Keys, read_key, wall_clock
from duologue.gateway.calls import duplex_socket, voice_socket
from duologue.gateway.dialects import audio, chat_completions, chat_socket
from duologue.gateway.middleware import host_check
from duologue.gateway.middleware.forwarded import Proxies
from duologue.gateway.models.loader import ProbeHardware
from duologue.gateway.models.registry import ModelRegistry
from duologue.gateway.models.service import ModelService
from duologue.gateway.scheduling.eta import BASES, Estimator
from duologue.gateway.scheduling.generate import Generator
from duologue.gateway.scheduling.pool import Pool
from duologue.gateway.scheduling.scheduler import Scheduler
from duologue.gateway.speech.audio_input import AudioTranscriber
from duologue.gateway.speech.service import SpeechService
from duologue.gateway.startup_messages import Herald, address
from duologue.gateway.static_page import FOLDER, Pages
from duologue.gateway.workers.load_specs import load_specs, voice_load_spec
from duologue.http.error_responses import exception_handlers
from duologue.values.events import Done, Failed
from duologue.wire.worker_protocol import LoadSpec

if TYPE_CHECKING:
    import ssl

    from duologue.conversations.call_turns import CallTurns
    from duologue.conversations.service import Service
    from duologue.values.messages import Tool

log = logging.getLogger(__name__)

MEGABYTE = 1024 * 1024
VOICE_PORT = 50
"""How far behind the first worker's port the voice worker looks for its own."""
SETTLED_SECONDS = 20.0
STOP_SECONDS = 0.7
"""Seconds that running answers have to say why they end; as long again for their connections to close."""


class Gateway:
    """The parts of the program, and the application over them, to be put behind its doors.

    `running()` is what stands behind `app`, for as long as that block lasts: workers, database and conversations, whose
    routes come with them. `look` sees this machine; without it no model is refused for want of memory.
    """

    def __init__(
        self,
        settings: Settings,
        worker_loadouts: Sequence[LoadSpec],
        announce: Callable[[str], None],
        look: ProbeHardware | None = None,
    ) -> None:
        reachable = not middleware.is_loopback(settings.host)
        self.settings = settings
        self.keys = Keys(read_key(_key(settings), settings.key_file), always=reachable)
        self.pages = Pages(FOLDER if settings.ui.enabled else None)
        self.herald = Herald(settings, announce)
        self.voice: Pool | None = None
        estimator = Estimator({**BASES, "chat": settings.eta.chat_s}, alpha=settings.eta.alpha)
        self.pool = Pool(
            worker_loadouts,
            Scheduler(settings.queue.limit, estimator),
            port=settings.worker_port_base,
            log=(settings.log.level, settings.log.format),
            on_change=self._look,
        )
        self.figures = MetricsHistory(time.time())
        self.generate = Generator(self.pool, observe=self._observe, wrote=self.figures.wrote)
        self.models = ModelRegistry(self.pool.cards, settings.aliases)
        self.voice = self._voice()
        self.speech = SpeechService(self.voice, settings.voice)
        self.call_services = voice_socket.CallServices(
            self.voice,
            self.generate,
            self.models,
            settings=settings.voice,
            limits=settings.limits,
            conversing=self._conversing,
            read_ahead=self.generate.ahead,
            observe=measure_turn,
        )
        self.duplex = duplex_socket.DuplexSessions(self.call_services, most=settings.limits.sockets_per_user)
        self.stock = ModelService(settings, worker_loadouts, self.pool, self.models, look)
        self._settled = anyio.Event()
        self.service: Service | None = None
        self.tls: ssl.SSLContext | None = None
        self.app = self._application()

    def _pools(self) -> list[Pool]:
        return [self.pool, *([] if self.voice is None else [self.voice])]

    async def _conversing(self, user: str, conversation: str, model: str, tools: Sequence[Tool]) -> CallTurns:
        """A conversation that goes on as a call. Raises Problem."""
        from duologue.conversations.call_turns import spoken_turns

        if self.service is None:
            raise Unavailable("The server is starting. Call again in a moment.")
        return await spoken_turns(self.service, user, conversation, model=model, tools=tools)

    def _voice(self) -> Pool | None:
        """The seats for calls, speeches and transcriptions: slots of a worker of their own."""
        loadout = voice_load_spec(self.settings)
        if loadout is None:
            return None
        return Pool(
            [loadout],
            Scheduler(self.settings.queue.limit, Estimator(BASES, alpha=self.settings.eta.alpha)),
            port=self.settings.worker_port_base + VOICE_PORT,
            log=(self.settings.log.level, self.settings.log.format),
            tickets="q_v",
            on_change=self._look,
        )

    def _look(self) -> None:
        self.herald.look(self.pool, self.voice)
        self.stock.look()
        if self.pool.ready:
            self._settled.set()

    def _observe(self, kind: str, event: Done | Failed) -> None:
        if isinstance(event, Failed):
            self.figures.ended(failed=True)
        elif event.finish == "cancelled":
            self.figures.ended()
        else:
            self.figures.ended(first=event.timings.first, waited=event.timings.queue)
            measure_reply(event)

    async def _sample(self) -> None:
        """End a sample of the figures every few seconds."""
        due = anyio.current_time()
        while True:
            # After a sleep of the machine there is one long sample, and not many empty ones.
            due = max(due + STEP, anyio.current_time())
            await anyio.sleep_until(due)
            running = sum(self.pool.queue.busy(worker) for worker in self.pool.workers)
            self.figures.close(time.time(), running, len(self.pool.queue.entries()))

    async def _run_voice(self, seats: Pool) -> None:
        """The voice's engines load behind the model: a chat is what most come for."""
        await self._settle()
        await seats.run()

    async def _settle(self) -> None:
        """Returns when a chat would be answered: until then there is more urgent work. Not every model ever loads."""
        with anyio.move_on_after(SETTLED_SECONDS):
            await self._settled.wait()

    def _application(self) -> FastAPI:
        settings, keys, pages = self.settings, self.keys, self.pages
        logins = sessions.LoginSessions(keys)
        cookie = middleware.cookie_name(settings.port)
        app = FastAPI(
            title="Duologue",
            version=__version__,
            description="A self-hosted server you can talk to. Sockets are described in docs/protocols.md.",
            docs_url=None,
            redoc_url=None,
            # Beside the description itself, whatever path a proxy put before it.
            servers=[{"url": "."}],
            middleware=[
                Middleware(
                    middleware.Authentication,
                    keys,
                    logins,
                    cookie=cookie,
                    open_files=pages.addresses | {tls.CA_PATH},
                    login_page=pages.login if settings.ui.enabled else None,
                ),
                Middleware(middleware.SocketLimit, settings.limits.sockets_per_user),
                Middleware(
                    host_check.BodyLimit, settings.limits.body_mb * MEGABYTE, others=_body_limits(settings)
                ),
            ],
            exception_handlers=exception_handlers(),
        )
        app.include_router(sessions.router(keys, logins, cookie=cookie, now=wall_clock))
        app.include_router(key_routes.router(keys))
        app.include_router(tls.router(settings))
        app.include_router(
            status.router(
                self.pool,
                build=pages.build,
                auth_required=lambda: keys.required,
                metrics=lambda: rendered(self.pool),
                limits={
                    "text_bytes": settings.limits.text_mb * MEGABYTE,
                    "blob_bytes": settings.limits.blob_mb * MEGABYTE,
                    "attachments": settings.limits.attachments,
                    "audio_bytes": settings.limits.audio_mb * MEGABYTE,
                },
                speech=self.speech,
                ui_defaults=settings.ui.defaults.said(),
            )
        )
        app.include_router(admin_routes.router(self._pools(), self.figures, time.time))
        given: dict[str, Any] = {
            "limits": settings.limits,
            "speech": self.speech,
            "transcriber": AudioTranscriber(self.speech),
        }
        app.include_router(audio.router(self.speech, limits=settings.limits))
        app.include_router(chat_completions.router(self.generate, self.models, **given))
        for more in self.stock.routes():
            app.include_router(more)
        app.include_router(
            chat_socket.router(
                self.generate, self.models, timeouts=settings.chat, call_services=self.call_services, **given
            )
        )
        app.include_router(voice_socket.router(self.call_services))
        app.include_router(duplex_socket.router(self.duplex))
        app.router.default = pages
        return app

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Raises StartFailed, within an exception group, when the database cannot be used."""
        from duologue.conversations import service as conversations
        from duologue.conversations.api import router
        from duologue.store.users import Users

        async with AsyncExitStack() as stack:
            tasks = await stack.enter_async_context(anyio.create_task_group())
            stack.callback(tasks.cancel_scope.cancel)
            # The workers load their models while the database is opened.
            await tasks.start(self.pool.run)
            if self.voice is not None:
                tasks.start_soon(self._run_voice, self.voice)
            tasks.start_soon(self._sample)
            await tasks.start(self.duplex.run)
            await tasks.start(self.stock.run)
            self.service = await stack.enter_async_context(
                conversations.opened(
                    self.settings,
                    generate=self.generate,
                    resolve=self.models.resolve,
                    count=self.pool.count,
                    crowded=lambda: bool(self.pool.queue.entries()),
                    settled=self._settle,
                )
            )
            await self.keys.use(Users(self.service.stores.durable.database, wall_clock))
            self.app.include_router(router(self.service))
            if self.tls is not None:
                tasks.start_soon(tls.keep_fresh, self.settings, self.tls)
            self.herald.begin(self.pool, self.voice)
            yield
            await self.keys.note_used()


def serve(settings: Settings, *, announce: Callable[[str], None], look: ProbeHardware | None = None) -> None:
    """Serve until told to end. Raises StartFailed when it cannot start.

    `announce` is given the lines meant for the person at the terminal; `look` sees this machine, without loading an
    engine into this process.
    """
    telemetry.set_up_logging(settings.log.level, settings.log.format)
    has_key = middleware.has_key(settings)
    middleware.check_start(
        settings.host,
        has_key=has_key,
        insecure_http=settings.insecure_http,
        tls=tls.is_on(settings.tls),
    )
    if settings.proxies and not has_key:
        log.warning("There is no key: whoever comes through the proxy is an admin. `duologue key add NAME`")
    worker_loadouts = load_specs(settings)
    listener = process_lock.port(settings.host, settings.port)
    with listener, process_lock.data_folder(settings.data, address(settings, listener.getsockname()[1])):
        settings = settings.model_copy(update={"port": listener.getsockname()[1]})
        # Told to end and having ended, uvicorn raises the signal once more; a clean end is no failure of the command.
        for told in (signal.SIGINT, signal.SIGTERM):
            signal.signal(told, lambda number, frame: None)
        _Server(Gateway(settings, worker_loadouts, announce, look)).run(sockets=[listener])


def guarded(app: FastAPI, settings: Settings) -> ASGIApp:
    """The application behind the doors that every request passes, and every answer: errors too."""
    visitors = host_check.AllowedHosts(settings.host_names, settings.allow_origins)
    return host_check.with_middleware(app, visitors, settings.base_path, Proxies(settings.proxies))


class _Server(uvicorn.Server):
    """uvicorn, told first to let every running answer end with a sentence."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        settings = gateway.settings
        files = tls.tls_files(settings) if tls.is_on(settings.tls) else (None, None)
        super().__init__(
            uvicorn.Config(
                guarded(gateway.app, settings),
                log_config=None,
                access_log=False,
                server_header=False,
                ssl_certfile=files[0],
                ssl_keyfile=files[1],
                ssl_ciphers=tls.CIPHERS,
                proxy_headers=False,
                ws="websockets-sansio",
                ws_max_size=settings.limits.body_mb * MEGABYTE,
                ws_per_message_deflate=False,
                ws_ping_interval=15,
                timeout_graceful_shutdown=1,
                backlog=2048,
            )
        )

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        # Not as the application's lifespan: of what goes wrong there uvicorn prints a trace, and nothing can be said.
        self.config.load()
        self._gateway.tls = self.config.ssl
        try:
            async with self._gateway.running():
                await super().serve(sockets)
        except BaseExceptionGroup as group:
            if (refused := group.subgroup(StartFailed)) is None:
                raise
            raise _first(refused) from None

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        # Before uvicorn closes the sockets: their last message is the one that says why. Runs first, with their text.
        self._gateway.stock.close()
        if self._gateway.service is not None:
            await self._gateway.service.close()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._gateway.pool.stop, STOP_SECONDS)
            if self._gateway.voice is not None:
                tasks.start_soon(self._gateway.voice.stop, STOP_SECONDS)
        await super().shutdown(sockets)


def _body_limits(settings: Settings) -> dict[str, tuple[int, str]]:
    """Files come as they are, or in a form whose edges need a little room more."""
    edges = 64 * 1024
    return {
        "/api/blobs": (settings.limits.blob_mb * MEGABYTE + edges, "limits.blob_mb"),
        "/api/import": (settings.limits.import_mb * MEGABYTE + edges, "limits.import_mb"),
        "/v1/audio/transcriptions": (settings.limits.audio_mb * MEGABYTE + edges, "limits.audio_mb"),
    }


def _first(group: BaseExceptionGroup[StartFailed]) -> StartFailed:
    inner = group.exceptions[0]
    return _first(inner) if isinstance(inner, BaseExceptionGroup) else inner


def _key(settings: Settings) -> str | None:
    return settings.key.get_secret_value() if settings.key else None
