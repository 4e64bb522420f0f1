"""The name as the key of the arguments."""

from __future__ import annotations

import json
from collections.abc import Sequence

from tests.support.tool_call_families import Call, Family, calls_of, read_reply

from duologue.text.output.reasoning_tags import template_tags
from duologue.values.messages import Tool


def written(call: Call) -> str:
    return json.dumps({call.name: call.arguments}, ensure_ascii=False)


def write(calls: Sequence[Call]) -> str:
    return "<|tools_prefix|>" + "[" + ", ".join(map(written, calls)) + "]" + "<|tools_suffix|>"


FAMILY = Family(
    "apertus",
    write,
    source="chat template of Apertus-8B-Instruct-2509",
)


def test_objects_with_name_and_arguments_are_read() -> None:
    raw = '<|tools_prefix|>[{"name": "f", "arguments": {"a": 1}}, {"name": "g", "arguments": {}}]<|tools_suffix|>'
    reply = read_reply("apertus", raw)
    assert calls_of(reply) == [("f", '{"a": 1}'), ("g", "{}")]
    assert reply.content == ""


def test_arguments_as_a_json_string_or_missing() -> None:
    raw = '<|tools_prefix|>[{"f": "{\\"a\\": 1}"}, {"g": null}]<|tools_suffix|>'
    reply = read_reply("apertus", raw)
    assert calls_of(reply) == [("f", '{"a": 1}'), ("g", "{}")]
    assert reply.content == ""


def test_a_number_is_no_arguments_of_a_call() -> None:
    raw = '<|tools_prefix|>[{"f": 7,,}]<|tools_suffix|>'
    reply = read_reply("apertus", raw)
    assert calls_of(reply) == [("f", "7")]
    assert reply.content == ""


def test_a_call_ends_the_thought_it_stands_in() -> None:
    raw = '<|inner_prefix|>Look.<|tools_prefix|>[{"f": {"a": 1}}]<|tools_suffix|>'
    reply = read_reply("apertus", raw, tags=template_tags(raw))
    assert (reply.reasoning, calls_of(reply)) == ("Look.", [("f", '{"a": 1}')])


def test_a_tool_may_be_called_like_a_key() -> None:
    reply = read_reply("apertus", '<|tools_prefix|>[{"name": {"a": 1}}]', tools=(Tool("name"),))
    assert calls_of(reply) == [("name", '{"a": 1}')]
