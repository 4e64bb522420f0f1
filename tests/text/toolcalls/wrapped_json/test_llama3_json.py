"""A bare object of a tool that is offered, and what `<|python_tag|>` opens."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from tests.support.tool_call_families import Call, Family, calls_of, read_reply


def written(call: Call) -> str:
    return json.dumps({"name": call.name, "parameters": call.arguments}, ensure_ascii=False)


def write(calls: Sequence[Call]) -> str:
    return "; ".join(map(written, calls))


FAMILY = Family(
    "llama3_json",
    write,
    source="chat templates of Llama 3.1, 3.2 and 3.3: `name` and `parameters` without a marker",
    needs_tools=True,
)


def test_several_after_the_marker() -> None:
    raw = '<|python_tag|>{"name": "f", "parameters": {"a": 1}}; {"name": "g", "parameters": {}}'
    reply = read_reply("llama3_json", raw)
    assert calls_of(reply) == [("f", '{"a": 1}'), ("g", "{}")]
    assert reply.content == ""


def test_a_semicolon_in_a_text_ends_nothing() -> None:
    raw = '<|python_tag|>{"name": "f", "parameters": {"a": "x; {y"}}'
    reply = read_reply("llama3_json", raw)
    assert calls_of(reply) == [("f", '{"a": "x; {y"}')]
    assert reply.content == ""


def test_the_key_arguments_and_a_type() -> None:
    raw = '{"type": "function", "name": "clock", "arguments": {}}'
    reply = read_reply("llama3_json", raw)
    assert calls_of(reply) == [("clock", "{}")]
    assert reply.content == ""


def test_one_level_down() -> None:
    raw = '{"type": "function", "function": {"name": "clock", "parameters": {}}}'
    reply = read_reply("llama3_json", raw)
    assert calls_of(reply) == [("clock", "{}")]
    assert reply.content == ""


def test_a_second_call_of_an_unknown_tool_is_text() -> None:
    raw = '{"name": "clock", "parameters": {}}\n{"name": "Oslo", "parameters": {}}'
    reply = read_reply("llama3_json", raw)
    assert calls_of(reply) == [("clock", "{}")]
    assert reply.content == '{"name": "Oslo", "parameters": {}}'


def test_a_built_in_tool() -> None:
    raw = '<|python_tag|>brave_search.call(query="a (b) \\"c\\"")'
    reply = read_reply("llama3_json", raw)
    assert calls_of(reply) == [("brave_search", '{"query": "a (b) \\"c\\""}')]
    assert reply.content == ""


def test_a_built_in_tool_with_other_values_and_text_behind() -> None:
    raw = "<|python_tag|>f.call(n=3, exact=True, note=None)\nDone."
    reply = read_reply("llama3_json", raw)
    assert calls_of(reply) == [("f", '{"n": 3, "exact": true, "note": null}')]
    assert reply.content == "Done."


@pytest.mark.parametrize(
    "raw",
    [
        "<|python_tag|>print(1)",
        "<|python_tag|>import os\nos.name",
        "<|python_tag|>",
        "<|python_tag|>f.call(x y)",
        "<|python_tag|>f.call(" + "a" * 5000,
        "<|python_tag|>3",
    ],
)
def test_other_python_is_content(raw: str) -> None:
    reply = read_reply("llama3_json", raw, everywhere=False)
    assert (reply.content, reply.tool_calls) == (raw, ())


@pytest.mark.parametrize(
    "answer",
    [
        '{"name": "Oslo", "parameters": {}}',
        '{"city": "Oslo", "name": "clock"}',
        '{\n  "items": [\n    {"name": "clock", "parameters": {}}\n  ]\n}',
        '{"text": "the \\"clock\\"\n{"}',
        "{x}: a set",
        "{\n\nNo JSON.",
        "{",
        '{"na',
        '```json\n{"name": "clock", "parameters": {}}\n```',
    ],
)
def test_an_answer_is_content(answer: str) -> None:
    reply = read_reply("llama3_json", answer)
    assert (reply.content, reply.tool_calls, reply.truncated) == (answer, (), False)


def test_an_answer_of_json_is_streamed() -> None:
    assert len(read_reply("llama3_json", '{"text": "' + "word " * 500, everywhere=False).content) > 2000


def test_a_call_after_an_answer_of_json_that_never_ends() -> None:
    raw = '{"a": [1\n\n{"name": "clock", "parameters": {}}'
    reply = read_reply("llama3_json", raw)
    assert (reply.content, calls_of(reply)) == ('{"a": [1', [("clock", "{}")])
