"""FunctionGemma: keys and values in braces."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from tests.support.call_expressions import braced_call
from tests.support.gbnf import admits
from tests.support.tool_call_families import CITY, Call, Family, calls_of, read_reply

from duologue.text.output.reply_grammar import AllowedToolCalls, constrained_reply, optional_tool_calls


def write(calls: Sequence[Call]) -> str:
    return "".join(
        f"<start_function_call>{braced_call(call, '<escape>')}<end_function_call>" for call in calls
    )


FAMILY = Family("functiongemma", write, source="chat template of functiongemma-270m-it")

OSLO = [("find_city", '{"city": "Oslo"}')]


@pytest.mark.parametrize(
    "raw",
    [
        "<start_function_call>call:find_city{city:<escape>Oslo<escape>}<end_function_call>",
        "<start_function_call>call:find_city{city: <escape>Oslo<escape>}",
        "<start_function_call>call:find_city{city:Oslo}<end_function_call>",
        '<start_function_call>call:find_city{"city": "Oslo"}<end_function_call>',
    ],
)
def test_ways_models_write_the_same_call(raw: str) -> None:
    reply = read_reply("functiongemma", raw)
    assert (calls_of(reply), reply.content, reply.truncated) == (OSLO, "", False)


def test_prose_about_the_marker_is_text() -> None:
    raw = "<start_function_call> begins a call and <end_function_call> ends it."
    assert read_reply("functiongemma", raw).content == raw


def test_the_grammar_admits_what_is_written_and_no_other_tool() -> None:
    calls = AllowedToolCalls("functiongemma", (CITY,))
    optional, forced = optional_tool_calls(calls), constrained_reply(calls, None, None)
    assert optional is not None
    assert forced is not None
    for grammar in (optional.text, forced.text):
        assert admits(grammar, write([Call("find_city", {"city": "Oslo's <x>", "days": 3, "exact": True})]))
        assert not admits(grammar, write([Call("find_city", {"days": 3})]))
        assert not admits(grammar, write([Call("fly", {})]))
