"""Runs the gateway: the checks before it starts, the socket, uvicorn, and the order of a clean shutdown.

`duologue serve` calls `serve`. What runs is put together in `app`.
"""

from __future__ import annotations

import gc
import logging
import math
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

import anyio
import uvicorn
from starlette.types import ASGIApp

from duologue import telemetry
from duologue.config import Settings
from duologue.config.sections.tracing import TracingSettings
from duologue.errors import StartFailed
from duologue.gateway import process_lock, tls
from duologue.gateway.app import Gateway
from duologue.gateway.auth import middleware
from duologue.gateway.body_limits import MEGABYTE
from duologue.gateway.connections import open_files
from duologue.gateway.connections.acceptor import Acceptor
from duologue.gateway.connections.admission import Admission, ConnectionTable
from duologue.gateway.connections.guard import ConnectionGuard
from duologue.gateway.connections.http_protocol import GuardedHttpProtocol
from duologue.gateway.life.drain import Drain
from duologue.gateway.middleware.forwarded import Proxies, is_local
from duologue.gateway.middleware.host_check import AllowedHosts
from duologue.gateway.middleware.stack import with_middleware
from duologue.gateway.models.loader import ProbeHardware
from duologue.gateway.ollama_port import OllamaErrors, ollama_port
from duologue.gateway.startup_messages import server_url
from duologue.gateway.workers.load_specs import ListCards, load_specs
from duologue.supervisor.link import SupervisorLink
from duologue.tracing import spans

log = logging.getLogger(__name__)

STOP_SECONDS = 0.7
"""Seconds that running answers have to send their last message; as long again for their connections to close."""
BEAT_SECONDS = 5.0
"""Seconds between two signs of life to the parent, which passes them on to systemd."""
SPANS_SECONDS = 0.7
"""Seconds that the last spans have to reach the collector, where there is tracing."""


def serve(
    settings: Settings,
    *,
    announce: Callable[[str], None],
    probe_hardware: ProbeHardware | None = None,
    list_cards: ListCards = tuple,
    supervisor: SupervisorLink | None = None,
) -> None:
    """Serve until interrupted. Raises StartFailed.

    `announce` gets the lines meant for the person at the terminal. `probe_hardware` measures this machine without loading an
    engine into this process, and `list_cards` lists its graphics cards. `supervisor` is the parent that watches this process; it keeps the listening socket.
    """
    if supervisor is not None and supervisor.listener is not None:
        # Where the first gateway listened, this one does: another address in the settings takes effect at the next start.
        settings = settings.model_copy(update={"host": supervisor.host})
    telemetry.set_up_logging(settings.log.level, settings.log.format)
    trace(settings.tracing)
    has_key = middleware.has_key(settings)
    middleware.check_start(
        settings.host,
        has_key=has_key,
        insecure_http=settings.insecure_http,
        tls=tls.is_on(settings.tls),
    )
    if warning := middleware.check_key(settings):
        log.warning("%s", warning)
    if settings.proxies and not has_key:
        log.warning(
            "There is no key, so everyone who comes through the proxy is an admin. Add one: `duologue key add NAME`"
        )
    specs = load_specs(settings, list_cards)
    is_restart = supervisor is not None and supervisor.listener is not None
    listener = (supervisor and supervisor.listener) or process_lock.port(settings.host, settings.port)
    url = server_url(settings, listener.getsockname()[1])
    with (
        listener,
        ollama_listener(settings, has_key=has_key, is_restart=is_restart) as ollama,
        process_lock.data_folder(settings.data, url, None if supervisor is None else supervisor.parent),
    ):
        if supervisor is not None:
            log_settings = (settings.log.level, settings.log.format)
            supervisor.listening(listener, settings.host, log_settings, settings.lifecycle.drain_s)
        settings = settings.model_copy(update={"port": listener.getsockname()[1]})
        restarts = None if supervisor is None else supervisor.restarts
        gateway = Gateway(settings, specs, announce, probe_hardware, restarts, list_cards)
        server = _Server(gateway, supervisor, ollama)
        # uvicorn handles signals only once everything is started, and the terminal may say "ready" before that. After a clean
        # shutdown it raises the signal again, which would make the command fail; then this changes nothing.
        for signum in (signal.SIGINT, signal.SIGTERM):
            signal.signal(signum, lambda number, frame: server.handle_exit(number, frame))
        server.run(sockets=[listener])


