"""An array between `<TOOLCALL>` and `</TOOLCALL>`."""

from __future__ import annotations

import json
from collections.abc import Sequence

from tests.support.tool_call_families import Call, Family, calls_of, read_reply


def written(call: Call) -> str:
    return json.dumps({"name": call.name, "arguments": call.arguments}, ensure_ascii=False)


def write(calls: Sequence[Call]) -> str:
    return "<TOOLCALL>" + "[" + ", ".join(map(written, calls)) + "]" + "</TOOLCALL>"


FAMILY = Family(
    "nemotron_nano",
    write,
    source="chat template of Nemotron Nano 9B v2",
)


def test_arguments_as_a_json_string_as_its_prompt_shows_them() -> None:
    raw = (
        '<TOOLCALL>[{"name": "f", "arguments": "{\\"a\\": 1}"}, {"name": "g", "arguments": "{}"}]</TOOLCALL>'
    )
    reply = read_reply("nemotron_nano", raw)
    assert calls_of(reply) == [("f", '{"a": 1}'), ("g", "{}")]
    assert reply.content == ""


def test_two_regions() -> None:
    raw = '<TOOLCALL>[{"name": "f", "arguments": {"a": 1}}]</TOOLCALL>\n<TOOLCALL>[{"name": "g", "arguments": {}}]</TOOLCALL>'
    reply = read_reply("nemotron_nano", raw)
    assert calls_of(reply) == [("f", '{"a": 1}'), ("g", "{}")]
    assert reply.content == ""
