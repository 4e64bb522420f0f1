"""The models of a running server: what can be loaded, the loader, the downloads, and the news of all that.

Puts these together for the application. Decides nothing but what of the pool's changes is news.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import anyio
import anyio.abc
import msgspec
from fastapi import APIRouter

from duologue.config import Settings
from duologue.gateway.models import api_routes, v1_routes
from duologue.gateway.models.api_routes import READ_AGAIN, ModelEvent
from duologue.gateway.models.available import AvailableModels
from duologue.gateway.models.downloads import Download, Downloads, fetcher
from duologue.gateway.models.loader import Loader, ProbeHardware
from duologue.gateway.models.registry import ModelRegistry
from duologue.gateway.scheduling.pool import Pool
from duologue.http.event_log import EventLog, EventNumbers
from duologue.models.fit import Hardware
from duologue.wire.worker_protocol import LoadSpec

UNKNOWN = Hardware(cores=1, memory=2**62, disk=2**62)
"""The machine where nobody has looked: nothing is refused for its sake."""


class ModelService:
    """Everything about models that may change while the server runs. `look` sees this machine; without it nothing is
    refused for want of memory."""

    def __init__(
        self,
        settings: Settings,
        configured: Sequence[LoadSpec],
        pool: Pool,
        models: ModelRegistry,
        look: ProbeHardware | None = None,
    ) -> None:
        self._pool = pool
        self._models = models
        self._look = look
        self.loadables = AvailableModels(settings, configured)
        self.loader = Loader(pool, self.loadables, look)
        self.events: EventLog[ModelEvent] = EventLog(
            EventNumbers(time.time_ns() // 1_000_000), reset=READ_AGAIN
        )
        folder = self.loadables.folder
        self.downloads = Downloads(
            fetcher(folder, lambda: look(folder, ())[0] if look is not None else UNKNOWN),
            tell=self._tell_download,
            arrived=lambda: self.events.publish({"type": "here"}),
        )
        self._states: dict[str, tuple[str, str]] = {}
        self._progress: dict[str, float] = {}

    def routes(self) -> tuple[APIRouter, ...]:
        """`/v1/model` and `/api/models`."""
        return (
            v1_routes.router(self.loader, self.loadables, self._models),
            api_routes.router(self._pool, self.loadables.folder, self.downloads, self.events, self._look),
        )

    def publish_changes(self) -> None:
        """Something changed in the pool: publish what readers of the events need to know."""
        self.loader.look()
        views = self._pool.workers.values()
        states = {view.worker: (view.state, view.detail) for view in views}
        progress = {view.worker: view.progress for view in views if view.progress is not None}
        if states != self._states:
            self._states = states
            self.events.publish({"type": "loaded"})
        for worker, share in progress.items():
            if share != self._progress.get(worker):
                self.events.publish({"type": "loading", "worker": worker, "progress": share})
        self._progress = progress

    async def run(self, *, task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Load and download what is asked for, until cancelled."""
        async with anyio.create_task_group() as tasks:
            await tasks.start(self.loader.run)
            await tasks.start(self.downloads.run)
            task_status.started()

    def close(self) -> None:
        """Take nothing new and end what is under way: the server goes down."""
        self.downloads.close()
        self.loader.close()
        self.events.close()

    def _tell_download(self, download: Download) -> None:
        self.events.publish({"type": "download", "download": msgspec.to_builtins(download)})
