"""Loads over a pool that does as the test says."""

from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.support.stand_in import StandIn
from tests.support.store_fixtures import Clock, memory
from tests.support.tiny_model import TinyModel, write_tiny_model

from duologue import telemetry
from duologue.config import load as read_settings
from duologue.errors import ModelNotFound, Problem, Unavailable
from duologue.gateway.models.available import AvailableModels, Sizes
from duologue.gateway.models.loader import Load, Loader, LoadRequest, LoadState, repeated
from duologue.gateway.models.remembered import RememberedModels
from duologue.gateway.models.shortage import Shortage
from duologue.gateway.workers.load_specs import load_specs
from duologue.gateway.workers.worker_status import WorkerStatus
from duologue.models.fit import Hardware
from duologue.models.placement import Card
from duologue.store.remembered_loads import RememberedLoads
from duologue.values.requests import ModelCard

__all__ = ["memory"]
pytestmark = pytest.mark.anyio


class Pool(StandIn):
    """Stands in for the pool: workers are views that the test changes."""

    def __init__(self) -> None:
        self.workers = {"worker_0": WorkerStatus("worker_0", "scripted", "scripted", "cpu", "ready")}
        self.workers["worker_0"].card = ModelCard("scripted", "scripted", 100)
        self.added: list[Any] = []
        self.removed: list[str] = []
        self.failures: list[Any] = []
        self.retired: list[tuple[str, float]] = []

    async def retire(self, name, grace):
        self.retired.append((name, grace))
        await self.remove(name)

    def add(self, load_spec):
        self.added.append(load_spec)
        status = WorkerStatus(
            f"worker_{len(self.added)}", load_spec.model, load_spec.engine, "cpu", added=True
        )
        self.workers[status.worker] = status
        return status

    def load_spec(self, name):
        return self.added[int(name.removeprefix("worker_")) - 1]

    async def remove(self, name, failure=None):
        await anyio.lowlevel.checkpoint()
        del self.workers[name]
        self.removed.append(name)
        self.failures += [failure] if failure else []


class Bench:
    def __init__(self, tmp_path, memory=16 * 10**9):
        for name in ("tiny", "other"):
            path = tmp_path / "models" / f"{name}.gguf"
            path.parent.mkdir(exist_ok=True)
            write_tiny_model(path, TinyModel())
        settings = read_settings(None, {}, {"data": str(tmp_path), "engine": "scripted"})
        self.pool = Pool()
        self.probes = []
        self.preferred: list[str] = []
        self.remembered = RememberedModels(self.preferred.append)
        self.loader = Loader(
            self.pool,
            AvailableModels(settings, load_specs(settings)),
            self.probe,
            self.remembered,
            lambda: self.cards,
        )
        self.memory = memory
        self.cards: tuple[Card, ...] = ()

    def probe(self, folder: Path, processes):
        self.probes.append(list(processes))
        return Hardware(4, self.memory, 10**12), "a machine"

    def becomes(self, worker, state, **facts):
        status = self.pool.workers[worker]
        status.state = state
        for name, value in facts.items():
            setattr(status, name, value)
        self.loader.pool_changed()


@pytest.fixture
async def bench(tmp_path):
    bench = Bench(tmp_path)
    async with anyio.create_task_group() as tasks:
        await tasks.start(bench.loader.run)
        yield bench
        tasks.cancel_scope.cancel()


async def steps(load: Load) -> list[LoadState]:
    with anyio.fail_after(60):
        return [step async for step in load.steps()]


@asynccontextmanager
async def refused(code: str, status: int = 409):
    with pytest.raises(Problem) as met:
        yield
    assert (met.value.code, met.value.status) == (code, status)


