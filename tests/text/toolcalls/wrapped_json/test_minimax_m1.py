"""One region with a call on each line."""

from __future__ import annotations

import json
from collections.abc import Sequence

from tests.support.tool_call_families import Call, Family, calls_of, read_reply

from duologue.text.output.reasoning_tags import ReasoningTags


def written(call: Call) -> str:
    return json.dumps({"name": call.name, "arguments": call.arguments}, ensure_ascii=False)


def write(calls: Sequence[Call]) -> str:
    return "<tool_calls>\n" + "".join(f"{written(call)}\n" for call in calls) + "</tool_calls>"


FAMILY = Family(
    "minimax_m1",
    write,
    source="chat template of MiniMax-M1",
)


def test_a_broken_line_goes_back_and_its_neighbours_are_calls() -> None:
    raw = '<tool_calls>\n{"name": "f", "arguments": {"a": 1}}\n{"name": "x", oh}\n{"name": "g", "arguments": {}}\n</tool_calls>'
    reply = read_reply("minimax_m1", raw)
    assert calls_of(reply) == [("f", '{"a": 1}'), ("g", "{}")]
    assert reply.content == '{"name": "x", oh}'


def test_a_broken_first_line() -> None:
    raw = '<tool_calls>\n{"name": oh}\n{"name": "f", "arguments": {"a": 1}}\n</tool_calls>'
    reply = read_reply("minimax_m1", raw)
    assert calls_of(reply) == [("f", '{"a": 1}')]
    assert reply.content == '<tool_calls>\n{"name": oh}\n</tool_calls>'


def test_an_array_as_hunyuan_writes_it() -> None:
    raw = '<tool_calls>[{"name": "f", "arguments": {"a": 1}}, {"name": "g", "arguments": {}}]</tool_calls>'
    reply = read_reply("minimax_m1", raw)
    assert calls_of(reply) == [("f", '{"a": 1}'), ("g", "{}")]
    assert reply.content == ""


def test_objects_over_several_lines() -> None:
    raw = '<tool_calls>\n{\n  "name": "f",\n  "arguments": {"a": 1}\n}\n</tool_calls>'
    reply = read_reply("minimax_m1", raw)
    assert calls_of(reply) == [("f", '{"a": 1}')]
    assert reply.content == ""


def test_a_missing_end_marker() -> None:
    raw = '<tool_calls>\n{"name": "f", "arguments": {"a": 1}}\n{"name": "g", "arguments": {}}'
    reply = read_reply("minimax_m1", raw)
    assert calls_of(reply) == [("f", '{"a": 1}'), ("g", "{}")]
    assert reply.content == ""


def test_calls_within_a_thought_do_not_count() -> None:
    raw = '<think>Perhaps <tool_calls>\n{"name": "f", "arguments": {}}\n</tool_calls>?</think>No.'
    reply = read_reply("minimax_m1", raw, tags=ReasoningTags())
    assert (calls_of(reply), reply.content) == ([], "No.")
    assert "<tool_calls>" in reply.reasoning
