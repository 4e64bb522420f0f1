"""A service of connected servers over a real database and a stand-in of the pool."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.support.stand_in import StandIn

from duologue.config import load
from duologue.gateway.upstreams.service import UpstreamService
from duologue.gateway.workers.worker_status import WorkerStatus
from duologue.store.database import Database
from duologue.store.upstreams import Upstreams
from duologue.values.requests import UpstreamModel
from duologue.wire.worker_protocol import LoadSpec


class PlayedPool(StandIn):
    """Remembers the workers instead of starting them."""

    def __init__(self) -> None:
        self.workers: dict[str, WorkerStatus] = {}
        self.specs: list[LoadSpec] = []

    def add(self, spec: LoadSpec) -> WorkerStatus:
        self.specs.append(spec)
        status = WorkerStatus(
            f"worker_{len(self.specs)}", spec.model, spec.engine, "cpu", upstream=spec.upstream
        )
        self.workers[status.worker] = status
        return status

    async def remove(self, name: str) -> None:
        del self.workers[name]

    def set_models(self, name: str, models: tuple[UpstreamModel, ...], warning: str = "") -> None:
        self.workers[name].models, self.workers[name].warning = models, warning

    def served(self) -> dict[str, list[str]]:
        """The names of the models by their server."""
        return {status.upstream: [model.name for model in status.models] for status in self.workers.values()}


Running = Callable[..., AbstractAsyncContextManager[tuple[UpstreamService, PlayedPool]]]


@pytest.fixture
def running(tmp_path: Path) -> Running:
    """`async with running(**settings) as (service, pool)`: the service over a data folder that stays for the test."""

    @asynccontextmanager
    async def run(**flags: Any) -> Any:
        settings = load(None, {}, {"data": str(tmp_path), "engine": "scripted", "discover": [], **flags})
        pool = PlayedPool()
        service = UpstreamService(settings, pool)
        ticks = iter(range(1000, 2000))
        async with (
            Database.opened(None, tmp_path, now=lambda: 1) as database,
            anyio.create_task_group() as tasks,
        ):
            await tasks.start(service.run, Upstreams(database, lambda: next(ticks)))
            yield service, pool
            tasks.cancel_scope.cancel()

    return run