async def test_a_load_is_told_step_by_step_and_ends_ready(bench):
    load = await bench.loader.load(LoadRequest("TINY"))
    assert (load.name, load.worker, load.step.stage) == ("tiny", "worker_1", "starting")
    told = []

    async def follow():
        told.extend(await steps(load))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(follow)
        await anyio.wait_all_tasks_blocked()
        for state, progress in (("loading", None), ("loading", 0.5), ("ready", None)):
            bench.becomes("worker_1", state, progress=progress)
            await anyio.wait_all_tasks_blocked()
    assert [(step.stage, step.progress) for step in told] == [
        ("starting", None),
        ("loading", None),
        ("loading", 0.5),
        ("ready", 1.0),
    ]
    await load.done()
    assert bench.pool.removed == []


async def test_whoever_comes_late_hears_the_end_alone(bench):
    load = await bench.loader.load(LoadRequest("tiny"))
    bench.becomes("worker_1", "ready")
    await anyio.wait_all_tasks_blocked()
    assert [step.stage for step in await steps(load)] == ["ready"]


async def test_a_load_that_fails_leaves_nothing_behind_and_tells_the_workers_sentence(bench):
    load = await bench.loader.load(LoadRequest("tiny"))
    bench.becomes("worker_1", "loading", progress=0.4)
    await anyio.wait_all_tasks_blocked()
    bench.becomes("worker_1", "failed", detail="Too little memory.")
    with pytest.raises(Problem, match=r"Too little memory\.") as met, anyio.fail_after(60):
        await load.done()
    assert met.value.code == "load_failed"
    assert load.step.progress == 0.4
    assert list(bench.pool.workers) == ["worker_0"]
    await bench.loader.load(LoadRequest("tiny"))


async def test_a_process_that_dies_while_it_loads_is_a_failure(bench):
    load = await bench.loader.load(LoadRequest("tiny"))
    bench.becomes("worker_1", "offline", restarts=1, ended="signal 9, Killed")
    with pytest.raises(Problem, match="signal 9, Killed"), anyio.fail_after(60):
        await load.done()
    assert list(bench.pool.workers) == ["worker_0"]


async def test_a_model_that_is_unloaded_while_it_loads_says_so(bench):
    load = await bench.loader.load(LoadRequest("tiny"))
    assert await bench.loader.unload("tiny") == ["worker_1"]
    bench.loader.pool_changed()
    with pytest.raises(Unavailable) as met, anyio.fail_after(60):
        await load.done()
    assert met.value.code == "model_unloaded"
    assert bench.pool.removed == ["worker_1"]


async def test_one_load_at_a_time(bench):
    await bench.loader.load(LoadRequest("tiny"))
    async with refused("load_running"):
        await bench.loader.load(LoadRequest("other"))
    bench.becomes("worker_1", "ready")
    await anyio.wait_all_tasks_blocked()
    await bench.loader.load(LoadRequest("other"))


async def test_what_is_loaded_is_loaded_again_only_as_another(bench):
    async with refused("model_loaded"):
        await bench.loader.load(LoadRequest("scripted"))
    load = await bench.loader.load(LoadRequest("scripted", Sizes(slots=1), another=True))
    assert bench.pool.added[0].options["slots"] == 1
    assert load.worker == "worker_1"


async def test_a_model_that_has_failed_may_be_tried_again(bench):
    bench.becomes("worker_0", "failed", detail="It broke.")
    await bench.loader.load(LoadRequest("scripted"))
    assert bench.pool.removed == ["worker_0"]


async def test_replacing_takes_away_what_was_loaded_at_run_time_and_nothing_else(bench):
    for name in ("tiny", "other"):
        load = await bench.loader.load(LoadRequest(name))
        bench.becomes(load.worker, "ready")
        await anyio.wait_all_tasks_blocked()
    await bench.loader.load(LoadRequest("tiny", replace=True))
    assert bench.pool.removed == ["worker_1", "worker_2"]
    assert list(bench.pool.workers) == ["worker_0", "worker_3"]


async def test_too_little_memory_is_refused_with_the_figures_unless_forced(bench):
    bench.memory = 100 * 10**6
    bench.pool.workers["worker_0"].process = 77
    with pytest.raises(Problem, match=r"tiny needs about 60\d MB of memory, but only 100 MB are free") as met:
        await bench.loader.load(LoadRequest("tiny"))
    assert (met.value.code, met.value.status) == ("not_enough_memory", 409)
    assert bench.probes == [[77]]
    assert bench.pool.added == []
    await bench.loader.load(LoadRequest("tiny", force=True))


