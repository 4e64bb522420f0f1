"""An array between `<tool_calls>` and `</tool_calls>`."""

from __future__ import annotations

import json
from collections.abc import Sequence

from tests.support.tool_call_families import Call, Family, calls_of, read_reply

from duologue.text.output.reasoning_tags import template_tags


def written(call: Call) -> str:
    return json.dumps({"name": call.name, "arguments": call.arguments}, ensure_ascii=False)


def write(calls: Sequence[Call]) -> str:
    return "<tool_calls>" + "[" + ", ".join(map(written, calls)) + "]" + "</tool_calls>"


FAMILY = Family(
    "hunyuan_a13b",
    write,
    source="chat template of Hunyuan-A13B-Instruct: an array in `<tool_calls>`",
)


def test_deeply_nested_arguments_are_whole() -> None:
    raw = '<tool_calls>[{"name": "f", "arguments": {"a": {"b": {"c": {"d": [1]}}}}}]</tool_calls>'
    reply = read_reply("hunyuan_a13b", raw)
    assert calls_of(reply) == [("f", '{"a": {"b": {"c": {"d": [1]}}}}')]
    assert reply.content == ""


def test_a_call_on_each_line_as_minimax_writes_it() -> None:
    raw = '<tool_calls>\n{"name": "f", "arguments": {"a": 1}}\n{"name": "g", "arguments": {}}\n</tool_calls>'
    reply = read_reply("hunyuan_a13b", raw)
    assert calls_of(reply) == [("f", '{"a": 1}'), ("g", "{}")]
    assert reply.content == ""


def test_the_markers_of_the_answer_are_dropped() -> None:
    tags = template_tags("<think>\n\n</think>\n<answer>\n")
    raw = "<think>\nSo.\n</think>\n<answer>\nYes.\n</answer>"
    reply = read_reply("hunyuan_a13b", raw, tags=tags)
    assert (reply.reasoning.strip(), reply.content.strip()) == ("So.", "Yes.")


def test_a_call_between_the_markers_of_the_answer() -> None:
    raw = '<think>So.</think><answer><tool_calls>[{"name": "f", "arguments": {"a": 1}}]</tool_calls></answer>'
    reply = read_reply("hunyuan_a13b", raw, tags=template_tags("<think></think><answer>"))
    assert calls_of(reply) == [("f", '{"a": 1}')]
    assert reply.content == ""
