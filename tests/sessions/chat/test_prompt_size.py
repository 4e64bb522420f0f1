"""What a prompt takes at least, and about, before it was rendered."""

from __future__ import annotations

import pytest

from duologue.errors import ContextExceeded
from duologue.sessions.chat.prompt_size import LONGEST_TOKEN, check_fits, least_tokens, rough_tokens
from duologue.values.messages import Message, ToolCall, user
from duologue.values.requests import ChatRequest, ModelCard


def card(context: int) -> ModelCard:
    return ModelCard("m", "scripted", context=context, slots=1)


def test_each_message_and_each_call_takes_two_tokens_at_least() -> None:
    calls = tuple(ToolCall(str(at), "f", "{}") for at in range(10))
    assert least_tokens(ChatRequest((user("a"), Message("assistant", tool_calls=calls)))) == 24


def test_a_text_takes_at_least_its_share_of_the_longest_tokens() -> None:
    assert least_tokens(ChatRequest((user("x" * LONGEST_TOKEN * 50),))) == 50


def test_thoughts_are_not_counted_as_templates_leave_them_out() -> None:
    thought = Message("assistant", reasoning="x" * 100_000)
    assert least_tokens(ChatRequest((user("a"), thought))) == 4


def test_what_cannot_fit_is_refused_with_both_numbers() -> None:
    request = ChatRequest((user("a"),) * 100)
    check_fits(card(200), request)
    check_fits(card(0), request)
    with pytest.raises(ContextExceeded, match=r"at least 200 tokens.* length is 199"):
        check_fits(card(199), request)


def test_a_rendered_prompt_is_estimated_by_its_bytes() -> None:
    assert rough_tokens("x" * 36) == 10
    assert rough_tokens("é" * 18) == 10
    assert rough_tokens("\ud800") == 1
