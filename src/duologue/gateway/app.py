"""The composition root: puts pools, services, routes and authentication together into one application.

Owns the order of start-up. `server` runs the result; every part is in its own file and gets what it needs here.
"""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
from fastapi import FastAPI
from starlette.middleware import Middleware

from duologue import __version__
from duologue.config import Settings
from duologue.errors import Unavailable
from duologue.gateway import tls
from duologue.gateway.admin import routes as admin_routes
from duologue.gateway.admin import status
from duologue.gateway.admin.metrics import measure_reply, measure_turn, rendered
from duologue.gateway.admin.metrics_history import STEP, MetricsHistory
from duologue.gateway.auth import key_routes, middleware, sessions
from duologue.gateway.auth.keys import Keys, read_key, wall_clock
from duologue.gateway.calls import duplex_socket, voice_socket
from duologue.gateway.dialects import audio, chat_completions, chat_socket
from duologue.gateway.middleware.body_limit import BodyLimit
from duologue.gateway.middleware.socket_limit import SocketLimit
from duologue.gateway.models.loader import ProbeHardware
from duologue.gateway.models.registry import ModelRegistry
from duologue.gateway.models.service import ModelService
from duologue.gateway.scheduling.eta import BASES, Estimator
from duologue.gateway.scheduling.generate import Generator
from duologue.gateway.scheduling.pool import Pool
from duologue.gateway.scheduling.scheduler import Scheduler
from duologue.gateway.speech.audio_input import AudioTranscriber
from duologue.gateway.speech.service import SpeechService
from duologue.gateway.startup_messages import StartupMessages
from duologue.gateway.static_page import FOLDER, StaticPage
from duologue.gateway.workers.load_specs import voice_load_spec
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
"""The voice worker searches its port from this far behind the first worker's port."""
SETTLED_SECONDS = 20.0
"""Seconds that work of lower priority waits for the first model: it may never load."""