async def test_of_several_cards_a_model_is_loaded_on_the_one_with_room(bench):
    bench.cards = (Card(0, "A", 2**30), Card(1, "B", 2**34))
    load = await bench.loader.load(LoadRequest("tiny"))
    assert (bench.pool.added[0].device, bench.pool.added[0].options["device"]) == ("cuda:1", "cuda:1")
    bench.becomes(load.worker, "ready")
    await steps(load)
    bench.cards = (Card(0, "A", 2**34), Card(1, "B", 2**30))
    await bench.loader.load(LoadRequest("other"))
    assert bench.pool.added[1].device == "cuda:0"


async def test_one_card_is_left_to_the_engine_and_not_looked_for_again(bench):
    bench.cards = (Card(0, "A", 2**34),)
    load = await bench.loader.load(LoadRequest("tiny"))
    bench.becomes(load.worker, "ready")
    await steps(load)
    bench.cards = (Card(0, "A", 2**34), Card(1, "B", 2**34))
    await bench.loader.load(LoadRequest("other"))
    assert [spec.device for spec in bench.pool.added] == ["auto", "auto"]


async def test_what_is_replaced_makes_room(bench):
    load = await bench.loader.load(LoadRequest("tiny"))
    bench.becomes(load.worker, "ready", card=ModelCard("tiny", "llama", 100, size=2 * 10**9))
    await anyio.wait_all_tasks_blocked()
    bench.memory = 100 * 10**6
    async with refused("not_enough_memory"):
        await bench.loader.load(LoadRequest("other"))
    await bench.loader.load(LoadRequest("other", replace=True))


@pytest.mark.parametrize("state", ["loading", "failed", "ready"])
async def test_a_worker_of_another_machine_is_not_replaced_and_its_files_are_not_looked_for(bench, state):
    """It once was told to end for good, and one that was loading failed the load of another model."""
    box = WorkerStatus("box/gpu0", "tiny", "llama", "cuda:0", state, added=True, machine="box", joined=True)
    bench.pool.workers["box/gpu0"] = box
    bench.cards = (Card(0, "A", 2**34), Card(1, "B", 2**34))
    if state != "failed":
        async with refused("model_loaded"):
            await bench.loader.load(LoadRequest("tiny", replace=True))
    await bench.loader.load(LoadRequest("tiny", replace=True, another=state != "failed"))
    assert bench.pool.removed == []
    assert list(bench.pool.workers) == ["worker_0", "box/gpu0", "worker_1"]


async def test_without_a_name_the_default_model_is_unloaded_and_the_last_may_go(bench):
    assert await bench.loader.unload() == ["worker_0"]
    with pytest.raises(ModelNotFound, match=r"^No model is loaded\.$"):
        await bench.loader.unload()


async def test_one_worker_of_several_is_unloaded_by_its_name(bench):
    await bench.loader.load(LoadRequest("scripted", another=True))
    assert await bench.loader.unload(worker="worker_1") == ["worker_1"]
    with pytest.raises(ModelNotFound, match="Loaded: worker_0"):
        await bench.loader.unload(worker="worker_9")
    with pytest.raises(ModelNotFound, match="Loaded: scripted"):
        await bench.loader.unload("tiny")


async def test_closing_ends_the_load_with_a_sentence_and_takes_no_other(bench):
    load = await bench.loader.load(LoadRequest("tiny"))
    bench.loader.close()
    with pytest.raises(Unavailable) as met, anyio.fail_after(60):
        await load.done()
    assert met.value.code == "server_stopping"
    with pytest.raises(Unavailable):
        await bench.loader.load(LoadRequest("other"))


