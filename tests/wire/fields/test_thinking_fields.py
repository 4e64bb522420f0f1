"""Whether and how long to think, in the words of different clients."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from duologue.wire.fields.thinking_fields import ThinkingFields


def asked(**fields: Any) -> tuple[object, ...]:
    return ThinkingFields.model_validate(fields).thinking_asked()


@pytest.mark.parametrize(
    "name",
    [
        *("reasoning_budget_tokens", "reasoning_budget", "thinking_budget", "thinking_token_budget"),
        "thinking_budget_tokens",
    ],
)
def test_a_budget_of_tokens_has_the_names_of_several_servers(name: str) -> None:
    assert asked(**{name: 300}) == (True, None, 300, {})
    assert asked(**{name: 0}) == (False, None, None, {})
    assert asked(**{name: -1}) == (None, None, None, {})


def test_thinking_as_an_object() -> None:
    assert asked(reasoning={"effort": "low"}) == (True, "low", None, {})
    assert asked(reasoning={"effort": "none"}) == (False, None, None, {})
    assert asked(reasoning={"enabled": True}) == (True, None, None, {})
    assert asked(reasoning={"enabled": False, "effort": "high"}) == (False, "high", None, {})
    assert asked(reasoning={"max_tokens": 64}) == (True, None, 64, {})


def test_what_is_said_more_closely_wins() -> None:
    assert asked(enable_thinking=False, reasoning={"enabled": True}) == (False, None, None, {})
    assert asked(chat_template_kwargs={"thinking": True, "x": 1}, reasoning={"enabled": False}) == (
        True,
        None,
        None,
        {"x": 1},
    )
    assert asked(reasoning={"max_tokens": 5}, thinking_budget=9, reasoning_effort="high") == (
        True,
        "high",
        5,
        {},
    )


@pytest.mark.parametrize("wrong", [-2, 2_000_000, "many"])
def test_other_budgets_are_mistakes(wrong: object) -> None:
    with pytest.raises(ValidationError):
        asked(thinking_budget=wrong)
