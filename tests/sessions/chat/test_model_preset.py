"""What an operator's preset makes of a request."""

from typing import Any

from duologue.config.model_preset import entries_of
from duologue.sessions.chat.model_preset import joined, with_preset
from duologue.values.messages import user
from duologue.values.requests import ChatRequest, ModelCard, ModelPreset, PresetEntry, Sampling


def asked(sampling: dict[str, Any], preset: dict[str, Any], **fields: Any) -> ChatRequest:
    request = ChatRequest((user("hi"),), sampling=Sampling(**sampling), **fields)
    return with_preset(request, ModelPreset(entries_of(preset)))


def test_without_a_preset_a_request_stays_as_it_is():
    request = ChatRequest((user("hi"),), sampling=Sampling(top_k=3), stop=("a",))
    assert with_preset(request, ModelPreset()) == request


def test_a_value_counts_where_the_request_sets_none():
    preset = {"temperature": 0.2, "top_k": {"override": 7}}
    assert asked({"top_k": 3}, preset).sampling == Sampling(temperature=0.2, top_k=3)
    assert asked({"temperature": 0.0}, preset).sampling == Sampling(temperature=0.0, top_k=7)


def test_a_forced_value_counts_in_any_case():
    preset = {"temperature": {"override": 0.2, "force": True}}
    assert asked({"temperature": 1.5}, preset).sampling.temperature == 0.2


def test_entries_are_added_to_those_of_the_request():
    breakers = {"dry_sequence_breakers": {"override": ["*", "a"], "additive": True}}
    assert asked({"dry_sequence_breakers": ("a",)}, breakers).sampling.dry_sequence_breakers == ("a", "*")
    bias = {"logit_bias": {"override": {"1": -5, "2": 3}, "additive": True}}
    assert asked({"logit_bias": {"1": 9.0}}, bias).sampling.logit_bias == {"1": 9.0, "2": 3.0}
    bias["logit_bias"]["force"] = True
    assert asked({"logit_bias": {"1": 9.0}}, bias).sampling.logit_bias == {"1": -5.0, "2": 3.0}


def test_only_a_forced_stop_takes_the_place_of_those_of_the_template():
    stop: dict[str, Any] = {"override": ["END"]}
    assert (asked({}, {"stop": stop}).stop, asked({}, {"stop": stop}).template_stops) == (("END",), True)
    assert asked({}, {"stop": stop}, stop=("a",)).stop == ("a",)
    assert asked({}, {"stop": {**stop, "additive": True}}, stop=("a",)).stop == ("a", "END")
    forced = asked({}, {"stop": {**stop, "force": True}}, stop=("a",))
    assert (forced.stop, forced.template_stops) == (("END",), False)


def test_a_model_can_be_made_to_think_always():
    request = ChatRequest((user("hi"),), thinking=False)
    assert with_preset(request, ModelPreset(force_thinking=True)).thinking is True


def test_the_card_tells_the_defaults_of_the_preset():
    card = ModelCard("m", "llama", 100, sampling=("top_k", "temperature"), defaults={"top_k": 40})
    preset = ModelPreset(entries_of({"top_k": 5, "temperature": 1, "mirostat": 2, "stop": ["x"]}))
    assert card.with_defaults(preset).defaults == {"top_k": 5, "temperature": 1.0}


def test_a_preset_that_was_chosen_at_run_time_takes_the_place_of_the_models_entries():
    own = ModelPreset({"top_k": PresetEntry(1, force=True), "top_p": PresetEntry(0.5)}, force_thinking=True)
    assert joined(own, None) is own
    chosen = ModelPreset({"top_k": PresetEntry(9)})
    both = joined(own, chosen)
    assert both.sampling == {"top_k": PresetEntry(9), "top_p": PresetEntry(0.5)}
    assert both.force_thinking
