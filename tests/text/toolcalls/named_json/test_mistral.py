"""Mistral's calls: a name and JSON, without an end marker."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from tests.support.gbnf import admits
from tests.support.tool_call_families import CITY, Call, Family, calls_of, read_reply

from duologue.text.output.reply_grammar import AllowedToolCalls, optional_tool_calls


def write(calls: Sequence[Call]) -> str:
    return "".join(
        f"[TOOL_CALLS]{call.name}[ARGS]{json.dumps(call.arguments, ensure_ascii=False)}" for call in calls
    )


FAMILY = Family("mistral", write, source="chat template of Devstral-Small-2-24B-Instruct-2512")


def said(raw: str, **options: object) -> tuple[str, str, list[tuple[str, str]]]:
    reply = read_reply("mistral", raw, **options)  # type: ignore[arg-type]
    return reply.reasoning, reply.content, calls_of(reply)


F = [("f", '{"a": "x"}')]


@pytest.mark.parametrize(
    "raw",
    [
        '[TOOL_CALLS]f[ARGS]{"a": "x"}',
        '[TOOL_CALLS] f [ARGS] {"a": "x"}\n',
        '[TOOL_CALLS]f{"a": "x"}',
        '[TOOL_CALLS]f[ARGS]"{\\"a\\": \\"x\\"}"',
        '[TOOL_CALLS]f[CALL_ID][ARGS]{"a": "x"}',
        '[TOOL_CALLS] [{"name": "f", "arguments": {"a": "x"}}]',
        '[TOOL_CALLS]{"name": "f", "arguments": {"a": "x"}}',
    ],
)
def test_ways_models_write_the_same_call(raw: str) -> None:
    assert said(raw) == ("", "", F)


def test_an_id_between_name_and_arguments_is_kept() -> None:
    reply = read_reply("mistral", '[TOOL_CALLS]f[CALL_ID]abc123xyz[ARGS]{"a": "x"}[TOOL_CALLS]g[ARGS]{}')
    assert [(call.id, call.name) for call in reply.tool_calls] == [("abc123xyz", "f"), ("call_0", "g")]


def test_a_marker_inside_a_text_is_text() -> None:
    assert said('[TOOL_CALLS]f[ARGS]{"a": "[TOOL_CALLS]g[ARGS]{}"}') == (
        "",
        "",
        [("f", '{"a": "[TOOL_CALLS]g[ARGS]{}"}')],
    )


def test_no_arguments_are_an_empty_object() -> None:
    assert said('[TOOL_CALLS]clock[ARGS][TOOL_CALLS]f[ARGS]{"a": "x"}')[2] == [("clock", "{}"), *F]
    assert said("[TOOL_CALLS]clock[ARGS]null")[2] == [("clock", "{}")]


def test_text_around_calls_is_kept_in_order() -> None:
    raw = 'One.\n\n[TOOL_CALLS]f[ARGS]{"a": "x"} Two. [TOOL_CALLS]f[ARGS]{"a": "x"} Three.'
    _, content, calls = said(raw)
    assert content.split() == ["One.", "Two.", "Three."]
    assert calls == [*F, *F]


@pytest.mark.parametrize(
    "raw",
    [
        "The marker [TOOL_CALLS] opens a call.",
        "Write [TOOL_CALLS]name[ARGS] and then JSON.",
        "[TOOL_CALLS]f[ARGS]{a: 1}",
        "[TOOL_CALLS]f[ARGS](1, 2)",
        "[TOOL_CALLS][ARGS]{}",
        "[TOOL_CALLS]",
        "[TOOL_CALLS]" + "x" * 1000,
        "[TOOL_CALLS",
        "`[TOOL_CALLS]f[ARGS]{}`",
    ],
)
def test_text_about_calls_stays_text(raw: str) -> None:
    assert said(raw) == ("", raw, [])


def test_a_broken_second_call_keeps_the_first() -> None:
    _, content, calls = said('[TOOL_CALLS]f[ARGS]{"a": "x"}[TOOL_CALLS]g[ARGS]<n>')
    assert (content, calls) == ("[TOOL_CALLS]g[ARGS]<n>", F)
    reply = read_reply("mistral", '[TOOL_CALLS]f[ARGS]{"a": "x"}[TOOL_CALLS]g[ARGS]{"a": tru}')
    assert calls_of(reply) == [*F, ("g", '{"a": tru}')]


def test_without_tools_it_is_content() -> None:
    raw = '[TOOL_CALLS]f[ARGS]{"a": "x"}'
    assert read_reply("", raw).content == raw


def test_a_call_that_is_cut_off_stands_as_it_is() -> None:
    reply = read_reply("mistral", '[TOOL_CALLS]f[ARGS]{"a": "x')
    assert calls_of(reply) == [("f", '{"a": "x')]
    assert reply.truncated
    assert read_reply("mistral", '[TOOL_CALLS]f[ARGS]"{').truncated


def test_the_grammar_admits_what_is_written_and_no_other_tool() -> None:
    grammar = optional_tool_calls(AllowedToolCalls("mistral", (CITY,)))
    assert grammar is not None
    assert admits(grammar.text, write([Call("find_city", {"city": "Oslo", "days": 3})]))
    assert admits(
        grammar.text, write([Call("find_city", {"city": "Oslo"}), Call("find_city", {"city": "Rome"})])
    )
    assert not admits(grammar.text, write([Call("fly", {})]))
