"""Lists of calls without markers: only what names offered tools is a call."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from tests.support.call_expressions import python_call
from tests.support.gbnf import admits
from tests.support.tool_call_families import CITY, Call, Family, calls_of, read_reply

from duologue.text.output.reply_grammar import AllowedToolCalls, constrained_reply, optional_tool_calls


def write(calls: Sequence[Call]) -> str:
    return f"[{', '.join(map(python_call, calls))}]"


FAMILY = Family(
    "pythonic", write, source="vLLM's tool_chat_template_llama3.2_pythonic.jinja", needs_tools=True
)


@pytest.mark.parametrize(
    "raw",
    [
        "[1] is the first source.",
        "[link](https://example.org)",
        "[find_city]",
        "[find_city(city)]",
        "[find_city(city=name)]",
        "[find_city(city=f('x'))]",
        "[fly(to='Oslo')]",
        "Write [find_city(city='Oslo')] for that.",
        "`[find_city(city='Oslo')]`",
        "```\n[find_city(city='Oslo')]\n```",
        "[",
        "[]",
        "[[1, 2], [3, 4]]",
    ],
)
def test_other_lists_are_text(raw: str) -> None:
    reply = read_reply("pythonic", raw)
    assert (reply.content, reply.tool_calls) == (raw, ())


def test_a_second_call_that_is_none_leaves_the_first_alone() -> None:
    reply = read_reply("pythonic", "[find_city(city='Oslo'), fly(to='Oslo')]")
    assert calls_of(reply) == [("find_city", '{"city": "Oslo"}')]
    assert reply.content == "fly(to='Oslo')]"


def test_a_missing_bracket_at_the_end_is_no_harm() -> None:
    reply = read_reply("pythonic", "[find_city(city='Oslo')")
    assert calls_of(reply) == [("find_city", '{"city": "Oslo"}')]
    assert not reply.truncated


def test_a_call_after_text_begins_a_line() -> None:
    reply = read_reply("pythonic", "Let me see.\n[clock()]\n[clock()]\nDone.")
    assert calls_of(reply) == [("clock", "{}")] * 2
    assert reply.content.split() == ["Let", "me", "see.", "Done."]


def test_the_grammar_admits_what_is_written_and_no_other_tool() -> None:
    calls = AllowedToolCalls("pythonic", (CITY,))
    assert optional_tool_calls(calls) is None
    forced = constrained_reply(calls, None, None)
    assert forced is not None
    assert admits(forced.text, write([Call("find_city", {"city": 'Oslo\'s "x"', "days": 3, "exact": True})]))
    assert admits(forced.text, '[find_city(city="Oslo", tags=["a"])]')
    assert not admits(forced.text, write([Call("find_city", {"days": 3})]))
    assert not admits(forced.text, write([Call("find_city", {"city": "Oslo", "days": "many"})]))
    assert not admits(forced.text, write([Call("fly", {})]))
