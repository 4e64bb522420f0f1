"""The model that a request names: loaded, on the disk, or chosen by a pattern."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.support.stand_in import StandIn

from duologue.errors import BadRequest, ModelNotFound, Unavailable, Unsupported
from duologue.gateway.models.available import AvailableModel
from duologue.gateway.models.registry import ModelRegistry
from duologue.gateway.models.requested.resting_models import RestingModel, RestingModels
from duologue.gateway.models.requested_models import RequestedModels
from duologue.queue_ticket import watched_queue
from duologue.values.requests import ModelCard
from duologue.wire.worker_protocol import LoadSpec

pytestmark = pytest.mark.anyio

MINI = ModelCard("mini", "llama", 2048)
DISK = [
    AvailableModel("mini", bundled=True),
    AvailableModel("qwen3-4b", Path("/models/Qwen3-4B-Q4_K_M.gguf")),
    AvailableModel("duologue-mini", bundled=True),
]
ALIASES = {"best": "qwen3-4b", "gpt-*": "mini", "claude-*": "qwen3-4b", "default-*": ""}


class Loads(StandIn):
    """Loads at once, and remembers what."""

    def __init__(self) -> None:
        self.cards = [MINI]
        self.loads: list[str] = []
        self.noted: list[str] = []
        self.coming: set[str] = set()
        self.begun: set[str] = set()
        self.is_loading = False
        self.places: dict[str, int] = {}
        self.rests = RestingModels(lambda name: name in [card.name for card in self.cards])

    def resting(self, name: str) -> RestingModel | None:
        return self.rests.find(name)

    def resting_names(self) -> list[str]:
        return [card.name for card in self.rests.cards()]

    def note(self, model: str) -> None:
        self.noted.append(model)

    def is_coming(self, model: str) -> bool:
        return model in self.coming

    @property
    def are_any(self) -> bool:
        return self.is_loading or bool(self.begun | self.coming)

    def is_begun(self, model: str) -> bool:
        return model in self.begun | self.coming

    def place(self, model: str) -> int:
        return self.places.get(model, 1)

    async def loaded(self, model: str) -> None:
        self.loads.append(model)
        self.coming.discard(model)
        if all(card.name != model for card in self.cards):
            self.cards.append(ModelCard(model, "llama", 4096))

    async def until_turn_changes(self) -> None:
        self.is_loading = False
        self.cards = [MINI]


@pytest.fixture
def loads() -> Loads:
    return Loads()


def requested(loads: Any, **aliases: str) -> RequestedModels:
    registry = ModelRegistry(lambda: loads.cards, ALIASES | aliases)
    return RequestedModels(registry, lambda: DISK, loads, lambda user: user == "anna")


async def answers(loads: Any, name: str, user: str = "anna", **aliases: str) -> str:
    return (await requested(loads, **aliases).card(name, user)).name


@pytest.mark.parametrize("name", ["", "mini", "MINI", "mini:latest", "mini.gguf", "gpt-4.1", "default-x"])
async def test_a_loaded_model_is_answered_without_a_load(loads, name):
    assert await answers(loads, name) == "mini"
    assert (loads.loads, loads.noted) == ([], ["mini"])


@pytest.mark.parametrize(
    "name", ["qwen3-4b", "qwen3:4b", "hf.co/Qwen/Qwen3-4B-GGUF:Q4_K_M", "best", "claude-opus"]
)
async def test_a_model_on_the_disk_is_loaded_for_who_may(loads, name):
    assert await answers(loads, name) == "qwen3-4b"
    assert loads.loads == ["qwen3-4b"]
    assert await answers(loads, name) == "qwen3-4b"
    assert loads.loads == ["qwen3-4b"]


@pytest.mark.parametrize("name", ["qwen3-4b", "qwen3:4b", "best", "claude-opus"])
async def test_who_may_not_load_is_told_what_is_missing(loads, name):
    with pytest.raises(ModelNotFound, match=r"loading\.by_request|not loaded|no model"):
        await answers(loads, name, user="bob")
    assert loads.loads == []


async def test_who_may_not_load_gets_the_model_of_a_pattern(loads):
    assert await answers(loads, "qwen3-4b", user="bob", **{"*": "mini"}) == "mini"


async def test_a_model_that_comes_for_another_is_waited_for_by_everybody(loads):
    loads.begun.add("qwen3-4b")
    assert await answers(loads, "qwen3-4b", user="bob") == "qwen3-4b"


async def test_a_model_that_is_in_the_pool_and_still_loads_for_a_request_is_waited_for(loads):
    loads.cards.append(ModelCard("qwen3-4b", "llama", 0))
    loads.coming.add("qwen3-4b")
    assert requested(loads).loaded("qwen3-4b") is None
    assert await answers(loads, "qwen3-4b") == "qwen3-4b"
    assert loads.loads == ["qwen3-4b"]


async def test_a_model_that_is_gone_as_soon_as_it_came_is_unavailable(loads, monkeypatch):
    async def nothing(model: str) -> None:
        pass

    monkeypatch.setattr(loads, "loaded", nothing)
    with pytest.raises(Unavailable) as met:
        await answers(loads, "qwen3-4b")
    assert met.value.code == "model_unloaded"


async def test_a_name_nobody_knows_is_told_the_known_ones(loads):
    with pytest.raises(ModelNotFound, match=r"no model 'llama'.*mini"):
        await answers(loads, "llama")


async def test_the_default_is_waited_for_while_it_is_loaded(loads):
    loads.cards, loads.is_loading = [], True
    assert await answers(loads, "") == "mini"
    loads.cards, loads.is_loading = [], False
    with pytest.raises(Unavailable) as met:
        await answers(loads, "")
    assert met.value.code == "model_empty"


async def test_with_nothing_loaded_a_name_is_enough(loads):
    loads.cards = []
    assert await answers(loads, "qwen3-4b") == "qwen3-4b"


async def test_who_may_load_sees_what_is_on_the_disk_but_not_the_bundled_model(loads):
    assert await requested(loads).unloaded("anna") == ["qwen3-4b"]
    assert await requested(loads).unloaded("bob") == []
    await answers(loads, "qwen3-4b")
    assert await requested(loads).unloaded("anna") == []


async def test_without_loads_a_name_is_that_of_a_loaded_model():
    alone = RequestedModels(ModelRegistry(lambda: [MINI]))
    assert (await alone.card("mini:latest", "anna")).name == "mini"
    assert await alone.unloaded("anna") == []
    with pytest.raises(ModelNotFound):
        await alone.card("qwen3-4b", "anna")


WRITER = ModelCard("writer", "llama", 512)
VECTORS = ModelCard("vectors", "llama", 512, verbs=("embed",))
RANKER = ModelCard("ranker", "llama", 512, verbs=("rerank",))
ELSEWHERE = ModelCard("elsewhere", "remote", 0)


def loaded_only(*cards: ModelCard) -> RequestedModels:
    return RequestedModels(ModelRegistry(lambda: cards))


async def test_without_a_name_it_is_the_first_model_for_the_task() -> None:
    models = loaded_only(WRITER, VECTORS, RANKER)
    assert await models.card("", "me") is WRITER
    assert await models.card("", "me", task="embed") is VECTORS
    assert await models.card("", "me", task="rerank") is RANKER


async def test_a_model_for_something_else_is_refused_with_those_that_can() -> None:
    models = loaded_only(WRITER, VECTORS, RANKER)
    with pytest.raises(
        Unsupported, match=r"vectors is an embedding model.*Choose another: writer"
    ) as refusal:
        await models.card("vectors", "me")
    assert refusal.value.param == "model"
    with pytest.raises(Unsupported, match=r"writer is a chat model.*Choose another: vectors"):
        await models.card("writer", "me", task="embed")
    with pytest.raises(Unsupported, match=r"vectors is an embedding model.*Choose another: ranker"):
        await models.card("vectors", "me", task="rerank")


async def test_where_none_can_it_says_so() -> None:
    with pytest.raises(Unsupported, match="None that turns texts into vectors is loaded"):
        await loaded_only(WRITER).card("", "me", task="embed")
    with pytest.raises(Unsupported, match="None that writes replies is loaded"):
        await loaded_only(VECTORS).card("", "me")
    with pytest.raises(Unavailable):
        await loaded_only().card("", "me", task="embed")
    with pytest.raises(ModelNotFound):
        await loaded_only(WRITER).card("other", "me", task="embed")


async def test_a_model_elsewhere_is_asked_by_its_name_alone() -> None:
    models = loaded_only(ELSEWHERE)
    assert await models.card("elsewhere", "me", task="embed") is ELSEWHERE
    with pytest.raises(Unsupported, match="Set model: no loaded model"):
        await models.card("", "me", task="embed")


async def test_a_client_that_leaves_waits_for_no_load_any_more():
    class Slow(Loads):
        waiting = 0

        async def loaded(self, model: str) -> None:
            self.waiting += 1
            try:
                await anyio.sleep_forever()
            finally:
                self.waiting -= 1

    loads = Slow()

    async def receive() -> dict[str, str]:
        await anyio.wait_all_tasks_blocked()
        assert loads.waiting == 1
        return {"type": "http.disconnect"}

    with anyio.fail_after(60), pytest.raises(BadRequest, match="left"):
        await requested(loads).card("qwen3-4b", "anna", receive=receive)
    assert loads.waiting == 0


def rest(loads: Loads, name: str, *, default: bool = False) -> None:
    card = ModelCard(name, "llama", 4096)
    loads.cards = [one for one in loads.cards if one.name != name]
    loads.rests.put(RestingModel(card, name, (LoadSpec("w", "llama", name),), default=default))


async def test_a_model_that_rests_is_loaded_for_anyone_who_names_it(loads):
    rest(loads, "sleepy")
    models = requested(loads)
    assert await models.unloaded("ada") == ["sleepy"]
    assert (await models.card("sleepy", "ada")).name == "sleepy"
    assert loads.loads == ["sleepy"]
    assert await models.unloaded("ada") == []


async def test_the_default_model_that_rests_is_loaded_and_no_other_takes_its_place(loads):
    loads.cards.append(ModelCard("other", "llama", 4096))
    rest(loads, MINI.name, default=True)
    models = requested(loads)
    assert models.loaded("") is None
    assert (await models.card("", "ada")).name == MINI.name
    assert loads.loads == [MINI.name]


async def test_an_answer_that_cannot_be_kept_alive_says_in_time_that_the_model_is_loading(loads):
    class Never(Loads):
        async def loaded(self, model: str) -> None:
            await anyio.sleep_forever()

    async def stays() -> dict:
        await anyio.sleep_forever()
        return {}

    never = Never()
    rest(never, "sleepy")
    models = RequestedModels(ModelRegistry(lambda: never.cards, {}), list, never, patience=0.01)
    with anyio.fail_after(60), pytest.raises(Unavailable) as refusal:
        await models.card("sleepy", "ada", receive=stays)
    assert (refusal.value.code, refusal.value.retry_after) == ("model_loading", 5.0)
    never.places = {"sleepy": 3}
    with (
        watched_queue() as told,
        anyio.fail_after(60),
        pytest.raises(Unavailable, match="number 3") as refusal,
    ):
        await models.card("sleepy", "ada", in_time=True)
    assert refusal.value.retry_after == 15.0
    assert told.load_waited > 0
