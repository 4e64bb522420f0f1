"""A region for each call with markers of its own."""

from __future__ import annotations

import json
from collections.abc import Sequence

from tests.support.tool_call_families import Call, Family, calls_of, read_reply


def written(call: Call) -> str:
    return json.dumps({"name": call.name, "arguments": call.arguments}, ensure_ascii=False)


def write(calls: Sequence[Call]) -> str:
    return "".join(f"<longcat_tool_call>\n{written(call)}\n</longcat_tool_call>\n" for call in calls)


FAMILY = Family(
    "longcat",
    write,
    source="model card of LongCat-Flash-Chat",
)


def test_without_line_ends() -> None:
    raw = '<longcat_tool_call>{"name": "f", "arguments": {"a": 1}}</longcat_tool_call><longcat_tool_call>{"name": "g", "arguments": {}}</longcat_tool_call>'
    reply = read_reply("longcat", raw)
    assert calls_of(reply) == [("f", '{"a": 1}'), ("g", "{}")]
    assert reply.content == ""