class Gateway:
    """The parts of the program and the application over them, which `server` puts behind the middleware.

    Inside `running()` the workers, the database and the conversations are up; the routes of the conversations are added then.
    `probe_hardware` measures this machine; without it no model is refused for lack of memory.
    """

    def __init__(
        self,
        settings: Settings,
        load_specs: Sequence[LoadSpec],
        announce: Callable[[str], None],
        probe_hardware: ProbeHardware | None = None,
    ) -> None:
        is_remote = not middleware.is_loopback(settings.host)
        self.settings = settings
        self.keys = Keys(read_key(_key(settings), settings.key_file), always=is_remote)
        self.static_page = StaticPage(FOLDER if settings.ui.enabled else None)
        self.startup_messages = StartupMessages(settings, announce)
        self.voice: Pool | None = None
        estimator = Estimator({**BASES, "chat": settings.eta.chat_s}, alpha=settings.eta.alpha)
        self.pool = Pool(
            load_specs,
            Scheduler(settings.queue.limit, estimator),
            port=settings.worker_port_base,
            log=(settings.log.level, settings.log.format),
            on_change=self._pool_changed,
        )
        self.metrics_history = MetricsHistory(time.time())
        self.generate = Generator(self.pool, observe=self._observe, wrote=self.metrics_history.wrote)
        self.models = ModelRegistry(self.pool.cards, settings.aliases)
        self.voice = self._voice_pool()
        self.speech = SpeechService(self.voice, settings.voice)
        self.call_services = voice_socket.CallServices(
            self.voice,
            self.generate,
            self.models,
            settings=settings.voice,
            limits=settings.limits,
            conversations=self._open_call_turns,
            read_ahead=self.generate.ahead,
            observe=measure_turn,
        )
        self.duplex = duplex_socket.DuplexSessions(self.call_services, most=settings.limits.sockets_per_user)
        self.model_service = ModelService(settings, load_specs, self.pool, self.models, probe_hardware)
        self._settled = anyio.Event()
        self.service: Service | None = None
        self.tls: ssl.SSLContext | None = None
        self.app = self._application()

    def _pools(self) -> list[Pool]:
        return [self.pool, *([] if self.voice is None else [self.voice])]

    async def _open_call_turns(
        self, user: str, conversation: str, model: str, tools: Sequence[Tool]
    ) -> CallTurns:
        """A conversation that is continued as a call. Raises Problem."""
        from duologue.conversations.call_turns import open_call_turns

        if self.service is None:
            raise Unavailable("The server is starting. Call again in a moment.")
        return await open_call_turns(self.service, user, conversation, model=model, tools=tools)

    def _voice_pool(self) -> Pool | None:
        """The pool of the voice worker, whose slots are the seats for calls, speech and transcription."""
        load_spec = voice_load_spec(self.settings)
        if load_spec is None:
            return None
        return Pool(
            [load_spec],
            Scheduler(self.settings.queue.limit, Estimator(BASES, alpha=self.settings.eta.alpha)),
            port=self.settings.worker_port_base + VOICE_PORT,
            log=(self.settings.log.level, self.settings.log.format),
            ticket_prefix="q_v",
            on_change=self._pool_changed,
        )

    def _pool_changed(self) -> None:
        self.startup_messages.update(self.pool, self.voice)
        self.model_service.publish_changes()
        if self.pool.ready:
            self._settled.set()

    def _observe(self, kind: str, event: Done | Failed) -> None:
        if isinstance(event, Failed):
            self.metrics_history.ended(failed=True)
        elif event.finish == "cancelled":
            self.metrics_history.ended()
        else:
            self.metrics_history.ended(first=event.timings.first, waited=event.timings.queue)
            measure_reply(event)

    async def _sample(self) -> None:
        """End a sample of the metrics history every few seconds."""
        due = anyio.current_time()
        while True:
            # After the machine was suspended there is one long sample instead of many empty ones.
            due = max(due + STEP, anyio.current_time())
            await anyio.sleep_until(due)
            running = sum(self.pool.scheduler.busy(worker) for worker in self.pool.workers)
            self.metrics_history.close(time.time(), running, len(self.pool.scheduler.entries()))

    async def _run_voice(self, voice: Pool) -> None:
        """Run the voice worker. Its engines load after the model: most users come for a chat."""
        await self._settle()
        await voice.run()

    async def _settle(self) -> None:
        """Return once a chat could be answered, or after SETTLED_SECONDS: until then, loading the model comes first."""
        with anyio.move_on_after(SETTLED_SECONDS):
            await self._settled.wait()

    def _application(self) -> FastAPI:
        settings, keys, page = self.settings, self.keys, self.static_page
        logins = sessions.LoginSessions(keys)
        cookie = middleware.cookie_name(settings.port)
        app = FastAPI(
            title="Duologue",
            version=__version__,
            description="A self-hosted server you can talk to. Sockets are described in docs/protocols.md.",
            docs_url=None,
            redoc_url=None,
            # Relative to the URL of the description, which works under any path a proxy puts before it.
            servers=[{"url": "."}],
            middleware=[
                Middleware(
                    middleware.Authentication,
                    keys,
                    logins,
                    cookie=cookie,
                    open_files=page.paths | {tls.CA_PATH},
                    login_page=page.login if settings.ui.enabled else None,
                ),
                Middleware(SocketLimit, settings.limits.sockets_per_user),
                Middleware(BodyLimit, settings.limits.body_mb * MEGABYTE, others=_body_limits(settings)),
            ],
            exception_handlers=exception_handlers(),
        )
        app.include_router(sessions.router(keys, logins, cookie=cookie, now=wall_clock))
        app.include_router(key_routes.router(keys))
        app.include_router(tls.router(settings))
        app.include_router(
            status.router(
                self.pool,
                build=page.build,
                auth_required=lambda: keys.required,
                metrics=lambda: rendered(self.pool),
                limits={
                    "text_bytes": settings.limits.text_mb * MEGABYTE,
                    "blob_bytes": settings.limits.blob_mb * MEGABYTE,
                    "attachments": settings.limits.attachments,
                    "audio_bytes": settings.limits.audio_mb * MEGABYTE,
                },
                speech=self.speech,
                ui_defaults=settings.ui.defaults.overrides(),
            )
        )
        app.include_router(admin_routes.router(self._pools(), self.metrics_history, time.time))
        shared: dict[str, Any] = {
            "limits": settings.limits,
            "speech": self.speech,
            "transcriber": AudioTranscriber(self.speech),
        }
        app.include_router(audio.router(self.speech, limits=settings.limits))
        app.include_router(chat_completions.router(self.generate, self.models, **shared))
        for router in self.model_service.routes():
            app.include_router(router)
        app.include_router(
            chat_socket.router(
                self.generate, self.models, timeouts=settings.chat, call_services=self.call_services, **shared
            )
        )
        app.include_router(voice_socket.router(self.call_services))
        app.include_router(duplex_socket.router(self.duplex))
        app.router.default = page
        return app

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run everything behind `app`. Raises StartFailed, within an exception group, when the database cannot be used."""
        from duologue.conversations import service as conversations
        from duologue.conversations.api import router
        from duologue.store.users import Users

        async with AsyncExitStack() as stack:
            tasks = await stack.enter_async_context(anyio.create_task_group())
            stack.callback(tasks.cancel_scope.cancel)
            # First, so that the workers load their models while the database is opened.
            await tasks.start(self.pool.run)
            if self.voice is not None:
                tasks.start_soon(self._run_voice, self.voice)
            tasks.start_soon(self._sample)
            await tasks.start(self.duplex.run)
            await tasks.start(self.model_service.run)
            self.service = await stack.enter_async_context(
                conversations.opened(
                    self.settings,
                    generate=self.generate,
                    resolve=self.models.resolve,
                    count=self.pool.count,
                    has_waiting_requests=lambda: bool(self.pool.scheduler.entries()),
                    model_ready=self._settle,
                )
            )
            await self.keys.use(Users(self.service.stores.durable.database, wall_clock))
            self.app.include_router(router(self.service))
            if self.tls is not None:
                tasks.start_soon(tls.keep_fresh, self.settings, self.tls)
            self.startup_messages.start(self.pool, self.voice)
            yield
            await self.keys.note_used()


def _body_limits(settings: Settings) -> dict[str, tuple[int, str]]:
    """The paths that take files. A file may come inside a form, whose boundaries need some extra bytes."""
    form = 64 * 1024
    return {
        "/api/blobs": (settings.limits.blob_mb * MEGABYTE + form, "limits.blob_mb"),
        "/api/import": (settings.limits.import_mb * MEGABYTE + form, "limits.import_mb"),
        "/v1/audio/transcriptions": (settings.limits.audio_mb * MEGABYTE + form, "limits.audio_mb"),
    }


def _key(settings: Settings) -> str | None:
    return settings.key.get_secret_value() if settings.key else None
