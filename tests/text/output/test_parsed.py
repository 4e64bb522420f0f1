"""What `duologue parse` prints."""

from __future__ import annotations

import json

import pytest

from duologue.errors import BadRequest
from duologue.text.output.parsed import parse, parse_reply, parse_to_json

RAW = '<think>hm</think>\n\nA\n<tool_call>\n{"name": "f", "arguments": {"n": 1.10}}\n</tool_call>'


@pytest.mark.parametrize("chunk", [0, 1, 4, 1000])
def test_a_reply_by_channels(chunk: int) -> None:
    assert parse(RAW, "hermes", chunk=chunk) == {
        "reasoning": "hm",
        "content": "A",
        "tool_calls": [{"name": "f", "arguments": {"n": 1.1}}],
    }


def test_arguments_that_are_no_json_are_given_as_text() -> None:
    cut = RAW[: RAW.index("1.10")]
    assert parse(cut)["tool_calls"] == [{"name": "f", "arguments": '{"n": '}]
    assert parse_reply(cut).truncated


def test_starting_inside_reasoning() -> None:
    assert parse("hm</think>Hi", start_in_reasoning=True)["reasoning"] == "hm"


def test_without_a_format_calls_are_content() -> None:
    assert parse(RAW, "")["tool_calls"] == []


def test_an_unknown_format_is_the_callers_mistake() -> None:
    with pytest.raises(BadRequest):
        parse("x", "klingon")


def test_as_json_the_digits_are_the_models_own() -> None:
    digits = "12345678901234567890.10" + "0" * 30
    text = parse_to_json(RAW.replace("1.10", digits) + '<tool_call>{"name": "g", "arguments": {"a": [}}')
    assert digits in text
    read = json.loads(text)
    assert read["reasoning"] == "hm"
    assert read["tool_calls"][1] == {"name": "g", "arguments": '{"a": [}}'}


def test_an_integer_longer_than_python_converts_is_given_as_text() -> None:
    long = "9" * 5000
    assert parse(RAW.replace("1.10", long))["tool_calls"] == [{"name": "f", "arguments": f'{{"n": {long}}}'}]
