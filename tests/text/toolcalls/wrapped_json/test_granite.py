"""An array after `<|tool_call|>`, which nothing closes."""

from __future__ import annotations

import json
from collections.abc import Sequence

from tests.support.tool_call_families import Call, Family, calls_of, read_reply


def written(call: Call) -> str:
    return json.dumps({"name": call.name, "arguments": call.arguments}, ensure_ascii=False)


def write(calls: Sequence[Call]) -> str:
    return "<|tool_call|>" + "[" + ", ".join(map(written, calls)) + "]"


FAMILY = Family(
    "granite",
    write,
    source="chat template of Granite 3.3: `<|tool_call|>` followed by a JSON list of tools used",
)


def test_later_versions_write_another_marker_and_close_neither() -> None:
    raw = '<tool_call>[{"name": "f", "arguments": {"a": 1}}, {"name": "g", "arguments": {}}]'
    reply = read_reply("granite", raw)
    assert calls_of(reply) == [("f", '{"a": 1}'), ("g", "{}")]
    assert reply.content == ""


def test_text_after_the_array_is_content() -> None:
    raw = '<|tool_call|>[{"name": "f", "arguments": {"a": 1}}]\nDone.'
    reply = read_reply("granite", raw)
    assert calls_of(reply) == [("f", '{"a": 1}')]
    assert reply.content == "Done."


def test_calls_as_granite_4_writes_them_are_read() -> None:
    raw = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>\n<tool_call>\n{"name": "g", "arguments": {}}\n</tool_call>'
    reply = read_reply("granite", raw)
    assert calls_of(reply) == [("f", '{"a": 1}'), ("g", "{}")]
    assert reply.content == ""


def test_arguments_may_be_a_json_string() -> None:
    raw = '<tool_call>{"name": "f", "arguments": "{\\"a\\": 1}"}</tool_call>'
    reply = read_reply("granite", raw)
    assert calls_of(reply) == [("f", '{"a": 1}')]
    assert reply.content == ""