async def test_a_load_that_is_being_prepared_when_the_server_stops_begins_no_worker(bench, monkeypatch):
    looking, go_on = anyio.Event(), anyio.Event()

    async def probe(function, *args):
        looking.set()
        await go_on.wait()
        return function(*args)

    monkeypatch.setattr("duologue.gateway.models.loader.hardware_io", probe)
    met = []

    async def load():
        with pytest.raises(Unavailable) as refusal:
            await bench.loader.load(LoadRequest("tiny", replace=True))
        met.append(refusal.value.code)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(load)
        await looking.wait()
        bench.loader.close()
        go_on.set()
    assert (met, bench.pool.added, bench.pool.removed) == (["server_stopping"], [], [])


async def test_joining_a_load_that_is_under_way_follows_that_one(bench):
    load = await bench.loader.load(LoadRequest("tiny"))
    assert await bench.loader.join(LoadRequest("tiny")) is load
    assert bench.loader.current("tiny") is load
    assert bench.loader.current("other") is None


async def test_joining_waits_for_the_load_of_another_model(bench):
    await bench.loader.load(LoadRequest("tiny"))
    joined = []

    async def join():
        joined.append(await bench.loader.join(LoadRequest("other")))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(join)
        await anyio.wait_all_tasks_blocked()
        assert joined == []
        bench.becomes("worker_1", "ready")
    assert (joined[0].name, joined[0].worker) == ("other", "worker_2")


@pytest.fixture
async def remembering(bench, memory):
    """The database of the bench's loader."""
    store = RememberedLoads(memory, Clock())
    await bench.remembered.open(store, ["scripted"])
    return store


async def test_a_load_is_in_the_database_before_it_begins_and_without_a_mark_once_it_is_ready(
    bench, remembering, monkeypatch
):
    at_its_beginning = []
    real = bench.pool.add

    def add(load_spec):
        at_its_beginning.extend(bench.remembered._loads.values())
        return real(load_spec)

    monkeypatch.setattr(bench.pool, "add", add)
    load = await bench.loader.load(LoadRequest("tiny", Sizes(context=256), user="anna"))
    [row] = at_its_beginning
    assert (row.name, row.sizes, row.user, row.loading) == ("tiny", {"context": 256}, "anna", True)
    bench.becomes("worker_1", "ready")
    await load.done()
    [row] = await remembering.all()
    assert (row.loading, row.failed) == (False, "")
    assert bench.remembered.has_worker("worker_1")
    await bench.loader.unload("tiny")
    assert await remembering.all() == []


async def test_a_failed_load_is_not_in_the_database(bench, remembering):
    load = await bench.loader.load(LoadRequest("tiny"))
    bench.becomes("worker_1", "failed", detail="It broke.")
    with pytest.raises(Problem):
        await load.done()
    assert await remembering.all() == []


async def test_a_model_becomes_the_default_once_it_is_ready_and_until_it_is_unloaded(bench, remembering):
    load = await bench.loader.load(LoadRequest("tiny", default=True, user="anna"))
    assert bench.remembered.default == ""
    bench.becomes("worker_1", "ready")
    await load.done()
    assert bench.preferred[-1] == bench.remembered.default == "tiny"
    await bench.loader.unload("tiny")
    assert bench.preferred[-1] == bench.remembered.default == ""


async def test_a_model_that_does_not_chat_never_becomes_the_default(bench, remembering):
    load = await bench.loader.load(LoadRequest("tiny", default=True, user="anna"))
    bench.pool.workers["worker_1"].task = "embed"
    bench.becomes("worker_1", "ready")
    await load.done()
    assert bench.remembered.default == ""


async def test_a_load_that_is_cut_off_by_the_end_of_the_server_is_repeated_later(bench, remembering):
    await bench.loader.load(LoadRequest("tiny"))
    bench.loader.close()
    await anyio.wait_all_tasks_blocked()
    with anyio.fail_after(30):
        while (await remembering.all())[0].loading:
            await anyio.lowlevel.checkpoint()
    [row] = await remembering.all()
    assert (row.name, row.failed) == ("tiny", "")


