"""Kimi K2's calls: a section, and ids that contain the name."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from tests.support.gbnf import admits
from tests.support.tool_call_families import CITY, CLOCK, Call, Family, calls_of, read_reply

from duologue.text.output.reasoning_tags import ReasoningTags
from duologue.text.output.reply_grammar import AllowedToolCalls, optional_tool_calls

BEGIN, END = "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"


def one(id: str, arguments: str) -> str:
    return f"<|tool_call_begin|>{id}<|tool_call_argument_begin|>{arguments}<|tool_call_end|>"


def write(calls: Sequence[Call]) -> str:
    inner = "".join(
        one(f"functions.{call.name}:{at}", json.dumps(call.arguments, ensure_ascii=False))
        for at, call in enumerate(calls)
    )
    return BEGIN + inner + END


FAMILY = Family("kimi_k2", write, source="chat template of Kimi-K2-Thinking", tags=ReasoningTags())


def said(raw: str, **options: object) -> tuple[str, str, list[tuple[str, str]]]:
    reply = read_reply("kimi_k2", raw, **options)  # type: ignore[arg-type]
    return reply.reasoning, reply.content, calls_of(reply)


F = [("f", '{"a": "x"}')]
CALL = one("functions.f:0", '{"a": "x"}')


@pytest.mark.parametrize(
    "raw",
    [
        BEGIN + CALL + END,
        f"{BEGIN}\n{CALL}\n{END}\n",
        f"<|tool_call_section_begin|>{CALL}<|tool_call_section_end|>",
        CALL,
        CALL.removesuffix("<|tool_call_end|>"),
        BEGIN + CALL,
        BEGIN + CALL.removesuffix("<|tool_call_end|>") + END,
        BEGIN + one(" functions.f:0\n", '\n{"a": "x"}\n') + END,
        BEGIN + one("f:0", '{"a": "x"}') + END,
        BEGIN + one("f", '{"a": "x"}') + END,
        BEGIN + one("functions.f", '{"a": "x"}') + END,
        BEGIN + one("functions.f:0", '"{\\"a\\": \\"x\\"}"') + END,
    ],
)
def test_ways_models_write_the_same_call(raw: str) -> None:
    assert said(raw) == ("", "", F)


def test_the_id_that_the_model_wrote_is_kept() -> None:
    raw = BEGIN + one("functions.f:12", "{}") + one("functions.a.b:13", "{}") + one("g", "{}") + END
    assert [(call.id, call.name) for call in read_reply("kimi_k2", raw).tool_calls] == [
        ("functions.f:12", "f"),
        ("functions.a.b:13", "a.b"),
        ("call_0", "g"),
    ]


def test_a_number_alone_is_the_only_tool_there_is() -> None:
    raw = BEGIN + one("0", '{"city": "Oslo"}') + END
    assert said(raw, tools=(CITY,))[2] == [("find_city", '{"city": "Oslo"}')]
    reasoning, content, calls = said(raw, tools=(CITY, CLOCK))
    assert (reasoning, calls) == ("", [])
    assert one("0", '{"city": "Oslo"}') in content


def test_a_call_within_a_thought_ends_it() -> None:
    reply = said(f"I need it.{BEGIN}{CALL}{END}</think>There.", tags=ReasoningTags(), inside=True)
    assert reply == ("I need it.", "There.", F)


def test_markers_inside_a_text_are_text() -> None:
    text = "<|tool_call_end|><|tool_calls_section_end|>"
    assert said(BEGIN + one("functions.f:0", json.dumps({"a": text})) + END) == (
        "",
        "",
        [("f", json.dumps({"a": text}))],
    )


def test_no_arguments_are_an_empty_object() -> None:
    assert said(BEGIN + one("functions.clock:0", "") + END) == ("", "", [("clock", "{}")])


def test_a_broken_call_hides_no_other() -> None:
    broken = one("functions.g:0", "x = 1")
    assert said(BEGIN + CALL + broken + END) == ("", broken, F)
    reasoning, content, calls = said(BEGIN + broken + CALL + END)
    assert (reasoning, calls) == ("", F)
    assert content == BEGIN + broken + END


@pytest.mark.parametrize(
    "raw",
    [
        f"The marker {BEGIN} begins a section.",
        f"Write {BEGIN} and {END} around calls.",
        BEGIN + END,
        f"Write {BEGIN}<|tool_call_begin|> and an id.",
        BEGIN + one("functions.f:0", "{a}") + END,
        BEGIN + "<|tool_call_begin|>",
        "<|tool_calls",
    ],
)
def test_text_about_calls_stays_text(raw: str) -> None:
    assert said(raw) == ("", raw, [])


def test_a_call_that_is_cut_off_stands_as_it_is() -> None:
    reply = read_reply("kimi_k2", (BEGIN + CALL)[: -len('"}<|tool_call_end|>')])
    assert calls_of(reply) == [("f", '{"a": "x')]
    assert reply.truncated


def test_the_grammar_admits_what_is_written_and_no_other_tool() -> None:
    grammar = optional_tool_calls(AllowedToolCalls("kimi_k2", (CITY,)))
    assert grammar is not None
    assert admits(grammar.text, write([Call("find_city", {"city": "Oslo", "days": 3})]))
    assert admits(
        grammar.text, write([Call("find_city", {"city": "Oslo"}), Call("find_city", {"city": "Rome"})])
    )
    assert not admits(grammar.text, write([Call("fly", {})]))
