"""The life of the server and its workers: the drain, rolling restarts, scaling, put together. `app` makes one."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import anyio
import anyio.abc
import msgspec
from fastapi import APIRouter
from starlette.middleware import Middleware

from duologue.config import Settings
from duologue.errors import NotFound
from duologue.gateway.life import life_routes, replica_routes
from duologue.gateway.life.autoscaling import ScaleLimits
from duologue.gateway.life.drain import Drain
from duologue.gateway.life.measured_memory import ProbeHardware, measure
from duologue.gateway.life.replacement import ANYWHERE, NOWHERE, WorkerMemory
from duologue.gateway.life.rolling_restart import RollingRestart
from duologue.gateway.life.scaler import Scaler
from duologue.gateway.life.shared_drains import SharedDrains
from duologue.gateway.life.work_gate import WorkGate
from duologue.gateway.scheduling.pool import Pool
from duologue.gateway.workers.worker_status import WorkerStatus
from duologue.threads import hardware_io

RecordAct = Callable[[str, str, str], object]
"""Records what an admin did: who, what, to what."""


class ActiveRuns(Protocol):
    @property
    def active(self) -> Sequence[Any]:
        """The runs of the page that are under way, each with its `view`."""


def _record_nothing(actor: str, act: str, target: str) -> None:
    pass


class LifeService:
    """`pools`: that of the models, then that of the voice; `moved`: hears that a worker is replaced by another one; `record`: hears what
    admins do."""

    def __init__(
        self,
        settings: Settings,
        pools: Sequence[Pool],
        probe: ProbeHardware | None = None,
        *,
        moved: Callable[[str, str], None] = lambda old, new: None,
        record: RecordAct = _record_nothing,
    ) -> None:
        self.pools = pools
        self.record = record
        self.grace = settings.lifecycle.drain_s
        self._probe = probe
        self.has_room: Callable[[WorkerStatus], bool | None] = lambda status: None
        """Whether there is room for one more worker like this one, where it is placed on a cluster; None for one on this machine."""
        self._folder = settings.data / "models"
        self._runs: ActiveRuns | None = None
        self.drain = Drain(time.time, self._running)
        self.worker_drains = SharedDrains(pools)
        self.restart = RollingRestart(pools, self._memory, moved, self.grace)
        self.scaler = Scaler(
            pools[0],
            _limits(settings),
            self._memory_to_scale,
            grace=self.grace,
            paused=lambda: self.drain.state is not None or self.restart.progress.running,
        )

    def watch_runs(self, runs: ActiveRuns) -> None:
        """Count the runs of the page among what runs, once there are any."""
        self._runs = runs

    def gate(self) -> Middleware:
        """The middleware that refuses new work while the server drains."""
        return Middleware(WorkGate, self.drain)

    def pool_of(self, worker: str) -> Pool:
        """The pool that has a worker. Raises NotFound (`worker_not_found`)."""
        pool = next((pool for pool in self.pools if worker in pool.workers), None)
        if pool is None:
            known = ", ".join(name for pool in self.pools for name in pool.workers) or "none"
            raise NotFound(
                f"There is no worker {worker[:100]!r}. Known: {known}.", code="worker_not_found", param="name"
            )
        return pool

    def router(self) -> APIRouter:
        """The routes for admins."""
        routes = APIRouter()
        # Names of workers may have slashes: the longer paths come first.
        routes.include_router(replica_routes.router(self))
        routes.include_router(life_routes.router(self))
        return routes

    async def run(self, *, task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Restart and scale until cancelled."""
        async with anyio.create_task_group() as tasks:
            self.restart.use(tasks)
            task_status.started()
            await self.scaler.run()
            await anyio.sleep_forever()

    def view(self) -> dict[str, Any]:
        """What admins see: whether the server drains, what runs, the restart, the models that are scaled, the workers."""
        state = self.drain.state
        return {
            "draining": state is not None,
            "reason": state.reason if state else None,
            "since": state.since if state else None,
            "grace_s": self.grace,
            "running": self.drain.running,
            "restart": msgspec.to_builtins(self.restart.progress),
            "scaling": self.scaler.view(),
            "workers": [
                {
                    "worker": status.worker,
                    "state": status.state,
                    "draining": status.draining,
                    "retiring": status.retiring,
                    "note": status.note,
                    "detail": status.detail,
                    "ended": status.ended,
                }
                for pool in self.pools
                for status in pool.workers.values()
            ],
        }

    def _running(self) -> int:
        """Replies, calls and other work that holds a slot or waits for one, and runs. The lines of batches wait without harm."""
        tickets = 0
        for pool in self.pools:
            tickets += len({task.ticket for task in pool.scheduler.tasks(pool.now())})
            tickets += sum(not entry.behind for entry in pool.scheduler.entries())
        # One that waits for an approval may wait for a day.
        active = () if self._runs is None else self._runs.active
        return max(tickets, len([run for run in active if run.view.waiting != "approval"]))

    async def _memory_to_scale(self, status: WorkerStatus) -> WorkerMemory:
        # If a cluster has no room, waiting places are what makes it grow.
        return ANYWHERE if self.has_room(status) is not None else await self._memory(status)

    async def _memory(self, status: WorkerStatus) -> WorkerMemory:
        if (room := self.has_room(status)) is not None:
            return ANYWHERE if room else NOWHERE
        processes = [one.process for pool in self.pools for one in pool.workers.values() if one.process]
        return await hardware_io(measure, status, processes, self._probe, self._folder)


def _limits(settings: Settings) -> dict[str, ScaleLimits]:
    lifecycle = settings.lifecycle
    return {
        name: ScaleLimits(
            model.workers.min, model.workers.max, lifecycle.scale_wait_s, lifecycle.scale_idle_s
        )
        for name, model in settings.models.items()
    }
