"""Unloads models that nobody has used for a while. They stay listed, and the next request that names one has it loaded again.

`IdleModel` and `due` decide, the rest measures and acts. Models of connected servers have no memory here and stay.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping

import anyio
from msgspec import Struct

from duologue import telemetry
from duologue.gateway.models.requested.resting_models import RestingModel, RestingModels
from duologue.gateway.scheduling.pool import Pool
from duologue.gateway.workers.worker_status import WorkerStatus

log = logging.getLogger(__name__)

EVERY = 5.0
"""Seconds between two looks."""


class IdleModel(Struct, frozen=True):
    """A model that is loaded: whether something runs on it, waits for it or changes it, when it was last used (seconds), and how long it may be
    idle; 0 for ever."""

    name: str
    busy: bool
    used: float
    limit: float


def due(models: Iterable[IdleModel], at: float) -> list[str]:
    """The models to unload now."""
    return [
        model.name
        for model in models
        if model.limit > 0 and not model.busy and at - model.used >= model.limit
    ]


class IdleUnload:
    """`limits`: the seconds of single models by their names, `limit` those of all others; `asked`: when a request last named a model;
    `is_busy`: whether models are being loaded or changed just now."""

    def __init__(
        self,
        pool: Pool,
        resting: RestingModels,
        *,
        limit: float = 0.0,
        limits: Mapping[str, float] | None = None,
        asked: Callable[[str], float] = lambda name: float("-inf"),
        is_busy: Callable[[], bool] = lambda: False,
    ) -> None:
        self._pool, self._resting = pool, resting
        self._limit, self._limits = limit, limits or {}
        self._asked, self._is_busy = asked, is_busy

    async def run(self) -> None:
        """Look again and again until cancelled."""
        if not self._limit and not any(self._limits.values()):
            return
        while True:
            await anyio.sleep(EVERY)
            if not self._is_busy():
                await self.look()

    async def look(self) -> None:
        """Unload what is due."""
        groups = self._groups()
        for name in due([self._idle(name, workers) for name, workers in groups.items()], self._pool.now()):
            await self._unload(groups[name])

    def _groups(self) -> dict[str, list[WorkerStatus]]:
        groups: dict[str, list[WorkerStatus]] = {}
        for status in self._pool.workers.values():
            if not status.upstream and status.engine != "remote":
                groups.setdefault(status.queue, []).append(status)
        # A worker of another machine cannot be started again from here.
        return {name: workers for name, workers in groups.items() if not any(w.joined for w in workers)}

    def _idle(self, name: str, workers: list[WorkerStatus]) -> IdleModel:
        scheduler = self._pool.scheduler
        names = {status.model for status in workers} | {status.card.name for status in workers if status.card}
        limit = next((self._limits[known] for known in sorted(names) if known in self._limits), self._limit)
        used = max(max(status.ready_at, *scheduler.last_use(status.worker)) for status in workers)
        used = max(used, *(self._asked(known) for known in names))
        busy = any(
            status.state != "ready"
            or status.draining
            or status.card is None
            or scheduler.is_wanted(status.worker)
            for status in workers
        )
        return IdleModel(name, busy, used, limit)

    async def _unload(self, workers: list[WorkerStatus]) -> None:
        first = workers[0]
        assert first.card is not None  # only models that are ready are due
        default = self._pool.served().find("")
        self._resting.put(
            RestingModel(
                first.card,
                first.model,
                tuple(self._pool.load_spec(status.worker) for status in workers),
                added=all(status.added for status in workers),
                by_request=all(status.by_request for status in workers),
                default=default is not None and default.queue == first.queue,
            )
        )
        log.info(
            "%s is unloaded, because nobody has used it; the next request loads it again", first.card.name
        )
        async with anyio.create_task_group() as tasks:
            for status in workers:
                telemetry.metrics().unload_begins(status.worker, "idle")
                tasks.start_soon(self._pool.retire, status.worker)
