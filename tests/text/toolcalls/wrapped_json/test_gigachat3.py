"""A call in a message of its own role."""

from __future__ import annotations

import json
from collections.abc import Sequence

from tests.support.tool_call_families import Call, Family, calls_of, read_reply


def written(call: Call) -> str:
    return json.dumps({"name": call.name, "arguments": call.arguments}, ensure_ascii=False)


def write(calls: Sequence[Call]) -> str:
    return "".join(
        f"<|message_sep|>\n\nfunction call<|role_sep|>\n{written(call)}<|message_sep|>\n\n" for call in calls
    )


FAMILY = Family(
    "gigachat3",
    write,
    source="chat template of GigaChat3-10B-A1.8B",
    several=False,
)


def test_the_token_instead_of_the_role() -> None:
    raw = '<|function_call|>{"name": "f", "arguments": {"a": 1}}'
    reply = read_reply("gigachat3", raw)
    assert calls_of(reply) == [("f", '{"a": 1}')]
    assert reply.content == ""


def test_after_an_answer() -> None:
    raw = 'I look.<|message_sep|>\n\nfunction call<|role_sep|>\n{"name": "f", "arguments": {"a": 1}}<|message_sep|>'
    reply = read_reply("gigachat3", raw)
    assert calls_of(reply) == [("f", '{"a": 1}')]
    assert reply.content == "I look."


def test_the_words_alone_are_prose() -> None:
    raw = "A function call is <b>."
    reply = read_reply("gigachat3", raw)
    assert calls_of(reply) == []
    assert reply.content == "A function call is <b>."
