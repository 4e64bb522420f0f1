"""Aliases with `*`."""

import pytest

from duologue.gateway.models.requested.alias_patterns import best_pattern, is_pattern

ALIASES = {"*": "any", "gpt-*": "gpt", "gpt-4*-mini": "mini", "claude-*-haiku-*": "haiku", "plain": "x"}


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("gpt-4.1", "gpt"),
        ("GPT-4.1", "gpt"),
        ("gpt-4o-mini", "mini"),
        ("claude-3-5-haiku-latest", "haiku"),
        ("plain", "any"),
        ("a\nb", "any"),
        ("", "any"),
    ],
)
def test_the_most_specific_pattern_wins(name: str, model: str) -> None:
    assert best_pattern(name, ALIASES) == model


def test_without_a_fitting_pattern_there_is_none() -> None:
    assert best_pattern("llama", {"gpt-*": "gpt", "llama": "other"}) is None
    assert best_pattern("gpt.4", {"gpt-*": "gpt"}) is None


def test_other_signs_stand_for_themselves() -> None:
    assert best_pattern("a+b[1]", {"a+b[*]": "m"}) == "m"
    assert best_pattern("aab1", {"a+b*": "m"}) is None


def test_an_empty_model_is_the_default_one() -> None:
    assert best_pattern("whatever", {"*": ""}) == ""


def test_what_a_pattern_is() -> None:
    assert is_pattern("gpt-*")
    assert not is_pattern("gpt-4?")
