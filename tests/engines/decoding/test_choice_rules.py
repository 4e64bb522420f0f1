"""What the sampling of a request means, and what is refused."""

import pytest

from duologue.engines.decoding.choice_rules import (
    FIELDS,
    ChoiceRules,
    card_defaults,
    default_rules,
    rules_of,
)
from duologue.errors import BadRequest
from duologue.values.requests import Sampling

DEFAULTS = ChoiceRules()


def rules(**sampling) -> ChoiceRules:
    return rules_of(Sampling(**sampling), DEFAULTS, lambda text: tuple(map(ord, text)), 1000)


def test_what_is_not_asked_for_is_as_the_model_has_it() -> None:
    assert rules() == DEFAULTS
    assert default_rules({"temperature": 0.3, "top_k": 7.0, "do_sample": True, "top_p": "x"}) == ChoiceRules(
        temperature=0.3, top_k=7
    )


def test_what_is_asked_for_replaces_it() -> None:
    asked = rules(temperature=0.0, top_k=5, seed=3, ignore_eos=True, logprobs=4)
    assert asked == ChoiceRules(temperature=0.0, top_k=5, seed=3, ignore_eos=True, logprobs=4)
    assert rules(seed=-1).seed is None


def test_a_bias_is_to_a_token_or_to_each_of_a_text() -> None:
    assert rules(logit_bias={"7": 1.5, "ab": -2.0, "b": 1.0}).bias == {7: 1.5, 97: -2.0, 98: -1.0}


@pytest.mark.parametrize(
    ("sampling", "param"),
    [
        ({"temperature": -1.0}, "temperature"),
        ({"top_p": -0.1}, "top_p"),
        ({"repetition_penalty": 0.0}, "repetition_penalty"),
        ({"logprobs": 21}, "logprobs"),
        ({"logit_bias": {"1000": 1.0}}, "logit_bias"),
        ({"temperature": float("nan")}, "temperature"),
    ],
)
def test_what_cannot_be_is_refused_with_its_name(sampling, param: str) -> None:
    with pytest.raises(BadRequest) as caught:
        rules(**sampling)
    assert caught.value.param == param


def test_the_card_names_only_fields_that_there_are() -> None:
    assert set(card_defaults(DEFAULTS)) <= set(FIELDS) <= set(Sampling.__struct_fields__)
    assert "length_penalty" not in FIELDS