def trace(settings: TracingSettings) -> None:
    """Trace in this process and its workers, if the settings say so. Raises StartFailed where the extra is not installed."""
    if not settings.enabled:
        return
    from duologue.tracing.opentelemetry_export import tracer_of

    chosen = spans.TraceSettings(settings.endpoint, settings.ratio, settings.service_name)
    spans.set_up(tracer_of(chosen), chosen)


@contextmanager
def ollama_listener(settings: Settings, *, has_key: bool, is_restart: bool) -> Iterator[socket.socket | None]:
    """The socket for Ollama's API; None where that is off. A port that is taken keeps a server from starting, because who switched
    this on expects it; but not one that is started again, whose users have a chat to go on with. Raises StartFailed."""
    ollama = settings.compat.ollama
    if not ollama.enabled:
        yield None
        return
    host = ollama.host or settings.host
    middleware.check_start(
        host, has_key=has_key, insecure_http=settings.insecure_http, tls=tls.is_on(settings.tls)
    )
    try:
        bound = process_lock.port(host, ollama.port, "compat.ollama.port")
    except StartFailed as failure:
        if not is_restart:
            raise
        log.error("Ollama's API is not served: %s", failure.message)
        yield None
        return
    with bound:
        yield bound


def public_app(app: ASGIApp, settings: Settings, base: str | None = None) -> ASGIApp:
    """The application behind the middleware that every request and every answer passes, errors included. `base`: another path than
    that of the settings."""
    hosts = AllowedHosts(settings.host_names, settings.allow_origins)
    return with_middleware(
        app,
        hosts,
        settings.base_path if base is None else base,
        Proxies(settings.proxies),
        trust_traces=settings.tracing.trust_clients,
    )


def connection_guard(settings: Settings) -> ConnectionGuard:
    """The bounds of all connections; raises the limit on open files, of which each is one."""
    bounds = settings.connections
    proxies = Proxies(settings.proxies)
    table = ConnectionTable(
        per_address=bounds.per_address,
        total=open_files.most_connections(open_files.raise_limit(), bounds.total),
        is_shared=lambda peer: is_local(peer) or proxies.trusts(peer),
    )
    return ConnectionGuard(bounds, table)


