"""Loads models that requests name: one after another, once there is room, for as long as a client waits.

Owns the line of these loads and how many requests may wait in it. A load that has begun belongs to the server and goes on when those who
wait for it leave; a load without waiting clients does not begin. `load_rules` decides what makes room, `loader` loads.
`requested_models` calls this.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import anyio
import anyio.abc
from msgspec import Struct

from duologue import telemetry
from duologue.errors import EngineFailed, ModelNotFound, Problem, QueueFull, Unavailable
from duologue.gateway.models.loader import Loader, LoadRequest
from duologue.gateway.models.requested.load_rules import RemovableModel, Room, make_room
from duologue.gateway.models.requested.resting_models import RestingModel
from duologue.gateway.models.shortage import Shortage
from duologue.gateway.scheduling.pool import Pool
from duologue.models.fit import memory_needed
from duologue.models.hub.repository import gigabytes
from duologue.notifier import Notifier
from duologue.values.events import STOPPING

log = logging.getLogger(__name__)

CLAIM = 10.0
"""Seconds for which a model that a request has named is not unloaded, although the request has no slot yet."""
FAILED_FOR = 10.0
"""Seconds for which a load that failed is not tried again: every request of a busy client would begin one."""
LOOK_AGAIN = 1.0
"""Seconds after which a load that waits for room looks again, although nothing has told it to."""


class _Arrival(Struct):
    """A model that is on its way, and how many wait for it."""

    name: str
    ended: anyio.Event
    waiting: int = 0
    begun: bool = False
    problem: Problem | None = None


class InlineLoads:
    """`limit`: requests that may wait at a time; `patience`: seconds that a load waits for room."""

    def __init__(self, loader: Loader, pool: Pool, *, limit: int = 64, patience: float = 60.0) -> None:
        self._loader, self._pool = loader, pool
        self._limit, self._patience = limit, patience
        self._arrivals: OrderedDict[str, _Arrival] = OrderedDict()
        self._asked: dict[str, float] = {}
        """When a request last named a model, on the pool's clock."""
        self._failed: dict[str, tuple[float, Problem]] = {}
        self._waiting = 0
        self._notifier = Notifier()
        self._closed = False

    async def run(self, *, task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Load what requests wait for until cancelled."""
        task_status.started()
        while True:
            while (arrival := next(iter(self._arrivals.values()), None)) is None:
                await self._notifier.wait()
            try:
                await self._load(arrival)
            except Problem as problem:
                log.warning("%s, which a request named, was not loaded: %s", arrival.name, problem.message)
                arrival.problem = problem
                if problem.code == "load_failed":
                    self._failed[arrival.name] = (self._pool.now(), problem)
            except Exception:
                log.exception("%s, which a request named, was not loaded", arrival.name)
                sentence = f"{arrival.name} could not be loaded. The server's log says why."
                arrival.problem = EngineFailed(sentence, code="load_failed", status=500)
            self._end(arrival)

    def close(self) -> None:
        """Refuse those who wait: the server shuts down."""
        self._closed = True
        for arrival in list(self._arrivals.values()):
            arrival.problem = Unavailable(STOPPING.message, code=STOPPING.code)
            self._end(arrival)

    def note(self, model: str) -> None:
        """A request names this model, which is loaded, and is about to use it."""
        self._asked[model] = self._pool.now()

    def last_asked(self, model: str) -> float:
        """When a request last named a model, on the pool's clock; minus infinity for never."""
        return self._asked.get(model, float("-inf"))

    def resting(self, name: str) -> RestingModel | None:
        """The model of this name that rests; the default one for an empty name."""
        return self._loader.resting.find(name)

    def resting_names(self) -> list[str]:
        """The models that rest: any request that names one has it loaded again."""
        return [card.name for card in self._loader.resting.cards()]

    def is_coming(self, model: str) -> bool:
        """Whether this model is being loaded for a request, or waits for its turn."""
        return model in self._arrivals

    def is_begun(self, model: str) -> bool:
        """Whether this model comes anyhow: for another request, or because an admin loads it."""
        return self.is_coming(model) or self._loader.loading == model

    def place(self, model: str) -> int:
        """How many of the models that requests wait for are loaded until this one is, itself counted; 1 for any other that is on its way."""
        return next((at for at, name in enumerate(self._arrivals, 1) if name == model), 1)

    @property
    def is_loading(self) -> bool:
        """Whether any model is being loaded."""
        return bool(self._loader.loading)

    @property
    def are_any(self) -> bool:
        """Whether any model is being loaded, or waits for its turn."""
        return self.is_loading or bool(self._arrivals)

    async def loaded(self, model: str) -> None:
        """Return when this model is ready. Raises what loading raises, QueueFull when too many wait, Unavailable where no room could be
        made in time."""
        with self._waits():
            arrival = self._arrivals.get(model) or self._begin(model)
            arrival.waiting += 1
            try:
                await arrival.ended.wait()
            finally:
                arrival.waiting -= 1
                if not arrival.waiting and not arrival.begun:
                    self._end(arrival)
                    self._notifier.notify()
        if arrival.problem is not None:
            raise arrival.problem.with_traceback(
                None
            )  # one for all who wait: it must not gather their frames
        self.note(model)

    async def until_turn_changes(self) -> None:
        """Wait, as one of those who may, for the load that is under way to get its worker or end."""
        with self._waits():
            await self._loader.changed()

    @contextmanager
    def _waits(self) -> Iterator[None]:
        """A place among those who wait. Raises QueueFull without a free one."""
        if self._waiting >= self._limit:
            raise QueueFull(
                f"{self._limit} requests are waiting for models that are being loaded. Try again in a moment, or raise "
                "loading.waiting.",
                retry_after=10.0,
            )
        self._waiting += 1
        try:
            yield
        finally:
            self._waiting -= 1

    def _begin(self, model: str) -> _Arrival:
        if self._closed:
            raise Unavailable(STOPPING.message, code=STOPPING.code)
        failed_at, problem = self._failed.pop(model, (float("-inf"), None))
        if problem is not None and self._pool.now() - failed_at < FAILED_FOR:
            self._failed[model] = (failed_at, problem)
            raise problem.with_traceback(None)
        arrival = self._arrivals[model] = _Arrival(model, anyio.Event())
        self._notifier.notify()
        return arrival

    def _end(self, arrival: _Arrival) -> None:
        if self._arrivals.get(arrival.name) is arrival:
            del self._arrivals[arrival.name]
        arrival.ended.set()

    # ---- one load

    async def _load(self, arrival: _Arrival) -> None:
        """Raises Problem."""
        deadline = self._pool.now() + self._patience
        while self._loader.loading != arrival.name and not await self._make_room(arrival.name, deadline):
            if arrival.ended.is_set():
                return  # every client has left
        if arrival.ended.is_set():
            return
        arrival.begun = True
        try:
            if (resting := self._loader.resting.find(arrival.name)) is not None:
                load = await self._loader.wake(resting)
            else:
                # Its memory was looked at just now.
                load = await self._loader.join(LoadRequest(arrival.name, force=True, by_request=True))
        except Problem as problem:
            if problem.code != "model_loaded":
                raise
        else:
            await load.done()

    async def _make_room(self, model: str, deadline: float) -> bool:
        """Whether there is room now; if not, something was done about it, or time has passed. Raises Problem `not_enough_memory`."""
        short = await self._loader.shortage(model)
        room = make_room(short.missing, self._removable())
        await self._unload(room, model)
        if room.enough:
            return not room.unload  # if something was unloaded, what is free is measured again
        left = deadline - self._pool.now()
        if not room.wait or left <= 0:
            raise _no_room(short, busy=room.wait)
        with anyio.move_on_after(min(left, LOOK_AGAIN)):
            await self._pool.slot_released()
        return False

    async def give_way(self, short: Shortage) -> bool:
        """Unload models that requests had loaded for one that an admin or a chat loads, if that is enough. Gives whether it did."""
        room = make_room(short.missing, self._removable())
        await self._unload(room, short.name)
        return bool(room.unload)

    async def _unload(self, room: Room, model: str) -> None:
        for name in room.unload:
            log.info("%s is unloaded to make room for %s", name, model)
            for status in self._pool.workers.values():
                if status.model == name:
                    telemetry.metrics().unload_begins(status.worker, "room")
            with suppress(ModelNotFound):  # an admin was faster
                await self._loader.unload(name, drain=True)

    def _removable(self) -> list[RemovableModel]:
        """The models that requests had loaded, and those that are being unloaded anyhow."""
        models: list[RemovableModel] = []
        scheduler, now = self._pool.scheduler, self._pool.now()
        for status in self._pool.workers.values():
            if not (status.by_request or status.draining) or status.state != "ready" or status.card is None:
                continue
            lent, used = scheduler.last_use(status.worker)
            asked = max(self._asked.get(name, float("-inf")) for name in (status.model, status.card.name))
            claimed = asked > lent and now - asked < CLAIM
            busy = status.draining or claimed or scheduler.is_wanted(status.worker)
            size = memory_needed(status.card.size)
            models.append(RemovableModel(status.model, size, busy, max(asked, used)))
        return models


def _no_room(short: Shortage, *, busy: bool) -> Problem:
    figures = f"{short.name} needs about {gigabytes(short.needed)} of memory, but only {gigabytes(short.free)} are free"
    if busy:
        sentence = f"{figures}, and the models that could make room are in use. Try again in a moment."
        return Unavailable(sentence, code="not_enough_memory", retry_after=10.0)
    sentence = (
        f"{figures}, and no model can be unloaded for it. Use a loaded model, or ask an admin to unload one."
    )
    return Problem(sentence, code="not_enough_memory", status=409)
