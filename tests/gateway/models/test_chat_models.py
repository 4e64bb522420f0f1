"""What a conversation learns about its model, and how it waits for one."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from duologue.errors import EngineFailed, ModelNotFound, Problem
from duologue.gateway.models.available import AvailableModel
from duologue.gateway.models.chat_models import ChatModels
from duologue.gateway.models.loader import Load, LoadRequest, LoadState
from duologue.gateway.models.registry import ModelRegistry
from duologue.gateway.models.requested.resting_models import RestingModel, RestingModels
from duologue.gateway.workers.worker_status import WorkerStatus
from duologue.notifier import Notifier
from duologue.values.requests import ModelCard

pytestmark = pytest.mark.anyio


class Played:
    """The service, its loader, the disk and what is remembered, as the test sets them."""

    def __init__(self) -> None:
        self.coming: list[str] = []
        self.loading: dict[str, Load] = {}
        self.cards = [ModelCard("mini", "scripted", 100)]
        self.joined: list[LoadRequest] = []
        self.failures: dict[str, str] = {}
        self.changes = Notifier()
        self.resting = RestingModels()
        self.loader = self.available = self.remembered = self

    async def wake(self, model: RestingModel) -> Load:
        self.joined.append(LoadRequest(model.name))
        return self.loading[model.name]

    @property
    def default(self) -> str:
        return "tiny"

    def failure(self, name: str) -> str:
        return self.failures.get(name, "")

    def find(self, name: str) -> AvailableModel:
        if name.lower() not in ("mini", "tiny"):
            raise ModelNotFound("There is none.")
        return AvailableModel(name.lower())

    def current(self, name: str) -> Load | None:
        return self.loading.get(name)

    async def join(self, request: LoadRequest) -> Load:
        self.joined.append(request)
        return self.begin(request.name)

    def begin(self, name: str) -> Load:
        load = self.loading[name] = Load(name, WorkerStatus("worker_1", name, "llama", "cpu"))
        return load

    async def changed(self) -> None:
        await self.changes.wait()


@pytest.fixture
def played() -> Played:
    return Played()


@pytest.fixture
def models(played) -> ChatModels:
    stand_in: Any = played
    registry = ModelRegistry(lambda: played.cards, {"best": "mini"})
    return ChatModels(stand_in, registry, lambda user: user == "anna")


async def told(models: ChatModels, name: str, *, load: bool) -> list[float | None]:
    with anyio.fail_after(30):
        return [share async for share in models.ready(name, "anna", load=load)]


@pytest.mark.parametrize(
    ("name", "state"),
    [("mini", "usable"), ("best", "usable"), ("tiny", "unloaded"), ("gone", "gone"), ("TINY", "gone")],
)
async def test_a_model_is_usable_on_the_disk_or_gone(models, name, state):
    assert await models.state(name) == state


async def test_a_model_that_the_start_is_to_load_is_usable_and_one_that_failed_is_not(models, played):
    played.coming = ["tiny"]
    assert await models.state("tiny") == "usable"
    played.coming, played.failures = [], {"tiny": "It broke."}
    assert await models.state("tiny") == "failed"


async def test_the_default_is_waited_for_while_the_start_is_still_to_load_it(models, played):
    assert models.coming_default == ""
    played.coming = ["other", "tiny"]
    assert models.coming_default == "tiny"


async def test_a_loaded_model_is_not_waited_for(models, played):
    assert await told(models, "mini", load=True) == []
    assert played.joined == []


async def test_a_model_is_loaded_only_where_that_was_decided(models, played):
    assert await told(models, "tiny", load=False) == []
    assert played.joined == []


async def test_a_model_is_loaded_and_its_progress_given(models, played):
    shares = []

    async def follow():
        shares.extend(await told(models, "tiny", load=True))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(follow)
        await anyio.wait_all_tasks_blocked()
        for step in (LoadState("loading", 0.5), LoadState("ready", 1.0)):
            played.loading["tiny"].move(step)
            await anyio.wait_all_tasks_blocked()
    assert shares == [None, None, 0.5, 1.0]
    assert played.joined == [LoadRequest("tiny", user="anna")]


async def test_a_load_that_fails_raises_its_reason(models, played):
    played.begin("tiny").move(LoadState(problem=EngineFailed("It broke.", code="load_failed")))
    with pytest.raises(Problem, match="It broke"):
        await told(models, "tiny", load=False)


async def test_a_model_that_the_start_is_to_load_is_waited_for(models, played):
    played.coming = ["tiny"]
    ended = anyio.Event()

    async def follow():
        await told(models, "tiny", load=False)
        ended.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(follow)
        await anyio.wait_all_tasks_blocked()
        played.changes.notify()
        await anyio.wait_all_tasks_blocked()
        assert not ended.is_set()
        played.cards.append(ModelCard("tiny", "llama", 0))
        played.changes.notify()
    assert ended.is_set()
    assert played.joined == []
