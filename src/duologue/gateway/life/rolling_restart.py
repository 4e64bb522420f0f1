"""A rolling restart: each worker is replaced, one after another, and no reply is cut within the grace.

Owns the one restart that may run at a time, and how far it is. `replacement` decides how each worker is replaced; the pool does it.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence

import anyio.abc
from msgspec import Struct
from msgspec.structs import replace

from duologue.errors import Problem, Unavailable
from duologue.gateway.life.replacement import WorkerMemory, choose_way
from duologue.gateway.scheduling.pool import Pool
from duologue.gateway.workers.worker_status import WorkerStatus
from duologue.values.events import STOPPING

log = logging.getLogger(__name__)

NOTE = "rolling restart"


class RestartProgress(Struct, frozen=True):
    """How far a restart is: the workers that are done, the current one, those that are left, and why it ended early, if it did."""

    running: bool = False
    done: tuple[str, ...] = ()
    current: str = ""
    way: str = ""
    left: tuple[str, ...] = ()
    problem: str = ""


class RollingRestart:
    """`memory` measures what a worker like this one needs and what is free; `moved` hears that a worker is replaced by another one;
    `grace`: the seconds that what runs has to end."""

    def __init__(
        self,
        pools: Sequence[Pool],
        memory: Callable[[WorkerStatus], Awaitable[WorkerMemory]],
        moved: Callable[[str, str], None] = lambda old, new: None,
        grace: float = 25.0,
    ) -> None:
        self._pools = pools
        self._memory = memory
        self._moved = moved
        self._grace = grace
        self._tasks: anyio.abc.TaskGroup | None = None
        self.progress = RestartProgress()

    def use(self, tasks: anyio.abc.TaskGroup) -> None:
        """Restarts run in this group: they go on when the client that asked for one leaves."""
        self._tasks = tasks

    def start(self, names: Sequence[str]) -> RestartProgress:
        """Begin to restart these workers. Raises Problem `restart_running` (409), Unavailable before the server runs."""
        if self.progress.running:
            raise Problem(
                "A rolling restart is running already. Wait until it has ended.",
                code="restart_running",
                status=409,
            )
        if self._tasks is None:
            raise Unavailable(STOPPING.message, code=STOPPING.code)
        self.progress = RestartProgress(running=True, left=tuple(names))
        self._tasks.start_soon(self._run)
        return self.progress

    async def _run(self) -> None:
        try:
            while self.progress.left:
                name, *left = self.progress.left
                self.progress = replace(self.progress, current=name, way="", left=tuple(left))
                await self._one(name)
                self.progress = replace(self.progress, current="", way="", done=(*self.progress.done, name))
            log.info("the rolling restart of %d workers is done", len(self.progress.done))
        except Problem as problem:
            log.error("the rolling restart ended at %s: %s", self.progress.current, problem.message)
            self.progress = replace(self.progress, problem=problem.message)
        finally:
            self.progress = replace(self.progress, running=False)

    async def _one(self, name: str) -> None:
        """Replace one worker. Raises Problem when the new one does not get ready."""
        pool = next((pool for pool in self._pools if name in pool.workers), None)
        if pool is None:
            return  # it was unloaded meanwhile
        status = pool.workers[name]
        # Nobody here can start another worker on the machine of one that has joined.
        stays = (
            bool(status.upstream or status.joined) or pool is not self._pools[0] or status.state != "ready"
        )
        way, reason = choose_way(await self._memory(status), stays=stays)
        if pool.workers.get(name) is not status:
            return
        self.progress = replace(self.progress, way=way)
        log.info("worker %s is replaced (%s): %s", name, NOTE, reason)
        if way == "beside":
            new = await pool.beside(name, NOTE)
            self._moved(name, new.worker)
            if pool.workers.get(name) is status:
                await pool.retire(name, self._grace)
            new.note = ""
        else:
            await self._in_place(pool, status)

    async def _in_place(self, pool: Pool, status: WorkerStatus) -> None:
        name = status.worker
        pool.hold(name, NOTE)
        await pool.emptied(name, self._grace)
        if pool.workers.get(name) is not status or not status.draining:
            return  # it was unloaded, or an admin let it go on
        pool.restart(name, "rolling")
        while pool.workers.get(name) is status and status.state != "ready":
            if status.state == "failed":
                raise Unavailable(f"The worker {name} is not ready again: {status.detail}")
            await pool.changed()
