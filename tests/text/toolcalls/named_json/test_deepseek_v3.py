"""DeepSeek V3's calls: a kind, a name, and JSON in a fence."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from tests.support.gbnf import admits
from tests.support.tool_call_families import CITY, Call, Family, calls_of, read_reply

from duologue.text.output.reply_grammar import AllowedToolCalls, optional_tool_calls

BEGIN, END = "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"


def one(name: str, arguments: str) -> str:
    return f"<｜tool▁call▁begin｜>function<｜tool▁sep｜>{name}\n```json\n{arguments}\n```<｜tool▁call▁end｜>"


def write(calls: Sequence[Call]) -> str:
    inner = "\n".join(one(call.name, json.dumps(call.arguments, ensure_ascii=False)) for call in calls)
    return BEGIN + inner + END


FAMILY = Family("deepseek_v3", write, source="chat template of DeepSeek-R1-Distill-Qwen-32B")


def said(raw: str, **options: object) -> tuple[str, str, list[tuple[str, str]]]:
    reply = read_reply("deepseek_v3", raw, **options)  # type: ignore[arg-type]
    return reply.reasoning, reply.content, calls_of(reply)


F = [("f", '{"a": "x"}')]
CALL = one("f", '{"a": "x"}')


@pytest.mark.parametrize(
    "raw",
    [
        BEGIN + CALL + END,
        f"<｜tool▁calls｜>{CALL}{END}",
        (BEGIN + CALL + END).replace("▁", " "),
        (BEGIN + CALL + END).replace("▁", "_"),
        (BEGIN + CALL + END).replace("▁", "\\_"),
        CALL,
        BEGIN + CALL,
        BEGIN + CALL.removesuffix("<｜tool▁call▁end｜>") + END,
        BEGIN + CALL.removesuffix("\n```<｜tool▁call▁end｜>"),
        BEGIN + CALL.replace("```json", "```") + END,
        BEGIN + CALL.replace("```json\n", "").replace("\n```", "") + END,
        BEGIN + CALL.replace("function<｜tool▁sep｜>", "") + END,
        BEGIN + '<｜tool▁call▁begin｜>f<｜tool▁sep｜>{"a": "x"}<｜tool▁call▁end｜>' + END,
    ],
)
def test_ways_models_write_the_same_call(raw: str) -> None:
    assert said(raw) == ("", "", F)


def test_fences_and_markers_inside_a_text_are_text() -> None:
    text = "```\n<｜tool▁call▁end｜>\n```json"
    assert said(BEGIN + one("f", json.dumps({"a": text}, ensure_ascii=False)) + END)[2] == [
        ("f", json.dumps({"a": text}, ensure_ascii=False))
    ]


def test_code_after_a_call_is_content() -> None:
    assert said(f"{BEGIN}{CALL}{END}\n\n```py\nx\n```")[1].strip() == "```py\nx\n```"


def test_a_broken_second_call_keeps_the_first() -> None:
    broken = one("g", "n = 1")
    assert said(f"{BEGIN}{CALL}\n{broken}{END}") == ("", broken, F)


@pytest.mark.parametrize(
    "raw", [f"Write {BEGIN} first.", f"{BEGIN}<｜tool▁call▁begin｜>function", BEGIN + one("f", "{x}")]
)
def test_text_about_calls_stays_text(raw: str) -> None:
    assert said(raw) == ("", raw, [])


def test_the_grammar_admits_what_is_written_and_no_other_tool() -> None:
    grammar = optional_tool_calls(AllowedToolCalls("deepseek_v3", (CITY,)))
    assert grammar is not None
    assert admits(grammar.text, write([Call("find_city", {"city": "Oslo", "days": 3})]))
    assert admits(
        grammar.text, write([Call("find_city", {"city": "Oslo"}), Call("find_city", {"city": "Rome"})])
    )
    assert not admits(grammar.text, write([Call("fly", {})]))
