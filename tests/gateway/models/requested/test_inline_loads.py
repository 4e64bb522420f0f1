"""Loads that requests wait for, over a loader and a pool that do as the test says."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import anyio
import pytest
from tests.support.stand_in import StandIn

from duologue.errors import EngineFailed, ModelNotFound, Problem, QueueFull
from duologue.gateway.models.loader import LoadRequest
from duologue.gateway.models.requested.inline_loads import CLAIM, FAILED_FOR, InlineLoads
from duologue.gateway.models.requested.resting_models import RestingModels
from duologue.gateway.models.shortage import Shortage
from duologue.gateway.workers.worker_status import WorkerStatus
from duologue.models.fit import memory_needed
from duologue.notifier import Notifier
from duologue.values.requests import ModelCard

pytestmark = pytest.mark.anyio
GB = 10**9


class Machine(StandIn):
    """Stands in for the loader, and for the pool with its scheduler. `free` is its memory in bytes; every model has `size`."""

    def __init__(self) -> None:
        self.at = 1000.0
        self.free = 100 * GB
        self.size = 4 * GB
        self.workers: dict[str, WorkerStatus] = {}
        self.running: set[str] = set()
        self.uses: dict[str, tuple[float, float]] = {}
        self.joined: list[str] = []
        self.unloaded: list[str] = []
        self.problem: Exception | None = None
        self.may_end = anyio.Event()
        self.may_end.set()
        self.loading = ""
        self.resting = RestingModels()
        self.released = Notifier()

    # as the pool and the scheduler

    @property
    def scheduler(self) -> Machine:
        return self

    def now(self) -> float:
        return self.at

    async def slot_released(self) -> None:
        await self.released.wait()

    def last_use(self, worker: str) -> tuple[float, float]:
        return self.uses.get(worker, (float("-inf"), float("-inf")))

    def is_wanted(self, worker: str) -> bool:
        return worker in self.running

    def has(self, model: str, *, by_request: bool = True, used: float = 0.0) -> None:
        status = WorkerStatus(model, model, "llama", "cpu", "ready", by_request=by_request)
        status.card = ModelCard(model, "llama", 512, size=self.size)
        self.workers[model] = status
        self.uses[model] = (used, used)
        self.free -= memory_needed(self.size)

    # as the loader

    async def shortage(self, name: str) -> Shortage:
        await anyio.lowlevel.checkpoint()
        if isinstance(self.problem, ModelNotFound):
            raise self.problem
        return Shortage(name, memory_needed(self.size), self.free)

    async def unload(self, name: str, *, drain: bool) -> list[str]:
        assert drain
        del self.workers[name]
        self.unloaded.append(name)
        self.free += memory_needed(self.size)
        return [name]

    async def join(self, request: LoadRequest) -> Machine:
        assert request == LoadRequest(request.name, force=True, by_request=True)
        self.joined.append(request.name)
        return self

    async def done(self) -> None:
        await self.may_end.wait()
        if self.problem is not None:
            raise self.problem
        self.has(self.joined[-1], used=self.at)


@pytest.fixture
def machine() -> Machine:
    return Machine()


@pytest.fixture
async def loads(machine: Any) -> AsyncIterator[InlineLoads]:
    loads = InlineLoads(machine, machine, limit=3, patience=60)
    async with anyio.create_task_group() as tasks:
        await tasks.start(loads.run)
        yield loads
        tasks.cancel_scope.cancel()


async def settled(*work: Callable[[], Any]) -> None:
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            for one in work:
                tasks.start_soon(one)


async def test_a_model_is_loaded_once_for_all_who_wait(machine, loads):
    await settled(*[lambda: loads.loaded("a")] * 3)
    assert machine.joined == ["a"]


async def test_models_are_loaded_one_after_another(machine, loads):
    await settled(lambda: loads.loaded("a"), lambda: loads.loaded("b"))
    assert machine.joined == ["a", "b"]


async def test_each_model_has_its_place_in_the_line(machine, loads):
    machine.may_end = anyio.Event()
    async with anyio.create_task_group() as tasks:
        for name in "ab":
            tasks.start_soon(loads.loaded, name)
        await anyio.wait_all_tasks_blocked()
        assert [loads.place(name) for name in "abc"] == [1, 2, 1]
        machine.may_end.set()


async def test_no_more_than_the_limit_wait(machine, loads):
    machine.may_end = anyio.Event()
    async with anyio.create_task_group() as tasks:
        for name in "aab":
            tasks.start_soon(loads.loaded, name)
        await anyio.wait_all_tasks_blocked()
        with pytest.raises(QueueFull) as full:
            await loads.loaded("a")
        assert (full.value.code, full.value.status) == ("queue_full", 503)
        machine.may_end.set()
    await loads.loaded("c")


async def test_who_leaves_ends_no_load_that_others_wait_for(machine, loads):
    machine.may_end = anyio.Event()
    async with anyio.create_task_group() as tasks:
        with anyio.CancelScope() as leaving:
            tasks.start_soon(loads.loaded, "a")
            await anyio.wait_all_tasks_blocked()
            leaving.cancel()
            await loads.loaded("a")
        assert leaving.cancelled_caught
        machine.may_end.set()
    assert machine.joined == ["a"]
    assert "a" in machine.workers


async def test_a_load_that_has_begun_goes_on_when_everybody_left(machine, loads):
    machine.may_end = anyio.Event()
    with anyio.move_on_after(0.05):
        await loads.loaded("a")
    assert machine.joined == ["a"]
    machine.may_end.set()
    await anyio.wait_all_tasks_blocked()
    assert "a" in machine.workers


async def test_a_load_that_nobody_waits_for_any_more_does_not_begin(machine, loads):
    machine.may_end = anyio.Event()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(loads.loaded, "a")
        await anyio.wait_all_tasks_blocked()
        with anyio.move_on_after(0.05):
            await loads.loaded("b")
        machine.may_end.set()
    await anyio.wait_all_tasks_blocked()
    assert machine.joined == ["a"]
    assert not loads.is_coming("b")


async def test_the_least_recently_used_makes_room_and_what_the_settings_name_stays(machine, loads):
    machine.free = 3 * memory_needed(machine.size)
    machine.has("own", by_request=False)
    machine.has("old", used=10)
    machine.has("new", used=20)
    await loads.loaded("a")
    assert machine.unloaded == ["old"]
    assert list(machine.workers) == ["own", "new", "a"]


async def test_a_model_that_a_request_has_just_named_is_not_taken_from_it(machine, loads):
    machine.free = memory_needed(machine.size)
    machine.has("b", used=10)
    loads.note("b")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(loads.loaded, "a")
        await anyio.wait_all_tasks_blocked()
        assert machine.unloaded == []
        machine.at += CLAIM  # that request never came to a slot
        machine.released.notify()
    assert machine.unloaded == ["b"]


async def test_it_waits_until_a_model_is_idle_and_then_takes_its_room(machine, loads):
    machine.free = memory_needed(machine.size)
    machine.has("b")
    machine.running.add("b")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(loads.loaded, "a")
        await anyio.wait_all_tasks_blocked()
        assert (machine.unloaded, machine.joined) == ([], [])
        machine.running.clear()
        machine.released.notify()
    assert (machine.unloaded, machine.joined) == (["b"], ["a"])


async def test_it_does_not_wait_for_ever(machine, loads):
    machine.free = memory_needed(machine.size)
    machine.has("b")
    machine.running.add("b")
    problems: list[Problem] = []

    async def wait() -> None:
        with pytest.raises(Problem) as met:
            await loads.loaded("a")
        problems.append(met.value)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wait)
        await anyio.wait_all_tasks_blocked()
        machine.at += 61
        machine.released.notify()
    [problem] = problems
    assert (problem.code, problem.status, problem.retry_after) == ("not_enough_memory", 503, 10.0)
    assert "in use" in problem.message


async def test_what_can_never_fit_is_refused_at_once_and_nothing_is_unloaded(machine, loads):
    machine.free = 10
    with pytest.raises(Problem) as met:
        await loads.loaded("a")
    assert (met.value.code, met.value.status) == ("not_enough_memory", 409)
    assert machine.unloaded == []


async def test_a_load_that_failed_is_told_and_not_tried_again_at_once(machine, loads):
    machine.problem = EngineFailed("It broke.", code="load_failed", status=500)
    depths = set()
    for _ in range(4):
        with pytest.raises(EngineFailed, match="broke") as met:
            await loads.loaded("a")
        depths.add(len(met.traceback))
    assert max(depths) <= 4, "one error is told to all: it keeps no frames of those before"
    assert machine.joined == ["a"]
    machine.at += FAILED_FOR
    machine.problem = None
    await loads.loaded("a")
    assert machine.joined == ["a", "a"]


async def test_a_fault_of_one_load_does_not_end_the_others(machine, loads):
    machine.problem = RuntimeError("a bug")
    with pytest.raises(EngineFailed, match="log says why"):
        await loads.loaded("a")
    machine.problem = None
    await loads.loaded("b")


async def test_closing_refuses_who_waits(machine, loads):
    machine.may_end = anyio.Event()
    codes: list[str] = []

    async def wait() -> None:
        with pytest.raises(Problem) as met:
            await loads.loaded("a")
        codes.append(met.value.code)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wait)
        await anyio.wait_all_tasks_blocked()
        loads.close()
    with pytest.raises(Problem) as met:
        await loads.loaded("b")
    assert [*codes, met.value.code] == ["server_stopping"] * 2


async def test_what_requests_had_loaded_gives_way_to_what_is_chosen(machine, loads):
    machine.free = memory_needed(machine.size)
    machine.has("b")
    short = Shortage("chosen", memory_needed(machine.size), machine.free)
    assert await loads.give_way(short)
    assert machine.unloaded == ["b"]
    assert not await loads.give_way(short)
