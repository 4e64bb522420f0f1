"""What of the pool's changes is news, and the end of it all."""

import json

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
def stock(pool, tmp_path) -> ModelService:
    settings = Settings(engine="scripted", data=tmp_path)
    return ModelService(settings, load_specs(settings), pool, ModelRegistry(pool.cards))


def told(stock) -> list[dict]:
    return [json.loads(data) for _, data in stock.news._events]


async def test_states_are_news_when_they_change_and_progress_is_news_of_its_own(stock, pool):
    view = pool.workers["worker_0"]
    view.state = "loading"
    stock.look()
    stock.look()
    view.progress = 0.5
    stock.look()
    stock.look()
    view.state, view.progress = "ready", None
    stock.look()
    assert told(stock) == [
        {"type": "loaded"},
        {"type": "loading", "worker": "worker_0", "progress": 0.5},
        {"type": "loaded"},
    ]


async def test_downloads_are_news(stock):
    stock.downloads.ask("someone/Tiny-GGUF")
    [event] = told(stock)
    assert (event["type"], event["download"]["state"]) == ("download", "waiting")


async def test_closing_refuses_everything_new_and_ends_the_viewers(stock):
    async with anyio.create_task_group() as tasks:
        await tasks.start(stock.run)
        stock.close()
        with pytest.raises(Unavailable):
            stock.downloads.ask("someone/Tiny-GGUF")
        with pytest.raises(Unavailable):
            await stock.loader.load(LoadRequest("scripted"))
        with anyio.fail_after(5):
            assert len([frame async for frame in stock.news.frames()]) == 1
        tasks.cancel_scope.cancel()


def test_there_are_routes_for_both_dialects(stock):
    paths = {route.path for routes in stock.routes() for route in routes.routes}
    assert {"/v1/model", "/v1/model/load", "/api/models", "/api/models/events"} <= paths
