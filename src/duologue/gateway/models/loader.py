"""Loads and unloads models while the server runs: one load at a time, with progress, and cleaned up if it fails.

Owns what is refused before a load begins, and how a load ends. A load belongs to the server and continues when the client that
requested it disconnects. The pool starts and ends the processes; `remembered` hears of every load. `/v1/model`, conversations whose
model is not loaded, and the start of the server call this.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from contextlib import aclosing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import anyio
import anyio.abc
import msgspec
from msgspec import Struct

from duologue import telemetry
from duologue.errors import EngineFailed, ModelNotFound, Problem, Unavailable
from duologue.gateway.models.available import AvailableModels, Prepared, Sizes
from duologue.gateway.models.remembered import RememberedModels
from duologue.gateway.models.requested.resting_models import RestingModel, RestingModels
from duologue.gateway.models.shortage import Shortage, require_room
from duologue.gateway.scheduling.pool import Pool
from duologue.gateway.scheduling.scheduler import unloaded_message
from duologue.gateway.workers.load_specs import ListCards, placed_beside
from duologue.gateway.workers.worker_status import WorkerStatus
from duologue.models.fit import Hardware, memory_needed
from duologue.models.placement import AUTO
from duologue.notifier import Notifier
from duologue.threads import disk_io, hardware_io
from duologue.values.events import STOPPING, Failed
from duologue.wire.worker_protocol import LoadSpec

if TYPE_CHECKING:
    from duologue.store.remembered_loads import RememberedLoad

log = logging.getLogger(__name__)

ProbeHardware = Callable[[Path, Iterable[int]], tuple[Hardware, str]]
"""Measures this machine: numbers, and a line for people. Arguments: the folder of the models, and the worker processes, whose
memory counts as used. Blocks."""
Stage = Literal["starting", "loading", "ready"]


async def _nobody_gives_way(short: Shortage) -> bool:
    return False


class LoadRequest(Struct, frozen=True):
    """What to load, for which user. `replace`: first unload everything that was loaded at run time; with `drain` its running replies may
    end before. `force`: skip the memory check. `another`: add a worker to a model that is already loaded. `default`: make it the default once
    it is ready. `repeats`: the remembered load that this repeats. `by_request`: a request named the model, so it is not remembered, and may
    make room for another."""

    name: str
    sizes: Sizes = Sizes()
    replace: bool = False
    drain: bool = False
    force: bool = False
    another: bool = False
    default: bool = False
    user: str = ""
    repeats: int = 0
    by_request: bool = False


class LoadState(Struct, frozen=True):
    """How far a load is. `progress`: 0 to 1, None if it cannot be measured."""

    stage: Stage = "starting"
    progress: float | None = None
    problem: Problem | None = None

    @property
    def ended(self) -> bool:
        return self.stage == "ready" or self.problem is not None


class Load:
    """One load: the names of the model and its worker, and how far it is. `remembered`: its id there."""

    def __init__(
        self, name: str, status: WorkerStatus, request: LoadRequest | None = None, remembered: int = 0
    ) -> None:
        self.name = name
        self.worker = status.worker
        self.request = request or LoadRequest(name)
        self.remembered = remembered
        self.step = LoadState()
        self._status = status
        self._notifier = Notifier()

    @property
    def chats(self) -> bool:
        """Whether its model writes replies: no other one can be the default."""
        return self._status.chats

    async def steps(self) -> AsyncGenerator[LoadState]:
        """The current step and every later one; a slow reader misses intermediate ones. The last has `ended`."""
        sent: LoadState | None = None
        while sent is None or not sent.ended:
            if self.step is not sent:
                sent = self.step
                yield sent
            else:
                await self._notifier.wait()

    async def done(self) -> None:
        """Return when the model is ready. Raises the Problem that ended the load."""
        async with aclosing(self.steps()) as steps:
            async for step in steps:
                if step.problem is not None:
                    raise step.problem

    def move(self, step: LoadState) -> None:
        if step != self.step and not self.step.ended:
            self.step = step
            self._notifier.notify()

    def worker_progress(self, pool: Pool) -> LoadState:
        """How far its worker is now."""
        status = self._status
        if pool.workers.get(status.worker) is not status:
            return LoadState(problem=Unavailable(unloaded_message(self.name), code="model_unloaded"))
        if status.state == "ready":
            return LoadState("ready", 1.0)
        if status.state == "failed":
            return LoadState(problem=EngineFailed(status.detail, code="load_failed", status=500))
        if status.restarts:
            reason = status.ended or "the reason is unknown"
            sentence = (
                f"The process that was loading {self.name} ended before it was ready ({reason}). The server's log says "
                "more; the most likely reason is too little memory."
            )
            return LoadState(problem=EngineFailed(sentence, code="load_failed", status=500))
        return LoadState("loading" if status.state == "loading" else "starting", status.progress)


class Loader:
    """Loads and unloads models of a pool. Without `probe_hardware` no load is refused for lack of memory. `list_cards` lists the graphics
    cards with their free memory, and blocks. `grace`: the seconds that running replies have to end when their model is drained."""

    def __init__(
        self,
        pool: Pool,
        available: AvailableModels,
        probe_hardware: ProbeHardware | None = None,
        remembered: RememberedModels | None = None,
        list_cards: ListCards = tuple,
        grace: float = 30.0,
    ) -> None:
        self._pool = pool
        self._grace = grace
        self._remembered = remembered or RememberedModels()
        self._available = available
        self._probe_hardware = probe_hardware
        self._list_cards = list_cards
        self.give_way: Callable[[Shortage], Awaitable[bool]] = _nobody_gives_way
        """Asked before a load is refused for lack of memory: unloads what may be unloaded for it. Gives whether it unloaded something."""
        self.resting = RestingModels(lambda name: pool.find(name) is not None)
        """The models that were unloaded because nobody used them."""
        self._loading = ""
        """The name of the model that is being loaded."""
        self._current: Load | None = None
        self._pool_notifier = Notifier()
        self._turn_notifier = Notifier()
        """Notified when a load has its worker, and when it is over."""
        self._tasks: anyio.abc.TaskGroup | None = None
        self._closed = False

    async def run(self, *, task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Follow loads until cancelled."""
        async with anyio.create_task_group() as self._tasks:
            task_status.started()
            await anyio.sleep_forever()

    def pool_changed(self) -> None:
        """The status of a worker changed."""
        self._pool_notifier.notify()

    def close(self) -> None:
        """End the current load: the server shuts down."""
        self._closed = True
        if self._current is not None:
            stopping = Unavailable(STOPPING.message, code=STOPPING.code)
            self._current.move(msgspec.structs.replace(self._current.step, problem=stopping))
        self.pool_changed()

    async def load(self, request: LoadRequest) -> Load:
        """Begin to load a model. Returns once its worker is starting.

        Raises ModelNotFound, BadRequest (a broken file, an invalid size), and Problem with status 409: `load_running`,
        `model_loaded`, `not_enough_memory`; Unavailable when the server stops.
        """
        tasks = self._running()
        if self._loading:
            raise Problem(
                f"The model {self._loading} is being loaded. Wait until it is ready, or unload it.",
                code="load_running",
                status=409,
            )
        self._loading = request.name
        try:
            load = await self._begin(request)
        except BaseException:
            self._loading = ""
            self._turn_notifier.notify()
            raise
        self._turn_notifier.notify()
        tasks.start_soon(self._follow, load)
        return load

    def current(self, name: str) -> Load | None:
        """The load of this model that is under way."""
        return self._current if self._current is not None and self._current.name == name else None

    async def join(self, request: LoadRequest) -> Load:
        """The load of this model that is under way, else a new one, after the load of any other model. Raises as `load`."""
        while self._loading:
            if (current := self.current(request.name)) is not None:
                return current
            await self._turn_notifier.wait()
        return await self.load(request)

    async def wake(self, model: RestingModel) -> Load:
        """Load a model that rests as it was before, or join the load that is under way. Raises as `load`, without `model_loaded`."""
        while self._loading:
            if (current := self.current(model.name)) is not None:
                return current
            await self._turn_notifier.wait()
        tasks = self._running()
        self._loading = model.name
        try:
            await self._check_room_for(model)
            self._running()
            first, *others = [
                self._pool.add(spec, ahead=model.default)
                for spec in (await self._placed(model.specs[0]), *model.specs[1:])
            ]
        except BaseException:
            self._loading = ""
            self._turn_notifier.notify()
            raise
        for status in (first, *others):
            status.added, status.by_request = model.added, model.by_request
        load = self._current = Load(model.name, first, LoadRequest(model.name, by_request=True))
        self._turn_notifier.notify()
        tasks.start_soon(self._follow, load)
        return load

    async def wake_named(self, name: str) -> None:
        """Begin to load the model of this name, or the default one for "", if it rests. Raises as `wake`."""
        if (model := self.resting.find(name)) is not None:
            await self.wake(model)

    async def _check_room_for(self, model: RestingModel) -> None:
        """Raises Problem `not_enough_memory`. Other models may have taken its memory meanwhile."""
        short = await self.shortage(model.name)
        if short.missing and await self.give_way(short):
            short = await self.shortage(model.name)
        require_room(short)

    @property
    def loading(self) -> str:
        """The name of the model that is being loaded, "" without one."""
        return self._loading

    async def changed(self) -> None:
        """Return when a load has its worker, or is over."""
        await self._turn_notifier.wait()

    async def shortage(self, name: str) -> Shortage:
        """The memory that a model needs, with the sizes of the settings, and what is free. Raises ModelNotFound, BadRequest."""
        if (resting := self.resting.find(name)) is not None:
            name = await disk_io(self._known_name, resting)
            if not name:
                return Shortage(resting.name)
        model = await disk_io(self._available.find, name)
        return await self._shortage(model.name, await disk_io(self._available.prepare, model, Sizes()))

    def _known_name(self, model: RestingModel) -> str:
        """The name by which a model that rests can be loaded, "" for one without a file here. Reads files."""
        for name in model.names:
            with suppress(ModelNotFound):
                return self._available.find(name).name
        return ""

    async def unload(self, name: str = "", worker: str = "", *, drain: bool = False) -> list[str]:
        """Unload a worker, or all workers of a model, by default of the default model. With `drain` nothing new begins on them, and
        their running replies may end before. Gives the names of the workers.

        Raises ModelNotFound.
        """
        workers = self._workers()
        if not worker and self.resting.forget(name):
            return []
        if not workers:
            raise ModelNotFound("No model is loaded.")
        if worker:
            unloaded = [status for status in workers if status.worker == worker]
        else:
            unloaded = _workers_of(name or workers[0].model, workers)
        if not unloaded:
            known = ", ".join(dict.fromkeys(status.worker if worker else status.model for status in workers))
            raise ModelNotFound(f"{(worker or name)[:80]!r} is not loaded. Loaded: {known}.")
        await self._remove_all(unloaded, drain=drain)
        await self._drop_default(unloaded)
        return [status.worker for status in unloaded]

    def _workers(self) -> list[WorkerStatus]:
        """The workers with a model of their own: those of connected servers end when the server is removed."""
        return [status for status in self._pool.workers.values() if not status.upstream]

    # ---- one load

    def _running(self) -> anyio.abc.TaskGroup:
        """The task group that loads run in. Raises Unavailable before the loader runs and after it was closed."""
        if self._closed or self._tasks is None:
            raise Unavailable(STOPPING.message, code=STOPPING.code)
        return self._tasks

    async def _begin(self, request: LoadRequest) -> Load:
        model = await disk_io(self._available.find, request.name)
        prepared = await disk_io(self._available.prepare, model, request.sizes)
        name = self._loading = model.name
        workers = self._workers()
        # A worker of another machine was not loaded here and cannot be started again from here.
        own = [status for status in workers if not status.joined]
        replaced = [status for status in own if status.added and request.replace]
        if not request.another:
            # A worker of this model that has failed is replaced, so that the load can be tried again.
            replaced += [
                status
                for status in _workers_of(name, own)
                if (status.state == "failed" or _is_taken_over(status, request)) and status not in replaced
            ]
            serving = [status for status in workers if status.state != "failed" and status not in replaced]
            _check_not_loaded(name, serving)
        if not request.force:
            await self._check_memory(name, prepared, replaced)
        self._running()  # raises if the server has begun to stop meanwhile
        for status in replaced:
            telemetry.metrics().unload_begins(status.worker, "replaced")
        await self._remove_all(replaced, drain=request.drain)
        await self._drop_default(status for status in replaced if status.model != name)
        # Once what is replaced is gone: its memory is free.
        spec = await self._placed(prepared.load_spec)
        self._running()
        # Written before the load begins, because a load may bring the whole machine down.
        with anyio.CancelScope(shield=True):
            id = 0 if request.by_request else await self._remember(name, request)
        try:
            status = self._pool.add(spec)
        except Problem as problem:
            await self._remembered.failed(id, problem)
            raise
        status.by_request = request.by_request
        self._remembered.starts(id, status.worker)
        self._current = Load(name, status, request, id)
        return self._current

    async def _remember(self, name: str, request: LoadRequest) -> int:
        return await self._remembered.begin(
            name,
            request.sizes.given(),
            another=request.another,
            user=request.user,
            repeats=request.repeats,
        )

    async def _check_memory(self, name: str, prepared: Prepared, replaced: Sequence[WorkerStatus]) -> None:
        """Raises Problem `not_enough_memory`."""
        freed = sum(status.card.size for status in replaced if status.card is not None)
        short = await self._shortage(name, prepared, freed)
        if short.missing and await self.give_way(short):
            short = await self._shortage(name, prepared, freed)
        require_room(short)

    async def _shortage(self, name: str, prepared: Prepared, freed: int = 0) -> Shortage:
        if self._probe_hardware is None or not prepared.size:
            return Shortage(name)
        processes = [status.process for status in self._pool.workers.values() if status.process]
        hardware, _ = await hardware_io(self._probe_hardware, self._available.folder, processes)
        needed = memory_needed(prepared.size) + prepared.cache
        return Shortage(name, needed, hardware.memory + hardware.card_memory + freed)

    async def _placed(self, spec: LoadSpec) -> LoadSpec:
        """The load spec, on a card if there are several."""
        if spec.engine != "llama" or spec.device != AUTO:
            return spec
        cards = await hardware_io(self._list_cards)
        if len(cards) < 2:
            # No card appears while the server runs, and listing them takes up to a second.
            self._list_cards = tuple
            return spec
        starting = [
            self._pool.load_spec(status.worker)
            for status in self._workers()
            if status.state in ("offline", "loading") and not status.joined
        ]
        return await disk_io(placed_beside, spec, starting, cards)

    async def _follow(self, load: Load) -> None:
        """Move the load along with its worker, and remove the worker if the load fails."""
        step = LoadState()
        try:
            while not load.step.ended:
                # Taken before the status is read: removing the worker waits, and the pool may change meanwhile.
                changed = self._pool_notifier.pending()
                step = load.worker_progress(self._pool)
                if (problem := step.problem) is not None:
                    log.warning("%s could not be loaded (%s); its worker is removed", load.name, problem.code)
                    # Keep the stage and progress it had reached.
                    step = msgspec.structs.replace(load.step, problem=problem)
                    await self._remove(load.worker, problem)
                    await self._remembered.failed(load.remembered, problem)
                elif step.ended:
                    await self._remembered.ready(load.remembered)
                    if load.request.default and load.chats:
                        await self._remembered.choose_default(load.name, load.request.user)
                load.move(step)
                if not step.ended:
                    await changed.wait()
            if step.problem is None and (stopping := load.step.problem) is not None:
                await self._remembered.failed(load.remembered, stopping)
        finally:
            self._loading, self._current = "", None
            self._turn_notifier.notify()

    async def _remove_all(self, workers: Iterable[WorkerStatus], *, drain: bool) -> None:
        """Remove workers; with `drain` once nothing runs on them, or the grace is over. Finished even if the client that requested it
        disconnects."""
        with anyio.CancelScope(shield=True):
            async with anyio.create_task_group() as tasks:
                for status in workers:
                    tasks.start_soon(self._drain if drain else self._remove, status.worker)

    async def _drain(self, worker: str) -> None:
        if worker in self._pool.workers:
            await self._remembered.removed(worker)
            await self._pool.retire(worker, self._grace)

    async def _remove(self, worker: str, problem: Problem | None = None) -> None:
        """Remove a worker unless it is gone already; what waits for it hears of the `problem`. Finished even if the client that requested
        it disconnects."""
        if worker in self._pool.workers:
            if problem is not None:
                telemetry.metrics().unload_begins(worker, "failed")
            failure = Failed(problem.code, problem.message, problem.status) if problem else None
            with anyio.CancelScope(shield=True):
                await self._pool.remove(worker, failure)
                await self._remembered.removed(worker)

    async def _drop_default(self, unloaded: Iterable[WorkerStatus]) -> None:
        """A model without a worker does not become the default by itself when it is loaded again."""
        for status in unloaded:
            for name in (status.model, status.card.name if status.card else ""):
                if not _workers_of(name, self._pool.workers.values()):
                    await self._remembered.drop_default(name)


def repeated(load: RememberedLoad, *, force: bool = False, user: str = "") -> LoadRequest:
    """The request that repeats a remembered load, with its sizes."""
    sizes = msgspec.convert(load.sizes, Sizes)
    return LoadRequest(
        load.name, sizes, force=force, another=load.another, user=user or load.user, repeats=load.id
    )


def _workers_of(model: str, workers: Iterable[WorkerStatus]) -> list[WorkerStatus]:
    """The workers of a model, by its name in the settings or its own."""
    return [status for status in workers if model in (status.model, status.card and status.card.name)]


def _is_taken_over(status: WorkerStatus, request: LoadRequest) -> bool:
    """Whether a load takes the place of a worker that a request had loaded: it may have other sizes, and it is to stay."""
    return status.by_request and not request.by_request


def _check_not_loaded(name: str, workers: Iterable[WorkerStatus]) -> None:
    for status in _workers_of(name, (status for status in workers if not status.draining)):
        raise Problem(
            f"{name} is already loaded, by {status.worker}. Unload it first to change its sizes, or request `another` "
            "worker.",
            code="model_loaded",
            status=409,
        )
