"""Runs the gateway: the checks before it starts, the socket, uvicorn, and the order of a clean shutdown.

`duologue serve` calls `serve`. What runs is put together in `app`.
"""

from __future__ import annotations

import logging
import signal
import socket
from collections.abc import Callable

import anyio
import uvicorn
from fastapi import FastAPI
from starlette.types import ASGIApp

from duologue import telemetry
from duologue.config import Settings
from duologue.errors import StartFailed
from duologue.gateway import process_lock, tls
from duologue.gateway.app import MEGABYTE, Gateway
from duologue.gateway.auth import middleware
from duologue.gateway.middleware.forwarded import Proxies
from duologue.gateway.middleware.host_check import AllowedHosts
from duologue.gateway.middleware.stack import with_middleware
from duologue.gateway.models.loader import ProbeHardware
from duologue.gateway.startup_messages import server_url
from duologue.gateway.workers.load_specs import load_specs

log = logging.getLogger(__name__)

STOP_SECONDS = 0.7
"""Seconds that running answers have to send their last message; as long again for their connections to close."""


def serve(
    settings: Settings,
    *,
    announce: Callable[[str], None],
    probe_hardware: ProbeHardware | None = None,
) -> None:
    """Serve until interrupted. Raises StartFailed.

    `announce` gets the lines meant for the person at the terminal. `probe_hardware` measures this machine without loading an
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
        log.warning(
            "There is no key, so everyone who comes through the proxy is an admin. Add one: `duologue key add NAME`"
        )
    specs = load_specs(settings)
    listener = process_lock.port(settings.host, settings.port)
    with (
        listener,
        process_lock.data_folder(settings.data, server_url(settings, listener.getsockname()[1])),
    ):
        settings = settings.model_copy(update={"port": listener.getsockname()[1]})
        # After a clean shutdown uvicorn raises the signal again, which would make the command fail. Ignore it there.
        for signum in (signal.SIGINT, signal.SIGTERM):
            signal.signal(signum, lambda number, frame: None)
        _Server(Gateway(settings, specs, announce, probe_hardware)).run(sockets=[listener])


def public_app(app: FastAPI, settings: Settings) -> ASGIApp:
    """The application behind the middleware that every request and every answer passes, errors included."""
    hosts = AllowedHosts(settings.host_names, settings.allow_origins)
    return with_middleware(app, hosts, settings.base_path, Proxies(settings.proxies))


class _Server(uvicorn.Server):
    """uvicorn with the gateway's own start and shutdown around it."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        settings = gateway.settings
        files = tls.tls_files(settings) if tls.is_on(settings.tls) else (None, None)
        super().__init__(
            uvicorn.Config(
                public_app(gateway.app, settings),
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
        # The gateway starts here and not in the application's lifespan: uvicorn answers an error there with a stack trace
        # and exits, and StartFailed never reaches the terminal as a sentence.
        self.config.load()
        self._gateway.tls = self.config.ssl
        try:
            async with self._gateway.running():
                await super().serve(sockets)
        except BaseExceptionGroup as group:
            if (failures := group.subgroup(StartFailed)) is None:
                raise
            raise _first(failures) from None

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        # Before uvicorn closes the sockets, whose last message must say why they close. The runs stop before the workers,
        # so that their text is saved.
        self._gateway.model_service.close()
        if self._gateway.service is not None:
            await self._gateway.service.close()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._gateway.pool.stop, STOP_SECONDS)
            if self._gateway.voice is not None:
                tasks.start_soon(self._gateway.voice.stop, STOP_SECONDS)
        await super().shutdown(sockets)


def _first(group: BaseExceptionGroup[StartFailed]) -> StartFailed:
    inner = group.exceptions[0]
    return _first(inner) if isinstance(inner, BaseExceptionGroup) else inner
