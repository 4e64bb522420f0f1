"""`[TOOL_CALLS]` and an array; ids of nine characters."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from tests.support.gbnf import admits
from tests.support.tool_call_families import TOOLS, Call, Family, calls_of, read_reply

from duologue.text.output.reply_grammar import AllowedToolCalls, optional_tool_calls
from duologue.text.toolcalls.json_calls import ID_WAIT


def written(call: Call) -> str:
    return json.dumps({"name": call.name, "arguments": call.arguments}, ensure_ascii=False)


def write(calls: Sequence[Call]) -> str:
    return "[TOOL_CALLS] " + "[" + ", ".join(map(written, calls)) + "]"


FAMILY = Family(
    "mistral_array",
    write,
    source='chat templates of Mistral-7B-Instruct-v0.3 and Mistral-Nemo: `[TOOL_CALLS] [{..., "id": "..."}]`',
)


LONG = "x" * (ID_WAIT + 1)


@pytest.mark.parametrize(
    "raw",
    [
        '[TOOL_CALLS][{"name": "f", "arguments": {"a": 1}, "id": "abc123xyz"}]',
        '[TOOL_CALLS] [{"id": "abc123xyz", "name": "f", "arguments": {"a": 1}}]',
        '[TOOL_CALLS] [{"arguments": {"a": 1}, "name": "f", "id": "abc123xyz"}]',
        '[TOOL_CALLS] {"name": "f", "arguments": "{\\"a\\": 1}", "id": "abc123xyz"}',
    ],
)
def test_an_id_of_nine_characters_is_kept(raw: str) -> None:
    reply = read_reply("mistral_array", raw)
    assert [(call.id, call.name, call.arguments) for call in reply.tool_calls] == [
        ("abc123xyz", "f", '{"a": 1}')
    ]


@pytest.mark.parametrize("id", ["", "short", "abc123xy-", "abc123xyz0"])
def test_another_id_is_not(id: str) -> None:
    raw = f'[TOOL_CALLS][{{"name": "f", "arguments": {{"a": 1}}, "id": "{id}"}}]'
    assert [call.id for call in read_reply("mistral_array", raw).tool_calls] == ["call_0"]


def test_a_long_call_does_not_wait_for_its_id() -> None:
    raw = f'[TOOL_CALLS][{{"name": "f", "arguments": {{"a": "{LONG}"}}, "id": "abc123xyz"}}]'
    [call] = read_reply("mistral_array", raw, everywhere=False).tool_calls
    assert (call.id, json.loads(call.arguments)) == ("call_0", {"a": LONG})
    [begun] = read_reply("mistral_array", raw[: raw.index('"}, "id')], everywhere=False).tool_calls
    assert len(begun.arguments) > ID_WAIT


def test_a_call_that_was_cut_while_it_waited_stands_as_far_as_it_came() -> None:
    reply = read_reply("mistral_array", '[TOOL_CALLS][{"name": "f", "arguments": {"a": "x')
    assert (calls_of(reply), reply.truncated) == ([("f", '{"a": "x')], True)


def test_a_doubled_marker_costs_no_call() -> None:
    reply = read_reply("mistral_array", '[TOOL_CALLS][TOOL_CALLS] [{"name": "f", "arguments": {"a": 1}}]')
    assert (reply.content, calls_of(reply)) == ("[TOOL_CALLS]", [("f", '{"a": 1}')])


def test_words_in_brackets_are_prose() -> None:
    text = "[TOOL chest] and [TOOL_CALLS] are words."
    assert read_reply("mistral_array", text).content == text


def test_the_grammar_admits_the_id() -> None:
    grammar = optional_tool_calls(AllowedToolCalls("mistral_array", TOOLS)).text
    assert admits(grammar, '[TOOL_CALLS] [{"name": "clock", "arguments": {}, "id": "abc123xyz"}]')
    assert not admits(grammar, '[TOOL_CALLS] [{"name": "clock", "arguments": {}, "id": "abc"}]')
