"""Names to models, and what each can be asked for."""

from typing import Any

import msgspec
import pytest

from duologue.errors import ModelNotFound, Unavailable, Unsupported
from duologue.gateway.models.registry import ModelRegistry, admit
from duologue.values.messages import ImagePart, Message, TextPart, Tool, user
from duologue.values.requests import ChatRequest, ModelCard, OutputFormat, Sampling

MINI = ModelCard("mini", "llama", 2048)
LARGE = ModelCard("large", "remote", 8192)


def models(*cards: ModelCard, **aliases: str) -> ModelRegistry:
    return ModelRegistry(lambda: cards, aliases)


def test_no_name_means_the_default_model() -> None:
    assert models(MINI, LARGE).resolve("") is MINI


def test_a_model_is_found_by_its_name_and_by_its_aliases() -> None:
    known = models(MINI, LARGE, gpt="large")
    assert known.resolve("large") is LARGE
    assert known.resolve("gpt") is LARGE
    assert known.aliases() == {"gpt": LARGE}


def test_an_unknown_name_is_told_the_known_ones() -> None:
    with pytest.raises(ModelNotFound) as caught:
        models(MINI, LARGE, gpt="large").resolve("gpt-9")
    problem = caught.value
    assert problem.message == "There is no model 'gpt-9'. Known: mini, large, gpt."
    assert (problem.status, problem.code, problem.param) == (404, "model_not_found", "model")


def test_an_alias_of_a_model_that_is_not_loaded_says_so() -> None:
    known = models(MINI, gpt="large")
    with pytest.raises(ModelNotFound, match="'gpt' is an alias of 'large', which is not loaded"):
        known.resolve("gpt")
    assert known.aliases() == {}


def test_an_alias_never_shadows_a_model() -> None:
    known = models(MINI, LARGE, large="mini")
    assert known.resolve("large") is LARGE
    assert known.aliases() == {}


def test_a_model_that_several_workers_have_is_listed_once() -> None:
    assert models(MINI, LARGE, ModelCard("mini", "llama", 1)).cards() == (MINI, LARGE)


def test_before_anything_is_loaded_the_server_is_unavailable() -> None:
    for name in ("", "mini"):
        with pytest.raises(Unavailable, match="No model is loaded"):
            models().resolve(name)


def test_a_model_may_have_further_names_which_are_not_listed() -> None:
    known = ModelRegistry(lambda: [MINI], find={"box/mini": MINI}.get)
    assert known.resolve("box/mini") is MINI
    assert known.find("box/large") is None
    with pytest.raises(ModelNotFound) as unknown:
        known.resolve("large")
    assert "box/mini" not in unknown.value.message


def test_a_sentence_names_only_the_first_of_many_models() -> None:
    cards = [msgspec.structs.replace(MINI, name=f"model-{number}") for number in range(500)]
    with pytest.raises(ModelNotFound, match="and 470 more") as unknown:
        ModelRegistry(lambda: cards).resolve("large")
    assert len(unknown.value.message) < 600


def test_the_cards_are_asked_for_anew_each_time() -> None:
    cards: list[ModelCard] = []
    known = ModelRegistry(lambda: cards)
    cards.append(MINI)
    assert known.resolve("") is MINI
    cards.insert(0, LARGE)
    assert known.resolve("") is LARGE


def ask(**fields: Any) -> ChatRequest:
    return ChatRequest(**({"messages": (user("hi"),)} | fields))


def test_an_admitted_request_carries_the_models_own_name() -> None:
    assert admit(LARGE, ask(model="gpt")) == ask(model="large")


def test_a_part_the_model_cannot_take_is_named() -> None:
    picture = Message("user", (TextPart("Look"), ImagePart(b"")))
    asked = ask(messages=(user("hi"), picture))
    with pytest.raises(Unsupported) as caught:
        admit(MINI, asked)
    assert caught.value.message == "messages[1].content[1] is image; the model mini takes text."
    assert caught.value.param == "messages[1].content[1]"
    admit(ModelCard("eye", "llama", 1, modalities=("text", "image")), asked)


