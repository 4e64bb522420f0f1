"""A region for each call: `<|action_start|><|plugin|>` to `<|action_end|>`."""

from __future__ import annotations

import json
from collections.abc import Sequence

from tests.support.tool_call_families import Call, Family, calls_of, read_reply


def written(call: Call) -> str:
    return json.dumps({"name": call.name, "parameters": call.arguments}, ensure_ascii=False)


def write(calls: Sequence[Call]) -> str:
    return "".join(f"<|action_start|><|plugin|>\n{written(call)}<|action_end|>\n" for call in calls)


FAMILY = Family(
    "internlm",
    write,
    source="chat template of InternLM2.5 with tools",
)


def test_a_blank_between_the_markers() -> None:
    raw = '<|action_start|> <|plugin|>\n{"name": "f", "arguments": {"a": 1}}<|action_end|>'
    reply = read_reply("internlm", raw)
    assert calls_of(reply) == [("f", '{"a": 1}')]
    assert reply.content == ""


def test_the_key_is_parameters_or_arguments() -> None:
    raw = '<|action_start|><|plugin|>{"name": "f", "parameters": {"a": 1}}<|action_end|>'
    reply = read_reply("internlm", raw)
    assert calls_of(reply) == [("f", '{"a": 1}')]
    assert reply.content == ""


def test_code_for_its_interpreter_is_content() -> None:
    raw = "<|action_start|><|interpreter|>\nprint(1)"
    reply = read_reply("internlm", raw)
    assert calls_of(reply) == []
    assert reply.content == "<|action_start|><|interpreter|>\nprint(1)"
