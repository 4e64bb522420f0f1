"""Python calls between LFM2's markers, and its JSON."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from tests.support.call_expressions import python_call
from tests.support.gbnf import admits
from tests.support.tool_call_families import CITY, Call, Family, calls_of, read_reply

from duologue.text.output.reply_grammar import AllowedToolCalls, constrained_reply, optional_tool_calls


def write(calls: Sequence[Call]) -> str:
    return f"<|tool_call_start|>[{', '.join(map(python_call, calls))}]<|tool_call_end|>"


FAMILY = Family("lfm2", write, source="chat template of LFM2.5-8B-A1B")

OSLO = [("find_city", '{"city": "Oslo"}')]


@pytest.mark.parametrize(
    "raw",
    [
        '<|tool_call_start|>[find_city(city="Oslo")]<|tool_call_end|>',
        '<|tool_call_start|>\n[ find_city( city = "Oslo", ) ]\n<|tool_call_end|>',
        '<|tool_call_start|>find_city("Oslo")<|tool_call_end|>',
        '<|tool_call_start|>[find_city(city="Oslo")',
        '<|tool_call_start|>[find_city(city="Oslo")<|tool_call_end|>',
        '<|tool_call_start|>[{"name": "find_city", "arguments": {"city": "Oslo"}}]<|tool_call_end|>',
        '<|tool_call_start|>{"arguments": {"city": "Oslo"}, "name": "find_city"}<|tool_call_end|>',
    ],
)
def test_ways_models_write_the_same_call(raw: str) -> None:
    reply = read_reply("lfm2", raw)
    assert (calls_of(reply), reply.content, reply.truncated) == (OSLO, "", False)


def test_json_and_calls_take_turns() -> None:
    raw = (
        '<|tool_call_start|>[{"name": "clock", "arguments": {}}, {"name": "clock"}, clock()]<|tool_call_end|>'
    )
    assert calls_of(read_reply("lfm2", raw)) == [("clock", "{}")] * 3


@pytest.mark.parametrize("text", ["it's late", "He said 'no' to me", 'a "b" c'])
def test_quotation_marks_that_the_template_does_not_escape(text: str) -> None:
    quote = '"' if "'" in text and '"' in text else "'"
    reply = read_reply(
        "lfm2", f"<|tool_call_start|>[find_city(city={quote}{text}{quote}, days=1)]<|tool_call_end|>"
    )
    assert read_reply("lfm2", write([Call("find_city", {"city": text, "days": 1})])) == reply


@pytest.mark.parametrize(
    "raw",
    [
        "The <|tool_call_start|> marker begins a call, <|tool_call_end|> ends it.",
        "<|tool_call_start|>[find_city(city=name)]<|tool_call_end|>",
        "<|tool_call_start|>[]<|tool_call_end|>",
        "<|tool_call_start|><|tool_call_end|>",
        '<|tool_call_start|>[{"city": "Oslo"}]<|tool_call_end|>',
        "<|tool_call_start|>[find_",
    ],
)
def test_what_is_no_call_is_given_back(raw: str) -> None:
    reply = read_reply("lfm2", raw)
    assert (reply.content, reply.tool_calls) == (raw, ())


def test_the_grammar_admits_what_is_written_and_no_other_tool() -> None:
    calls = AllowedToolCalls("lfm2", (CITY,))
    optional, forced = optional_tool_calls(calls), constrained_reply(calls, None, None)
    assert optional is not None
    assert forced is not None
    for grammar in (optional.text, forced.text):
        assert admits(grammar, write([Call("find_city", {"city": "Oslo's <x>", "days": 3, "exact": True})]))
        assert not admits(grammar, write([Call("find_city", {"days": 3})]))
        assert not admits(grammar, write([Call("fly", {})]))