@pytest.mark.parametrize(
    ("fields", "verb", "param"),
    [
        ({"tools": (Tool("f"),)}, "tools", "tools"),
        ({"tool_choice": "function:f"}, "tool_choice", "tool_choice"),
        ({"tool_choice": "required"}, "tool_choice", "tool_choice"),
        ({"format": OutputFormat("json_object")}, "format", "response_format"),
        ({"sampling": Sampling(logprobs=0)}, "logprobs", "logprobs"),
        ({"continue_final": True}, "continue", "continue_final_message"),
    ],
)
def test_what_the_model_cannot_do_is_refused_and_what_it_can_do_is_not(
    fields: dict[str, Any], verb: str, param: str
) -> None:
    with pytest.raises(Unsupported, match=f"{param}: the model mini") as caught:
        admit(MINI, ask(**fields))
    assert caught.value.param == param
    admit(ModelCard("able", "llama", 1, verbs=(verb,)), ask(**fields))


def test_tools_that_must_not_be_called_are_no_demand() -> None:
    admit(MINI, ask(tools=(Tool("f"),), tool_choice="none"))


def test_a_model_that_still_loads_is_not_judged() -> None:
    loading = ModelCard("soon", "llama", 0)
    assert admit(loading, ask(tools=(Tool("f"),))).model == "soon"


def test_a_name_as_other_servers_write_it_means_a_loaded_model() -> None:
    known = ModelRegistry(
        lambda: (MINI, msgspec.structs.replace(LARGE, name="Big-4B-Q4_K_M")), {"gpt": "mini"}
    )
    assert known.resolve("mini:latest") is MINI
    assert known.resolve("GPT") is MINI
    assert known.resolve("big:4b").name == "Big-4B-Q4_K_M"
    assert known.find("mini:latest") is None, "a chat that chose it gets exactly it"


def test_an_alias_with_a_star_answers_names_that_nobody_knows() -> None:
    known = ModelRegistry(lambda: (MINI, LARGE), {"*": "", "gpt-*": "large", "x-*": "gone"})
    assert known.resolve("gpt-4.1") is LARGE
    assert known.resolve("anything") is MINI
    assert known.resolve("large") is LARGE
    assert known.aliases() == {}
    with pytest.raises(ModelNotFound, match="x-1"):
        known.resolve("x-1")


def test_a_model_that_does_not_chat_is_refused_for_a_chat() -> None:
    for verb in ("embed", "rerank"):
        with pytest.raises(Unsupported, match="writes no replies") as caught:
            admit(ModelCard("m", "llama", 512, verbs=(verb,)), ChatRequest((user("hi"),)))
        assert caught.value.param == "model"


def test_of_many_models_that_can_a_sentence_names_some() -> None:
    cards = [ModelCard(f"v{number}", "llama", 512, verbs=("embed",)) for number in range(100)]
    known = models(MINI, *cards)
    with pytest.raises(Unsupported, match="v29 and 70 more"):
        known.require(MINI, "embed")


def test_a_model_that_a_key_may_not_use_does_not_exist_for_it():
    cards = [ModelCard("large", "llama", 4096), ModelCard("small", "llama", 4096)]
    registry = ModelRegistry(
        lambda: cards, {"quick": "small", "big": "large"}, allows=lambda name: name == "small"
    )
    assert [card.name for card in registry.cards()] == ["small"]
    assert [card.name for card in registry.every()] == ["large", "small"]
    assert registry.resolve("").name == "small"
    assert list(registry.aliases()) == ["quick"]
    for name in ("large", "big"):
        with pytest.raises(ModelNotFound) as caught:
            registry.resolve(name)
        assert "Known: small, quick" in caught.value.message
    none = ModelRegistry(lambda: cards, allows=lambda name: False)
    with pytest.raises(ModelNotFound, match="none of the loaded models"):
        none.resolve("")
