"""Which of the pool's changes become events, and what closing ends."""

from collections.abc import Awaitable, Callable, Mapping

import anyio
import msgspec
import pytest
from tests.support.store_fixtures import Clock, memory

from duologue.config import Settings
from duologue.errors import BadRequest, Unavailable
from duologue.gateway.models.loader import Load, LoadRequest, LoadState
from duologue.gateway.models.registry import ModelRegistry
from duologue.gateway.models.service import ModelService
from duologue.gateway.scheduling.pool import Pool
from duologue.gateway.scheduling.scheduler import Scheduler
from duologue.gateway.workers.load_specs import load_specs
from duologue.gateway.workers.worker_status import WorkerStatus
from duologue.store.remembered_loads import RememberedLoads
from duologue.wire.worker_protocol import LoadSpec

__all__ = ["memory"]
pytestmark = pytest.mark.anyio


@pytest.fixture
def pool() -> Pool:
    return Pool(load_specs(Settings(engine="scripted")), Scheduler())


@pytest.fixture
def service(pool, tmp_path) -> ModelService:
    settings = Settings(engine="scripted", data=tmp_path)
    return ModelService(settings, load_specs(settings), pool, ModelRegistry(pool.cards))


Published = Callable[[], Awaitable[list[Mapping[str, object]]]]


@pytest.fixture
def published(service) -> Published:
    """Gives the events since the service was made."""
    start = service.events.number

    async def events() -> list[Mapping[str, object]]:
        reader = service.events.read(start)
        return [(await anext(reader)).event for _ in range(service.events.number - start)]

    return events


async def test_a_change_of_state_and_a_change_of_progress_are_events(service, pool, published):
    view = pool.workers["worker_0"]
    view.state = "loading"
    service.publish_changes()
    service.publish_changes()
    view.progress = 0.5
    service.publish_changes()
    service.publish_changes()
    view.state, view.progress = "ready", None
    service.publish_changes()
    assert await published() == [
        {"type": "loaded"},
        {"type": "loading", "worker": "worker_0", "progress": 0.5},
        {"type": "loaded"},
    ]


async def test_another_default_is_an_event(tmp_path):
    specs = [LoadSpec(name, "scripted", name) for name in ("a", "b")]
    changes = []
    pool = Pool(specs, Scheduler())
    settings = Settings(engine="scripted", data=tmp_path)
    service = ModelService(
        settings, specs, pool, ModelRegistry(pool.cards), on_change=lambda: changes.append(list(pool.workers))
    )
    service.publish_changes()
    pool.prefer("b")
    service.publish_changes()
    service.publish_changes()
    assert changes == [["a", "b"], ["b", "a"]]


async def test_downloads_are_events(service, published):
    service.downloads.enqueue("someone/Tiny-GGUF")
    [event] = await published()
    assert (event["type"], event["download"]["state"]) == ("download", "waiting")


async def test_closing_refuses_everything_new_and_ends_the_viewers(service):
    async with anyio.create_task_group() as tasks:
        await tasks.start(service.run)
        service.close()
        with pytest.raises(Unavailable):
            service.downloads.enqueue("someone/Tiny-GGUF")
        with pytest.raises(Unavailable):
            await service.loader.load(LoadRequest("scripted"))
        with anyio.fail_after(60):
            assert [event async for event in service.events.read()] == []
        tasks.cancel_scope.cancel()


def test_there_are_routes_for_both_dialects(service):
    paths = {route.path for routes in service.routes() for route in routes.routes}
    assert {"/v1/model", "/v1/model/load", "/api/models", "/api/models/events"} <= paths


@pytest.fixture
async def remembering(memory) -> RememberedLoads:
    """A database in which two models are remembered."""
    store = RememberedLoads(memory, Clock())
    for name in ("first", "second"):
        load = await store.begin(name, {}, another=False, user="anna")
        await store.save(msgspec.structs.replace(load, loading=False))
    return store


class Loads:
    """Loads that the test ends."""

    def __init__(self, monkeypatch, service):
        self.begun: list[Load] = []
        monkeypatch.setattr(service.loader, "join", self.join)

    async def join(self, request: LoadRequest) -> Load:
        if request.name == "first" and not self.begun:
            self.begun.append(Load(request.name, WorkerStatus("worker_1", request.name, "llama", "cpu")))
            return self.begun[0]
        raise BadRequest("The file is broken.", code="model_unusable")


async def test_remembered_loads_run_one_after_another_once_the_settings_are_done(
    service, pool, remembering, monkeypatch
):
    loads = Loads(monkeypatch, service)
    await service.remember(remembering)
    assert service.coming == ["first", "second"]
    pool.workers["worker_0"].state = "loading"
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(service.repeat_loads)
        await anyio.wait_all_tasks_blocked()
        assert loads.begun == []
        pool.workers["worker_0"].state = "ready"
        service.publish_changes()
        await anyio.wait_all_tasks_blocked()
        assert ([load.name for load in loads.begun], service.coming) == (["first"], ["first", "second"])
        loads.begun[0].move(LoadState("ready", 1.0))
    assert service.coming == []
    assert service.remembered.failure("second") == "The file is broken."
    assert [load.failed for load in await remembering.all()] == ["", "The file is broken."]


async def test_what_was_forgotten_meanwhile_is_not_loaded(service, pool, remembering, monkeypatch):
    loads = Loads(monkeypatch, service)
    await service.remember(remembering)
    await service.remembered.forget("first")
    pool.workers["worker_0"].state = "failed"
    await service.repeat_loads()
    assert loads.begun == []
