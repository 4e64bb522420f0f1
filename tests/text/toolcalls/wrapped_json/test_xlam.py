"""A bare array of calls, and where the models put it besides."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from tests.support.tool_call_families import Call, Family, calls_of, read_reply

from duologue.text.output.reasoning_tags import ReasoningTags


def written(call: Call) -> str:
    return json.dumps({"name": call.name, "arguments": call.arguments}, ensure_ascii=False)


def write(calls: Sequence[Call]) -> str:
    return "[" + ", ".join(map(written, calls)) + "]"


FAMILY = Family(
    "xlam",
    write,
    source="chat templates of xLAM-2: a single JSON array",
    needs_tools=True,
)


def test_in_a_fence() -> None:
    raw = 'Here:\n```json\n[{"name": "clock", "arguments": {}}]\n```\nDone.'
    reply = read_reply("xlam", raw)
    assert calls_of(reply) == [("clock", "{}")]
    assert reply.content == "Here:\n\nDone."


def test_after_the_marker_of_mistral() -> None:
    raw = '[TOOL_CALLS] [{"name": "clock", "arguments": {}}]'
    reply = read_reply("xlam", raw)
    assert calls_of(reply) == [("clock", "{}")]
    assert reply.content == ""


def test_in_the_wrapper_of_hermes() -> None:
    raw = '<tool_call>[{"name": "clock", "arguments": {}}]</tool_call>'
    reply = read_reply("xlam", raw)
    assert calls_of(reply) == [("clock", "{}")]
    assert reply.content == ""


def test_one_object() -> None:
    raw = '{"name": "clock", "arguments": {}}'
    reply = read_reply("xlam", raw)
    assert calls_of(reply) == [("clock", "{}")]
    assert reply.content == ""


def test_after_an_array_that_is_an_answer() -> None:
    raw = '[1, 2]\n[{"name": "clock", "arguments": {}}]'
    reply = read_reply("xlam", raw)
    assert calls_of(reply) == [("clock", "{}")]
    assert reply.content == "[1, 2]"


def test_after_a_thought() -> None:
    reply = read_reply("xlam", '<think>So.</think>[{"name": "clock", "arguments": {}}]', tags=ReasoningTags())
    assert (reply.reasoning, calls_of(reply)) == ("So.", [("clock", "{}")])


@pytest.mark.parametrize(
    "answer",
    [
        '[{"name": "Oslo", "arguments": {}}]',
        '[{"city": "Oslo"}, {"name": "clock", "arguments": {}}]',
        '["a",\n{"name": "clock", "arguments": {}}]',
        '[\n  {"answer": 1},\n  {"name": "clock", "arguments": {}}\n]',
        '```json\n[{"answer": 1}]\n```\n\nSo.',
        '```json\n{\n  "x": {"name": "clock"}\n}\n```',
        "[1] A note.\n[x](y) A link.",
        "[]",
        "[",
        "{",
    ],
)
def test_an_answer_is_content(answer: str) -> None:
    reply = read_reply("xlam", answer)
    assert (reply.content, reply.tool_calls, reply.truncated) == (answer, (), False)
