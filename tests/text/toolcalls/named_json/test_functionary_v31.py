"""Functionary 3.1's calls: a name in a tag, then JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from tests.support.gbnf import admits
from tests.support.tool_call_families import CITY, Call, Family, calls_of, read_reply

from duologue.text.output.reply_grammar import AllowedToolCalls, optional_tool_calls


def write(calls: Sequence[Call]) -> str:
    return "".join(
        f"<function={call.name}>{json.dumps(call.arguments, ensure_ascii=False)}</function>" for call in calls
    )


FAMILY = Family("functionary_v31", write, source="chat template of functionary-small-v3.1")


def said(raw: str, **options: object) -> tuple[str, str, list[tuple[str, str]]]:
    reply = read_reply("functionary_v31", raw, **options)  # type: ignore[arg-type]
    return reply.reasoning, reply.content, calls_of(reply)


F = [("f", '{"a": "x"}')]


@pytest.mark.parametrize(
    "raw",
    [
        '<function=f>{"a": "x"}</function>',
        '<function=f>\n{"a": "x"}\n</function>\n',
        '<function=f>{"a": "x"}',
        '<function=f>"{\\"a\\": \\"x\\"}"</function>',
    ],
)
def test_ways_models_write_the_same_call(raw: str) -> None:
    assert said(raw) == ("", "", F)


def test_no_arguments_are_an_empty_object() -> None:
    assert said("<function=clock></function>")[2] == [("clock", "{}")]


def test_a_marker_inside_a_text_is_text() -> None:
    assert said('<function=f>{"a": "</function>"}</function>')[2] == [("f", '{"a": "</function>"}')]


@pytest.mark.parametrize(
    "raw",
    [
        "Use <function=name> for that.",
        "Write <function=f>x</function> there.",
        "a <function= b",
        "<function=f>{'a': 1}</function>",
    ],
)
def test_text_about_calls_stays_text(raw: str) -> None:
    assert said(raw) == ("", raw, [])


def test_a_broken_second_call_keeps_the_first() -> None:
    assert said('<function=f>{"a": "x"}</function><function=g>n</function>') == (
        "",
        "<function=g>n</function>",
        F,
    )


def test_the_grammar_admits_what_is_written_and_no_other_tool() -> None:
    grammar = optional_tool_calls(AllowedToolCalls("functionary_v31", (CITY,)))
    assert grammar is not None
    assert admits(grammar.text, write([Call("find_city", {"city": "Oslo", "days": 3})]))
    assert admits(
        grammar.text, write([Call("find_city", {"city": "Oslo"}), Call("find_city", {"city": "Rome"})])
    )
    assert not admits(grammar.text, write([Call("fly", {})]))
