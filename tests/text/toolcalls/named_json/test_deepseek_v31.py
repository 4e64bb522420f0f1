"""DeepSeek V3.1's calls: a name and bare JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from tests.support.gbnf import admits
from tests.support.tool_call_families import CITY, Call, Family, calls_of, read_reply

from duologue.text.output.reply_grammar import AllowedToolCalls, optional_tool_calls

BEGIN, END = "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"


def one(name: str, arguments: str) -> str:
    return f"<｜tool▁call▁begin｜>{name}<｜tool▁sep｜>{arguments}<｜tool▁call▁end｜>"


def write(calls: Sequence[Call]) -> str:
    return (
        BEGIN
        + "".join(one(call.name, json.dumps(call.arguments, ensure_ascii=False)) for call in calls)
        + END
    )


FAMILY = Family("deepseek_v31", write, source="chat template of DeepSeek-V3.1")


def said(raw: str, **options: object) -> tuple[str, str, list[tuple[str, str]]]:
    reply = read_reply("deepseek_v31", raw, **options)  # type: ignore[arg-type]
    return reply.reasoning, reply.content, calls_of(reply)


F = [("f", '{"a": "x"}')]
CALL = one("f", '{"a": "x"}')


@pytest.mark.parametrize(
    "raw",
    [
        CALL,
        f"{BEGIN}\n{CALL}\n{END}",
        BEGIN + one("f", '\n{"a": "x"}\n') + END,
        BEGIN + one("f", '\n```json\n{"a": "x"}\n```') + END,
        f'{BEGIN}<｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n{{"a": "x"}}\n```<｜tool▁call▁end｜>{END}',
    ],
)
def test_ways_models_write_the_same_call(raw: str) -> None:
    assert said(raw) == ("", "", F)


def test_a_tool_may_be_called_function() -> None:
    assert said(BEGIN + one("function", "{}") + END)[2] == [("function", "{}")]


def test_no_arguments_are_an_empty_object() -> None:
    assert said(BEGIN + one("clock", "") + END)[2] == [("clock", "{}")]


@pytest.mark.parametrize(
    "raw", [f"Write {BEGIN} first.", BEGIN + one("f", "{x}") + END, BEGIN + one("f", "[1]") + END]
)
def test_what_is_no_call_stays_text(raw: str) -> None:
    assert said(raw) == ("", raw, [])


def test_the_grammar_admits_what_is_written_and_no_other_tool() -> None:
    grammar = optional_tool_calls(AllowedToolCalls("deepseek_v31", (CITY,)))
    assert grammar is not None
    assert admits(grammar.text, write([Call("find_city", {"city": "Oslo", "days": 3})]))
    assert admits(
        grammar.text, write([Call("find_city", {"city": "Oslo"}), Call("find_city", {"city": "Rome"})])
    )
    assert not admits(grammar.text, write([Call("fly", {})]))