class _Server(uvicorn.Server):
    """uvicorn with the gateway's own start and shutdown around it, and its own accepting of connections."""

    def __init__(
        self,
        gateway: Gateway,
        supervisor: SupervisorLink | None = None,
        ollama: socket.socket | None = None,
    ) -> None:
        self._gateway = gateway
        self._supervisor = supervisor
        self._ollama = ollama
        settings = gateway.settings
        super().__init__(_config(public_app(gateway.app, settings), settings))
        self._guard = connection_guard(settings)
        self._acceptors: list[Acceptor] = []
        self._signals = 0
        self._stop_by = math.inf

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        # The gateway starts here and not in the application's lifespan: uvicorn answers an error there with a stack trace
        # and exits, and StartFailed never reaches the terminal as a sentence.
        self.config.load()
        self._gateway.tls = self.config.ssl
        try:
            async with self._gateway.running(), anyio.create_task_group() as self._tasks:
                self._tasks.start_soon(self._guard.sweep)
                if self._supervisor is not None:
                    self._tasks.start_soon(self._stop_without, self._supervisor)
                    self._tasks.start_soon(_beat, self._supervisor)
                await super().serve(sockets)
                self._tasks.cancel_scope.cancel()
        except BaseExceptionGroup as group:
            if (failures := group.subgroup(StartFailed)) is None:
                raise
            raise _first(failures) from None

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """A first signal drains the server; a second one stops it at once. Called by the signals, between two steps of any code."""
        self._signals += 1
        if self._signals == 1 and self.started and self._gateway.settings.lifecycle.drain_s > 0:
            self._captured_signals.append(sig)
        else:
            super().handle_exit(sig, frame)

    async def on_tick(self, counter: int) -> bool:
        """Called ten times a second. Gives whether to shut down."""
        if self._signals and not self.should_exit:
            drain = self._gateway.life.drain
            if math.isinf(self._stop_by):
                self._begin_drain(drain)
            if not drain.running:
                self.should_exit = True
            elif time.monotonic() >= self._stop_by:
                log.warning("Still running: %d. It is told that the server stops.", drain.running)
                self.should_exit = True
        return await super().on_tick(counter)

    def _begin_drain(self, drain: Drain) -> None:
        seconds = self._gateway.settings.lifecycle.drain_s
        self._stop_by = time.monotonic() + seconds
        drain.begin("stopping")
        if drain.running:
            log.warning(
                "The server stops. Still running: %d, for up to %g s; a second signal stops it at once.",
                drain.running,
                seconds,
            )

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup([])  # uvicorn accepts nothing itself
        for listener in sockets or ():
            self._accept(listener, self.config)
        if self._ollama is not None:
            port = ollama_port(self._gateway, self._gateway.embeddings)
            app = OllamaErrors(public_app(port, self._gateway.settings, base=""))
            config = _config(app, self._gateway.settings)
            config.load()
            self._accept(self._ollama, config)
            log.info("Ollama's API is served on %s, port %d.", *self._ollama.getsockname()[:2])
        # What a start leaves stays: otherwise each large request makes the collector walk all of it, several times, for 50 ms
        # each in which nothing else runs.
        gc.freeze()
        if self._supervisor is not None:
            self._supervisor.ready()
        # After the parent knows it: who reads the line may kill this process at once, and expects it to come back.
        self._gateway.startup_messages.start(self._gateway.pool, self._gateway.voice)

    def _accept(self, listener: socket.socket, config: uvicorn.Config) -> None:
        """Accept connections for the application of `config`."""

        def protocol(admission: Admission | None) -> GuardedHttpProtocol:
            return GuardedHttpProtocol(
                config, self.server_state, self.lifespan.state, guard=self._guard, admission=admission
            )

        acceptor = Acceptor(self._guard, protocol, self.config.ssl)
        self._acceptors.append(acceptor)
        self._tasks.start_soon(acceptor.run, listener)

    async def _stop_without(self, supervisor: SupervisorLink) -> None:
        """Stop when the parent is gone, even by SIGKILL: nobody would know of this process."""
        while True:
            await anyio.wait_readable(supervisor.socket)
            if supervisor.is_closed():
                log.warning("The process that watches the gateway is gone. The server stops.")
                self.should_exit = True
                return

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        # Before uvicorn closes the sockets, whose last message must say why they close. The runs stop before the workers,
        # so that their text is saved.
        self._gateway.model_service.close()
        self._gateway.voice_packs.close()
        if self._gateway.service is not None:
            await self._gateway.service.close()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._gateway.pool.stop, STOP_SECONDS)
            if self._gateway.voice is not None:
                tasks.start_soon(self._gateway.voice.stop, STOP_SECONDS)
        for acceptor in self._acceptors:
            await acceptor.stop()
        await super().shutdown(sockets)
        await spans.sent(SPANS_SECONDS)


async def _beat(supervisor: SupervisorLink) -> None:
    """Say as long as the event loop turns that it does."""
    while True:
        supervisor.alive()
        await anyio.sleep(BEAT_SECONDS)


def _config(app: ASGIApp, settings: Settings) -> uvicorn.Config:
    """How uvicorn serves an application."""
    files = tls.tls_files(settings) if tls.is_on(settings.tls) else (None, None)
    return uvicorn.Config(
        app,
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
        timeout_keep_alive=settings.connections.keep_alive_s,
    )


def _first(group: BaseExceptionGroup[StartFailed]) -> StartFailed:
    inner = group.exceptions[0]
    return _first(inner) if isinstance(inner, BaseExceptionGroup) else inner
