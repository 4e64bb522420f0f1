"""An array after the word `functools`."""

from __future__ import annotations

import json
from collections.abc import Sequence

from tests.support.tool_call_families import Call, Family, calls_of, read_reply


def written(call: Call) -> str:
    return json.dumps({"name": call.name, "arguments": call.arguments}, ensure_ascii=False)


def write(calls: Sequence[Call]) -> str:
    return "functools" + "[" + ", ".join(map(written, calls)) + "]"


FAMILY = Family(
    "phi4_mini",
    write,
    source="chat template for Phi-4-mini: `functools[...]`, without a closing marker",
)


def test_firefunction_writes_a_blank_first() -> None:
    raw = ' functools[{"name": "f", "arguments": {"a": 1}}, {"name": "g", "arguments": {}}]'
    reply = read_reply("phi4_mini", raw)
    assert calls_of(reply) == [("f", '{"a": 1}'), ("g", "{}")]
    assert reply.content == ""


def test_an_array_within_arguments_does_not_end_the_calls() -> None:
    raw = 'functools[{"name": "f", "arguments": {"a": [1, [2]], "b": "]"}}]'
    reply = read_reply("phi4_mini", raw)
    assert calls_of(reply) == [("f", '{"a": [1, [2]], "b": "]"}')]
    assert reply.content == ""


def test_a_false_that_begins_like_the_marker_is_a_value() -> None:
    raw = 'functools[{"name": "f", "arguments": {"a": false, "b": [false]}}]'
    reply = read_reply("phi4_mini", raw)
    assert calls_of(reply) == [("f", '{"a": false, "b": [false]}')]
    assert reply.content == ""


def test_the_module_of_python_is_prose() -> None:
    raw = "Use functools.partial, or functools[0] if you must."
    reply = read_reply("phi4_mini", raw)
    assert calls_of(reply) == []
    assert reply.content == "Use functools.partial, or functools[0] if you must."


def test_tokens_of_its_own() -> None:
    raw = '<|tool_call|>[{"name": "f", "arguments": {"a": 1}}]<|/tool_call|>'
    reply = read_reply("phi4_mini", raw)
    assert calls_of(reply) == [("f", '{"a": 1}')]
    assert reply.content == ""


def test_a_call_one_level_down() -> None:
    raw = '<|tool_call|>[{"type": "function", "function": {"name": "f", "arguments": {"a": 1}}}, {"name": "g"}]<|/tool_call|>'
    reply = read_reply("phi4_mini", raw)
    assert calls_of(reply) == [("f", '{"a": 1}'), ("g", "{}")]
    assert reply.content == ""
