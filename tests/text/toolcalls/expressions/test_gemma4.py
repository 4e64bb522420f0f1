"""Gemma 4: keys and values in braces, objects inside them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from tests.support.call_expressions import braced_call
from tests.support.gbnf import admits
from tests.support.tool_call_families import CITY, Call, Family, calls_of, read_reply

from duologue.text.output.reply_grammar import AllowedToolCalls, constrained_reply, optional_tool_calls


def write(calls: Sequence[Call]) -> str:
    return "".join(f"<|tool_call>{braced_call(call, QUOTE)}<tool_call|>" for call in calls)


QUOTE = '<|"|>'

FAMILY = Family("gemma4", write, source="vLLM's tool_chat_template_gemma4.jinja")

OSLO = [("find_city", '{"city": "Oslo"}')]


@pytest.mark.parametrize(
    "raw",
    [
        '<|tool_call>call:find_city{city:<|"|>Oslo<|"|>}<tool_call|>',
        '<|tool_call>call:find_city{city:<|"|>Oslo<|"|>}',
        "<|tool_call>call:find_city{ city : Oslo }<tool_call|>",
        '<|tool_call>call:find_city{<|"|>city<|"|>:<|"|>Oslo<|"|>}<tool_call|>',
        '<|tool_call>\ncall:find_city{"city": "Oslo"}\n<tool_call|>',
    ],
)
def test_ways_models_write_the_same_call(raw: str) -> None:
    reply = read_reply("gemma4", raw)
    assert (calls_of(reply), reply.content, reply.truncated) == (OSLO, "", False)


def test_bare_values_are_typed_by_the_schema() -> None:
    raw = "<|tool_call>call:find_city{city:007,days:007,share:1.50e-3,exact:True,note:None,place:{a:{b:[x,2]}}}<tool_call|>"
    assert calls_of(read_reply("gemma4", raw)) == [
        (
            "find_city",
            '{"city": "007", "days": 7, "share": 1.50e-3, "exact": true, "note": null, '
            '"place": {"a": {"b": ["x", 2]}}}',
        )
    ]


@pytest.mark.parametrize(
    "raw",
    [
        "The <|tool_call> marker begins a call, <tool_call|> ends it.",
        "<|tool_call>call:find_city<tool_call|>",
    ],
)
def test_what_is_no_call_is_given_back(raw: str) -> None:
    reply = read_reply("gemma4", raw)
    assert (reply.content, reply.tool_calls) == (raw, ())


def test_the_grammar_admits_what_is_written_and_no_other_tool() -> None:
    calls = AllowedToolCalls("gemma4", (CITY,))
    optional, forced = optional_tool_calls(calls), constrained_reply(calls, None, None)
    assert optional is not None
    assert forced is not None
    for grammar in (optional.text, forced.text):
        assert admits(grammar, write([Call("find_city", {"city": "Oslo's <x>", "days": 3, "exact": True})]))
        assert not admits(grammar, write([Call("find_city", {"days": 3})]))
        assert not admits(grammar, write([Call("fly", {})]))
