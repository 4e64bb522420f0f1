"""Which of the pool's changes become events, and what closing ends."""

from collections.abc import Awaitable, Callable, Mapping

import anyio
import pytest

from duologue.config import Settings
from duologue.errors import Unavailable
from duologue.gateway.models.loader import LoadRequest
from duologue.gateway.models.registry import ModelRegistry
from duologue.gateway.models.service import ModelService
from duologue.gateway.scheduling.pool import Pool
from duologue.gateway.scheduling.scheduler import Scheduler
from duologue.gateway.workers.load_specs import load_specs

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
        with anyio.fail_after(5):
            assert [event async for event in service.events.read()] == []
        tasks.cancel_scope.cancel()


def test_there_are_routes_for_both_dialects(service):
    paths = {route.path for routes in service.routes() for route in routes.routes}
    assert {"/v1/model", "/v1/model/load", "/api/models", "/api/models/events"} <= paths
