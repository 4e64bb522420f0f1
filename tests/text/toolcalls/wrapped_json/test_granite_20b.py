"""A call after each `<function_call>`, which nothing closes."""

from __future__ import annotations

import json
from collections.abc import Sequence

from tests.support.tool_call_families import Call, Family, calls_of, read_reply


def written(call: Call) -> str:
    return json.dumps({"name": call.name, "arguments": call.arguments}, ensure_ascii=False)


def write(calls: Sequence[Call]) -> str:
    return "".join(f"<function_call> {written(call)}\n" for call in calls)


FAMILY = Family(
    "granite_20b",
    write,
    source="chat template for Granite 20B FC: `<function_call> ` and the call for each",
)


def test_calls_without_line_ends() -> None:
    raw = '<function_call> {"name": "f", "arguments": {"a": 1}}<function_call> {"name": "g", "arguments": {}}'
    reply = read_reply("granite_20b", raw)
    assert calls_of(reply) == [("f", '{"a": 1}'), ("g", "{}")]
    assert reply.content == ""


def test_several_objects_after_one_marker() -> None:
    raw = '<function_call> {"name": "f", "arguments": {"a": 1}}\n{"name": "g", "arguments": {}}'
    reply = read_reply("granite_20b", raw)
    assert calls_of(reply) == [("f", '{"a": 1}'), ("g", "{}")]
    assert reply.content == ""


def test_no_function_is_passed_on() -> None:
    raw = '<function_call> {"name": "no_function", "arguments": {}}'
    reply = read_reply("granite_20b", raw)
    assert calls_of(reply) == [("no_function", "{}")]
    assert reply.content == ""
