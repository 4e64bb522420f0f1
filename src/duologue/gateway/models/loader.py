"""Models come and go while the server runs: one load at a time, told as it goes, and nothing left of one that failed.

Owns what is refused before a load begins, and how a load ends. A load belongs to the server: whoever asked for it may
leave. Knows no dialect; the pool starts and ends the processes.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Literal

import anyio
import anyio.abc
import msgspec
from msgspec import Struct

from duologue.errors import EngineFailed, ModelNotFound, Problem, Unavailable
from duologue.gateway.models.available import AvailableModels, Prepared, Sizes
from duologue.gateway.scheduling.pool import Pool
from duologue.gateway.scheduling.scheduler import unloaded_message
from duologue.gateway.workers.worker_status import WorkerStatus
from duologue.models.fit import Hardware, memory_needed
from duologue.models.hub.repository import gigabytes
from duologue.threads import disk_io, hardware_io
from duologue.values.failures import STOPPING

log = logging.getLogger(__name__)

ProbeHardware = Callable[[Path, Iterable[int]], tuple[Hardware, str]]
"""This machine, in figures and in a line for people, given where models are kept and which processes hold some. Blocks."""
Stage = Literal["starting", "loading", "ready"]


class LoadRequest(Struct, frozen=True):
    """A load that is asked for. `replace`: what was loaded at run time goes first. `force`: whatever the memory says.
    `another`: one more worker of a model that is loaded."""

    name: str
    sizes: Sizes = Sizes()
    replace: bool = False
    force: bool = False
    another: bool = False


class LoadProgress(Struct, frozen=True):
    """How far a load is. `progress` 0 to 1, None where that cannot be measured."""

    stage: Stage = "starting"
    progress: float | None = None
    problem: Problem | None = None

    @property
    def ended(self) -> bool:
        return self.stage == "ready" or self.problem is not None


class Load:
    """One load: the model's name, its worker's, and how far it is."""

    def __init__(self, name: str, view: WorkerStatus) -> None:
        self.name = name
        self.worker = view.worker
        self.step = LoadProgress()
        self._view = view
        self._changed = anyio.Event()

    async def steps(self) -> AsyncGenerator[LoadProgress]:
        """Every step from now on, joined where the reader is slow; the last one has ended."""
        told: LoadProgress | None = None
        while told is None or not told.ended:
            changed = self._changed
            if self.step is not told:
                told = self.step
                yield told
            else:
                await changed.wait()

    async def done(self) -> None:
        """Returns when the model is ready. Raises the Problem that it met."""
        async with aclosing(self.steps()) as steps:
            async for step in steps:
                if step.problem is not None:
                    raise step.problem

    def move(self, step: LoadProgress) -> None:
        if step != self.step and not self.step.ended:
            self.step = step
            self._changed.set()
            self._changed = anyio.Event()

    def look(self, pool: Pool) -> LoadProgress:
        """How its worker is now."""
        view = self._view
        if pool.workers.get(view.worker) is not view:
            return LoadProgress(problem=Unavailable(unloaded_message(self.name), code="model_unloaded"))
        if view.state == "ready":
            return LoadProgress("ready", 1.0)
        if view.state == "failed":
            return LoadProgress(problem=EngineFailed(view.detail, code="load_failed"))
        if view.restarts:
            how = view.ended or "nobody knows how"
            sentence = (
                f"The process that was to load {self.name} ended before it was ready ({how}). The server's log says "
                "more; too little memory is the likeliest reason."
            )
            return LoadProgress(problem=EngineFailed(sentence, code="load_failed"))
        return LoadProgress("loading" if view.state == "loading" else "starting", view.progress)


class Loader:
    """Loads and unloads models of a pool. Without `look` no load is refused for want of memory."""

    def __init__(self, pool: Pool, loadables: AvailableModels, look: ProbeHardware | None = None) -> None:
        self._pool = pool
        self._loadables = loadables
        self._look = look
        self._busy = ""
        self._current: Load | None = None
        self._changed = anyio.Event()
        self._tasks: anyio.abc.TaskGroup | None = None
        self._closed = False

    async def run(self, *, task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Follow loads until cancelled."""
        async with anyio.create_task_group() as self._tasks:
            task_status.started()
            await anyio.sleep_forever()

    def look(self) -> None:
        """Something changed in the pool."""
        self._changed.set()
        self._changed = anyio.Event()

    def close(self) -> None:
        """End the load that is under way: the server goes down."""
        self._closed = True
        if self._current is not None:
            stopping = Unavailable(STOPPING.message, code=STOPPING.code)
            self._current.move(msgspec.structs.replace(self._current.step, problem=stopping))
        self.look()

    async def load(self, wanted: LoadRequest) -> Load:
        """Begin to load a model. Returns when its worker is starting.

        Raises ModelNotFound, BadRequest (a broken file, a size that is none), and Problem with status 409: `load_running`,
        `model_loaded`, `not_enough_memory`; Unavailable when the server stops.
        """
        tasks = self._running()
        if self._busy:
            raise Problem(
                f"The model {self._busy} is being loaded. Wait until it is ready, or unload it.",
                code="load_running",
                status=409,
            )
        self._busy = wanted.name
        try:
            load = await self._begin(wanted)
        except BaseException:
            self._busy = ""
            raise
        tasks.start_soon(self._follow, load)
        return load

    async def unload(self, name: str = "", worker: str = "") -> list[str]:
        """Take away a worker, or all of a model; without either those of the default model. The workers' names.

        Raises ModelNotFound.
        """
        views = list(self._pool.workers.values())
        if not views:
            raise ModelNotFound("No model is loaded.")
        if worker:
            gone = [view for view in views if view.worker == worker]
        else:
            gone = _of(name or views[0].model, views)
        if not gone:
            known = ", ".join(dict.fromkeys(view.worker if worker else view.model for view in views))
            raise ModelNotFound(f"{(worker or name)[:80]!r} is not loaded. Loaded: {known}.")
        for view in gone:
            await self._remove(view.worker)
        return [view.worker for view in gone]

    # ---- one load

    def _running(self) -> anyio.abc.TaskGroup:
        """Where loads are followed. Raises Unavailable before the loader runs and once it is closed."""
        if self._closed or self._tasks is None:
            raise Unavailable(STOPPING.message, code=STOPPING.code)
        return self._tasks

    async def _begin(self, wanted: LoadRequest) -> Load:
        found = await disk_io(self._loadables.find, wanted.name)
        prepared = await disk_io(self._loadables.prepare, found, wanted.sizes)
        name = self._busy = found.name
        views = list(self._pool.workers.values())
        going = [view for view in views if view.added and wanted.replace]
        if not wanted.another:
            # One that could not be loaded is no reason not to try again.
            going += [view for view in _of(name, views) if view.state == "failed" and view not in going]
            _check_new(name, [view for view in views if view not in going])
        if not wanted.force:
            await self._check_memory(name, prepared, going)
        self._running()  # the server may have been told to stop meanwhile
        for view in going:
            await self._remove(view.worker)
        view = self._pool.add(prepared.load_spec)
        self._current = Load(name, view)
        return self._current

    async def _check_memory(self, name: str, prepared: Prepared, going: Sequence[WorkerStatus]) -> None:
        """Raises Problem `not_enough_memory`."""
        if self._look is None or not prepared.size:
            return
        processes = [view.process for view in self._pool.workers.values() if view.process]
        hardware, _ = await hardware_io(self._look, self._loadables.folder, processes)
        freed = sum(view.card.size for view in going if view.card is not None)
        needed = memory_needed(prepared.size) + prepared.cache
        room = hardware.memory + hardware.card_memory + freed
        if needed > room:
            raise Problem(
                f"{name} needs about {gigabytes(needed)} of memory, and {gigabytes(room)} are free beside what is "
                "loaded. Unload another model, choose a smaller one or a shorter context, or load it all the same "
                "with `force`.",
                code="not_enough_memory",
                status=409,
            )

    async def _follow(self, load: Load) -> None:
        """Tell how the load goes; what is left of one that failed is taken away."""
        try:
            while not load.step.ended:
                changed = self._changed
                step = load.look(self._pool)
                if step.problem is not None:
                    log.warning(
                        "%s could not be loaded (%s); its worker is ended", load.name, step.problem.code
                    )
                    # With how far it had come.
                    step = msgspec.structs.replace(load.step, problem=step.problem)
                    await self._remove(load.worker)
                load.move(step)
                if not step.ended:
                    await changed.wait()
        finally:
            self._busy, self._current = "", None

    async def _remove(self, worker: str) -> None:
        """Take a worker away, if nobody else has. Whoever asked may leave meanwhile: it is done all the same."""
        if worker in self._pool.workers:
            with anyio.CancelScope(shield=True):
                await self._pool.remove(worker)


def _of(model: str, views: Iterable[WorkerStatus]) -> list[WorkerStatus]:
    """The workers of a model, by the name of the settings or by its own."""
    return [view for view in views if model in (view.model, view.card and view.card.name)]


def _check_new(name: str, views: Iterable[WorkerStatus]) -> None:
    for view in _of(name, views):
        raise Problem(
            f"{name} is loaded already, by {view.worker}. Unload it first to give it other sizes, or ask for `another` "
            "worker of it.",
            code="model_loaded",
            status=409,
        )
