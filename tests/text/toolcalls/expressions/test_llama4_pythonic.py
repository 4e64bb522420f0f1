"""Llama 4: lists of calls with and without markers."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from tests.support.call_expressions import python_call
from tests.support.gbnf import admits
from tests.support.tool_call_families import CITY, Call, Family, calls_of, read_reply

from duologue.text.output.reply_grammar import AllowedToolCalls, constrained_reply, optional_tool_calls


def write(calls: Sequence[Call]) -> str:
    return f"<|python_start|>[{', '.join(map(python_call, calls))}]<|python_end|>"


FAMILY = Family(
    "llama4_pythonic",
    write,
    source="vLLM's tool_chat_template_llama4_pythonic.jinja, and its tests of the format",
)

OSLO = [("find_city", '{"city": "Oslo"}')]


@pytest.mark.parametrize(
    "raw",
    [
        '[find_city(city="Oslo")]',
        '<|python_start|>[find_city(city="Oslo")]<|python_end|>',
        '<|python_start|>[find_city(city="Oslo")]',
        '<|python_start|>{"name": "find_city", "parameters": {"city": "Oslo"}}<|python_end|>',
    ],
)
def test_ways_models_write_the_same_call(raw: str) -> None:
    reply = read_reply("llama4_pythonic", raw)
    assert (calls_of(reply), reply.content, reply.truncated) == (OSLO, "", False)


@pytest.mark.parametrize("raw", ['[fly(to="Oslo")]', "<|python_start|>x = 1\nprint(x)<|python_end|>"])
def test_code_and_tools_that_are_not_offered_are_text(raw: str) -> None:
    reply = read_reply("llama4_pythonic", raw)
    assert (reply.content, reply.tool_calls) == (raw, ())


def test_the_grammar_admits_what_is_written_and_no_other_tool() -> None:
    calls = AllowedToolCalls("llama4_pythonic", (CITY,))
    optional, forced = optional_tool_calls(calls), constrained_reply(calls, None, None)
    assert optional is not None
    assert forced is not None
    for grammar in (optional.text, forced.text):
        assert admits(grammar, write([Call("find_city", {"city": "Oslo's <x>", "days": 3, "exact": True})]))
        assert not admits(grammar, write([Call("find_city", {"days": 3})]))
        assert not admits(grammar, write([Call("fly", {})]))
