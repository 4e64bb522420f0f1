"""An array between `<tool_calls>` and `</tool_calls>`, a call a line."""

from __future__ import annotations

import json
from collections.abc import Sequence

from tests.support.tool_call_families import Call, Family, calls_of, read_reply


def written(call: Call) -> str:
    return json.dumps({"name": call.name, "arguments": call.arguments}, ensure_ascii=False)


def write(calls: Sequence[Call]) -> str:
    return "<tool_calls>[\n    " + ",\n    ".join(map(written, calls)) + "\n]</tool_calls>"


FAMILY = Family(
    "jamba",
    write,
    source="tokens and tool calls of Jamba 1.5 and 1.6 as their documentation shows them",
)


def test_all_on_one_line() -> None:
    raw = '<tool_calls>[{"name": "f", "arguments": {"a": 1}}, {"name": "g", "arguments": {}}]</tool_calls>'
    reply = read_reply("jamba", raw)
    assert calls_of(reply) == [("f", '{"a": 1}'), ("g", "{}")]
    assert reply.content == ""


def test_a_missing_end_marker() -> None:
    raw = '<tool_calls>[\n    {"name": "f", "arguments": {"a": 1}}\n]'
    reply = read_reply("jamba", raw)
    assert calls_of(reply) == [("f", '{"a": 1}')]
    assert reply.content == ""
