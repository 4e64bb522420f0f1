"""The models of a running server: what is available, the loader, the downloads, and the events about all of them.

`app` makes one. Owns which changes of the pool become events.
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
from duologue.gateway.models.downloads import Download, Downloads, hub_download
from duologue.gateway.models.loader import Loader, ProbeHardware
from duologue.gateway.models.registry import ModelRegistry
from duologue.gateway.scheduling.pool import Pool
from duologue.http.event_log import EventLog, EventNumbers
from duologue.models.fit import Hardware
from duologue.wire.worker_protocol import LoadSpec

UNKNOWN = Hardware(cores=1, memory=2**62, disk=2**62)
"""The hardware if it is not probed: nothing is refused for lack of memory or disk."""


class ModelService:
    """Everything about models that may change while the server runs. `probe_hardware` measures this machine; without it nothing is
    refused for lack of memory."""

    def __init__(
        self,
        settings: Settings,
        configured: Sequence[LoadSpec],
        pool: Pool,
        models: ModelRegistry,
        probe_hardware: ProbeHardware | None = None,
    ) -> None:
        self._pool = pool
        self._models = models
        self._probe_hardware = probe_hardware
        self.available = AvailableModels(settings, configured)
        self.loader = Loader(pool, self.available, probe_hardware)
        self.events: EventLog[ModelEvent] = EventLog(
            EventNumbers(time.time_ns() // 1_000_000), reset=READ_AGAIN
        )
        folder = self.available.folder
        self.downloads = Downloads(
            hub_download(
                folder, lambda: UNKNOWN if probe_hardware is None else probe_hardware(folder, ())[0]
            ),
            on_change=self._publish_download,
            on_complete=lambda: self.events.publish({"type": "here"}),
        )
        self._states: dict[str, tuple[str, str]] = {}
        self._progress: dict[str, float] = {}

    def routes(self) -> tuple[APIRouter, ...]:
        """`/v1/model` and `/api/models`."""
        return (
            v1_routes.router(self.loader, self.available, self._models),
            api_routes.router(
                self._pool, self.available.folder, self.downloads, self.events, self._probe_hardware
            ),
        )

    def publish_changes(self) -> None:
        """Something changed in the pool: publish what readers of the events need to know."""
        self.loader.pool_changed()
        workers = self._pool.workers.values()
        states = {status.worker: (status.state, status.detail) for status in workers}
        progress = {status.worker: status.progress for status in workers if status.progress is not None}
        if states != self._states:
            self._states = states
            self.events.publish({"type": "loaded"})
        for worker, share in progress.items():
            if share != self._progress.get(worker):
                self.events.publish({"type": "loading", "worker": worker, "progress": share})
        self._progress = progress

    async def run(self, *, task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Run loads and downloads until cancelled."""
        async with anyio.create_task_group() as tasks:
            await tasks.start(self.loader.run)
            await tasks.start(self.downloads.run)
            task_status.started()

    def close(self) -> None:
        """Accept nothing new and end what is running: the server shuts down."""
        self.downloads.close()
        self.loader.close()
        self.events.close()

    def _publish_download(self, download: Download) -> None:
        self.events.publish({"type": "download", "download": msgspec.to_builtins(download)})
