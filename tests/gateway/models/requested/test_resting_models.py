"""Models that were unloaded because nobody used them."""

from duologue.gateway.models.requested.resting_models import RestingModel, RestingModels
from duologue.values.requests import ModelCard
from duologue.wire.worker_protocol import LoadSpec


def resting(name: str, *, default: bool = False) -> RestingModel:
    card = ModelCard(f"{name}-card", "scripted", 100)
    return RestingModel(card, name, (LoadSpec("w", "scripted", name),), default=default)


def test_a_model_is_found_by_each_of_its_names_and_the_default_without_one():
    models = RestingModels()
    models.put(resting("a"))
    models.put(resting("b", default=True))
    for name in ("a", "a-card"):
        found = models.find(name)
        assert found is not None
        assert found.model == "a"
    default = models.find("")
    assert default is not None
    assert default.model == "b"
    assert models.find("c") is None
    assert [card.name for card in models.cards()] == ["b-card", "a-card"]


def test_a_model_that_is_loaded_in_another_way_does_not_rest_any_more():
    loaded: set[str] = set()
    models = RestingModels(lambda name: name in loaded)
    models.put(resting("a"))
    loaded.add("a")
    assert models.find("a") is None
    loaded.clear()
    assert models.find("a") is None, "it does not come back by itself"


def test_a_model_can_be_forgotten_once():
    models = RestingModels()
    models.put(resting("a"))
    assert models.forget("a-card")
    assert not models.forget("a-card")
