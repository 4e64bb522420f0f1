"""Gives models more and fewer workers by the length of their queues: measures, asks `autoscaling`, and acts.

Only for models whose settings allow more than one worker (`models.<name>.workers`), and only for those that run on this machine.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping

import anyio
import anyio.abc

from duologue import telemetry
from duologue.errors import Problem
from duologue.gateway.life.autoscaling import Autoscaler, Scale, ScaleFacts, ScaleLimits
from duologue.gateway.life.replacement import WorkerMemory
from duologue.gateway.scheduling.pool import Pool
from duologue.gateway.workers.worker_status import WorkerStatus

log = logging.getLogger(__name__)

EVERY = 2.0
"""Seconds between two looks at the queue."""


class Scaler:
    """`limits`: of each model, by its name in the settings; `memory` measures; `paused`: whether nothing is to change, because the server
    drains."""

    def __init__(
        self,
        pool: Pool,
        limits: Mapping[str, ScaleLimits],
        memory: Callable[[WorkerStatus], Awaitable[WorkerMemory]],
        *,
        grace: float = 25.0,
        paused: Callable[[], bool] = lambda: False,
    ) -> None:
        self._pool = pool
        self._limits = {name: limit for name, limit in limits.items() if limit.most > 1}
        self._memory = memory
        self._grace = grace
        self._paused = paused
        self._deciders: dict[str, Autoscaler] = {}
        self._added: list[str] = []
        """The workers that were added here, the newest last."""

    async def run(self) -> None:
        """Look again and again until cancelled."""
        if not self._limits:
            return
        async with anyio.create_task_group() as tasks:
            while True:
                await anyio.sleep(EVERY)
                if not self._paused():
                    await self.look(tasks)

    def view(self) -> list[dict[str, object]]:
        """The models that are scaled, for admins."""
        rows: list[dict[str, object]] = []
        for name, workers in self._models().items():
            limits = self._limits[name]
            note = self._deciders[name].note if name in self._deciders else ""
            serving = [status for status in workers if not status.draining]
            rows.append(
                {
                    "model": name,
                    "workers": len(serving),
                    "min": limits.least,
                    "max": limits.most,
                    "note": note,
                }
            )
        return rows

    async def look(self, tasks: anyio.abc.TaskGroup) -> None:
        """One look at every model."""
        for name, workers in self._models().items():
            decider = self._deciders.setdefault(name, Autoscaler(self._limits[name]))
            at, facts = self._pool.now(), await self._facts(workers)
            if decider.needs_room(facts, at):
                try:
                    facts = facts._replace(room=(await self._memory(workers[0])).fits)
                except Problem as problem:
                    log.warning("the memory for another worker of %s is not known: %s", name, problem.message)
                    decider.failed(problem.message, at)
                    continue
            scale = decider.decide(facts, at)
            if scale.by > 0:
                tasks.start_soon(self._add, workers[0], decider, scale)
            elif scale.by < 0:
                tasks.start_soon(self._remove, workers, scale)

    def _models(self) -> dict[str, list[WorkerStatus]]:
        """The workers of each model that is scaled, the ready ones first."""
        models: dict[str, list[WorkerStatus]] = {}
        for status in self._pool.workers.values():
            card = status.card.name if status.card is not None else ""
            name = next((known for known in (status.model, card) if known in self._limits), "")
            # One that has joined by hand is neither copied nor sent away.
            if name and not status.upstream and not status.joined:
                models.setdefault(name, []).append(status)
        for workers in models.values():
            workers.sort(key=lambda status: status.state != "ready")
        return models

    async def _facts(self, workers: Iterable[WorkerStatus]) -> ScaleFacts:
        scheduler = self._pool.scheduler
        serving = [status for status in workers if not status.draining]
        ready = [status for status in serving if status.state == "ready"]
        coming = [status for status in serving if status.state in ("offline", "loading")]
        queues = {status.queue for status in serving}
        # The lines of batches have time.
        waiting = {
            entry.ticket for entry in scheduler.entries() if entry.model in queues and not entry.behind
        }
        waits = [moved.wait for moved in await self._pool.places() if moved.ticket in waiting]
        return ScaleFacts(
            len(ready),
            len(coming),
            max((scheduler.slots(status.worker) for status in ready), default=1),
            sum(scheduler.busy(status.worker) for status in ready),
            len(waiting),
            max(waits, default=0.0),
            failed=sum(status.state == "failed" for status in serving),
        )

    async def _add(self, like: WorkerStatus, decider: Autoscaler, scale: Scale) -> None:
        log.info("%s gets another worker: %s", like.model, scale.reason)
        try:
            new = await self._pool.beside(like.worker, scale.reason)
            self._added.append(new.worker)
            telemetry.metrics().workers_scaled(like.model, "up")
        except (Problem, KeyError) as error:
            reason = error.message if isinstance(error, Problem) else "it was unloaded"
            log.warning("another worker of %s could not be loaded: %s", like.model, reason)
            decider.failed(reason, self._pool.now())

    async def _remove(self, workers: Iterable[WorkerStatus], scale: Scale) -> None:
        """The newest of those that were added, else the last one, drained."""
        there = (status for status in workers if self._pool.workers.get(status.worker) is status)
        serving = {status.worker: status for status in there if not status.draining}
        names = list(serving)
        name = next(
            (name for name in reversed(self._added) if name in names), names[-1] if len(names) > 1 else ""
        )
        if not name:
            return
        log.info("the worker %s is removed: %s", name, scale.reason)
        self._added = [added for added in self._added if added != name]
        telemetry.metrics().workers_scaled(serving[name].model, "down")
        telemetry.metrics().unload_begins(name, "scaled_down")
        await self._pool.retire(name, self._grace)