async def test_the_request_of_a_remembered_load_has_its_sizes(bench, remembering):
    row = await remembering.begin("tiny", {"context": 256, "slots": 2}, another=True, user="anna")
    assert repeated(row) == LoadRequest("tiny", Sizes(256, 2), another=True, user="anna", repeats=row.id)


async def test_what_waits_for_a_load_that_failed_hears_why(bench):
    await bench.loader.load(LoadRequest("tiny"))
    bench.becomes("worker_1", "failed", detail="It broke.")
    await anyio.wait_all_tasks_blocked()
    [failure] = bench.pool.failures
    assert (failure.code, failure.message, failure.status) == ("load_failed", "It broke.", 500)


async def test_draining_leaves_running_replies_the_grace(bench):
    assert await bench.loader.unload("scripted", drain=True) == ["worker_0"]
    assert bench.pool.retired == [("worker_0", 30.0)]


async def test_replacing_may_drain_too(bench):
    load = await bench.loader.load(LoadRequest("tiny"))
    bench.becomes(load.worker, "ready")
    await load.done()
    await anyio.wait_all_tasks_blocked()
    await bench.loader.load(LoadRequest("other", replace=True, drain=True))
    assert bench.pool.retired == [("worker_1", 30.0)]


async def test_a_load_for_a_request_is_not_remembered_and_is_taken_over_by_an_admin(bench, remembering):
    load = await bench.loader.load(LoadRequest("tiny", by_request=True))
    bench.becomes(load.worker, "ready", by_request=True)
    await load.done()
    await anyio.wait_all_tasks_blocked()
    assert bench.pool.workers["worker_1"].by_request
    assert await remembering.all() == []
    async with refused("model_loaded"):
        await bench.loader.load(LoadRequest("tiny", by_request=True))
    load = await bench.loader.load(LoadRequest("tiny", Sizes(slots=1)))
    assert (bench.pool.removed, bench.pool.workers[load.worker].by_request) == (["worker_1"], False)
    assert [row.name for row in await remembering.all()] == ["tiny"]


async def test_what_drains_is_no_reason_not_to_load_it_again(bench):
    bench.pool.workers["worker_0"].draining = True
    await bench.loader.load(LoadRequest("scripted"))


async def test_the_shortage_of_a_model_is_what_it_needs_and_what_is_free(bench):
    bench.memory = 10
    short = await bench.loader.shortage("TINY")
    assert (short.name, short.free) == ("tiny", 10)
    assert short.missing == short.needed - 10 > 0
    bench.memory = 10**12
    assert (await bench.loader.shortage("tiny")).missing == 0
    with pytest.raises(ModelNotFound):
        await bench.loader.shortage("nobody")


async def test_before_a_load_is_refused_for_lack_of_memory_others_may_give_way(bench):
    bench.memory = 10
    asked: list[str] = []

    async def give_way(short: Shortage) -> bool:
        asked.append(short.name)
        bench.memory = 10**12 * len(asked)
        return True

    bench.loader.give_way = give_way
    load = await bench.loader.load(LoadRequest("tiny"))
    bench.becomes(load.worker, "ready")
    await load.done()
    assert asked == ["tiny"]


async def test_the_metrics_are_told_why_a_worker_is_removed(bench, monkeypatch):
    metrics = telemetry.Metrics()
    monkeypatch.setattr(telemetry, "metrics", lambda: metrics)
    for name, state in (("tiny", "ready"), ("other", "failed")):
        load = await bench.loader.load(LoadRequest(name))
        bench.becomes(load.worker, state, detail="No.")
        await anyio.wait_all_tasks_blocked()
    await bench.loader.load(LoadRequest("tiny", replace=True))
    for worker in bench.pool.removed:
        metrics.model_unloaded("m", worker)
    text = metrics.render()[0].decode()
    assert bench.pool.removed == ["worker_2", "worker_1"]
    assert 'duologue_model_unloads_total{cause="failed",model="m"} 1.0' in text
    assert 'duologue_model_unloads_total{cause="replaced",model="m"} 1.0' in text
