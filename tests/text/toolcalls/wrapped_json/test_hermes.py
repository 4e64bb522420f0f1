"""The `<tool_call>` wrapper: what is a call in it, and what is given back."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from tests.support.tool_call_families import Call, Family

from duologue.text.output.parsed import ParsedReply, parse_reply
from duologue.values.messages import Tool


def write(calls: Sequence[Call]) -> str:
    return "\n".join(
        "<tool_call>\n"
        + json.dumps({"name": call.name, "arguments": call.arguments}, ensure_ascii=False)
        + "\n</tool_call>"
        for call in calls
    )


FAMILY = Family("hermes", write, source="chat template of Qwen2.5-7B-Instruct: one wrapper for each call")


def read(raw: str, tools: tuple[Tool, ...] = ()) -> ParsedReply:
    whole = parse_reply(raw, tools=tools)
    for chunk in (1, 2, 3, 5, 11):
        assert parse_reply(raw, chunk=chunk, tools=tools) == whole
    return whole


def calls(raw: str, tools: tuple[Tool, ...] = ()) -> list[tuple[str, str]]:
    reply = read(raw, tools)
    assert reply.content == ""
    return [(call.name, call.arguments) for call in reply.tool_calls]


def wrapped(inner: str) -> str:
    return f"<tool_call>\n{inner}\n</tool_call>"


def call(arguments: str) -> str:
    return wrapped(f'{{"name": "f", "arguments": {arguments}}}')


@pytest.mark.parametrize(
    "arguments",
    [
        "{}",
        '{"a": "x"}',
        '{"a": {"b": [1, {"c": null}], "d": {}}, "e": [[], [{}]]}',
        '{"a": "}{][,:;\\"\\\\"}',
        '{"a": "</tool_call>"}',
        '{"a": "<tool_call>{}</tool_call>"}',
        '{"a": "<b>&amp;</b> x < y"}',
        '{"n": 1.10, "m": 12345678901234567890.123456789012345678901, "e": 1E-400, "z": -0.0}',
        '{"b": 1, "a": 2, "b": 3}',
        '{"a": "é漢😀 \\u00e9\\ud83d\\ude00\\/"}',
        '{ "a" :\n\t1 }',
        '{"a": "C:\\\\"}',
        '[1, "two"]',
        "5",
        "true",
    ],
)
def test_arguments_are_copied_character_by_character(arguments: str) -> None:
    assert calls(call(arguments)) == [("f", arguments)]


@pytest.mark.parametrize(
    "raw",
    [
        '<tool_call>{"name":"f","arguments":{"a":1}}</tool_call>',
        '<tool_call>\n\n  {\n  "name" : "f",\n  "arguments" : {"a":1}\n}\n\n</tool_call>',
        '<tool_call>{"arguments":{"a":1},"name":"f"}</tool_call>',
        '<tool_call>{"id": 7, "name":"f", "x": [1,"</tool_call>"], "arguments":{"a":1}, "y": "z"}</tool_call>',
        '<tool_call>{"name":"f","parameters":{"a":1}}</tool_call>',
        '<tool_call>{{"name":"f","arguments":{{"a":1}}}}</tool_call>',
        '<tool_call>{{"name":"f","arguments":{"a":1}}}</tool_call>',
        '<tool_call>{{"arguments":{{"a":1}},"name":"f"}}</tool_call>',
        '<tool_call>{"name":"f","arguments":{"a":1}}',
        '<tool_call>{"name":"f","arguments":{"a":1}}\n</tool_',
        '<tool_call>{"name":"f","arguments":{"a":1}\n</tool_call>',
        '<tool_call>{"name":"f","arguments":{"a":1}',
        '<tool_call>{"name":"f","arguments":{"a":1},}</tool_call>',
        '<tool_call>[{"name":"f","arguments":{"a":1}}]</tool_call>',
        '<tool_call>{"na\\u006de":"\\u0066","arguments":{"a":1}}</tool_call>',
        '<tool_call>{"name":"f","arguments":"{\\"a\\":1}"}</tool_call>',
        '<tool_call>{"arguments":"{\\"a\\":1}","name":"f"}</tool_call>',
        '<tool_call>{"name":"f","arguments":{"a":1},"name":"g","arguments":{}}</tool_call>',
    ],
)
def test_ways_models_write_the_same_call(raw: str) -> None:
    assert calls(raw) == [("f", '{"a":1}')]
    assert not read(raw).truncated


@pytest.mark.parametrize(
    "inner",
    [
        '{"name": "f"}',
        '{"name": "f", "arguments": {}}',
        '{"name": "f", "arguments": null}',
        '{"name": "f", "arguments": ""}',
        '{"name": "f", "arguments": " "}',
        '{"name": "f", "arguments": "{}"}',
    ],
)
def test_missing_and_empty_arguments_are_an_empty_object(inner: str) -> None:
    assert calls(wrapped(inner)) == [("f", "{}")]


def test_a_string_is_unwrapped_only_once() -> None:
    assert calls(call('"\\"{}\\""')) == [("f", '"\\"{}\\""')]


def test_a_string_that_holds_no_object_stays_a_string() -> None:
    assert calls(call('"hello"')) == [("f", '"hello"')]


def test_a_string_stays_where_the_tool_wants_one() -> None:
    assert calls(call('"{}"'), (Tool("f", parameters={"type": "string"}),)) == [("f", '"{}"')]


def test_an_unknown_tool_is_called_all_the_same() -> None:
    assert calls(call("{}"), (Tool("other"),)) == [("f", "{}")]


def test_control_characters_in_strings_are_escaped_as_json_demands() -> None:
    assert calls(call('{"code": "a\nb\tc\x01"}')) == [("f", '{"code": "a\\nb\\tc\\u0001"}')]


def test_several_objects_in_one_wrapper_are_several_calls() -> None:
    two = '{"name": "f", "arguments": {}}\n{"name": "g", "arguments": {"n": 1}}'
    assert calls(wrapped(two)) == [("f", "{}"), ("g", '{"n": 1}')]
    assert calls(wrapped("[\n" + two.replace("}\n{", "},\n{") + "\n]")) == [("f", "{}"), ("g", '{"n": 1}')]


def test_a_call_that_is_whole_ends_where_the_next_one_opens() -> None:
    first = '<tool_call>\n{"name": "f", "arguments": {}}\n'
    assert calls(first + first.replace('"f"', '"g"')) == [("f", "{}"), ("g", "{}")]


def test_text_behind_a_call_without_end_marker_is_content() -> None:
    reply = read('<tool_call>{"name": "f"}\n\nAnd now?')
    assert (reply.content, len(reply.tool_calls)) == ("And now?", 1)


@pytest.mark.parametrize(
    "raw",
    [
        "<tool_call>\nnot json\n</tool_call>",
        "<tool_call></tool_call>",
        "<tool_call>\n</tool_call>",
        "<tool_call>[]</tool_call>",
        '<tool_call>{"name": 5, "arguments": {}}</tool_call>',
        '<tool_call>{"name": "", "arguments": {}}</tool_call>',
        '<tool_call>{"name": "\\ud800", "arguments": {}}</tool_call>',
        '<tool_call>{"arguments": {"a": 1}}</tool_call>',
        "<tool_call>{}</tool_call>",
        '<tool_call>{"name" "f"}</tool_call>',
        '<tool_call>{name: "f", arguments: {}}</tool_call>',
        "<tool_call>{'name': 'f', 'arguments': {'a': 1}}</tool_call>",
        '<tool_call>{"name": "f", "arguments": {a: 1}}</tool_call>',
        '<tool_call>{"name": "f", "arguments": {\'a\': 1}}</tool_call>',
        '<tool_call>{"name": "f", "arguments": }</tool_call>',
        '<tool_call>{"name": "f", <think>"arguments": {}}</tool_call> behind',
        "<tool_call>\n<function=f>\n<parameter=a>\nx\n</parameter>\n</function>\n</tool_call>",
        '<tool_call>{"name": "f"\n</tool_call>',
        "<tool_call>",
        "<tool_call>\n",
        "<tool_call>\n{",
        '<tool_call>{"name": "f", "argum',
        '<tool_call>{"arguments": {"a": "long',
    ],
)
def test_what_is_no_call_is_given_back_whole(raw: str) -> None:
    reply = read("See: " + raw)
    assert (reply.content, reply.reasoning, reply.tool_calls) == ("See: " + raw, "", ())


def test_a_broken_call_ends_at_the_next_opening_marker() -> None:
    reply = read('<tool_call>{"name: oh\n' + call("{}"))
    assert [made.name for made in reply.tool_calls] == []
    reply = read("<tool_call>{name: oh\n" + call("{}"))
    assert reply.content == "<tool_call>{name: oh"
    assert [made.name for made in reply.tool_calls] == ["f"]


def test_a_doubled_opening_marker_costs_no_call() -> None:
    reply = read("<tool_call>\n" + call("{}"))
    assert (reply.content, len(reply.tool_calls)) == ("<tool_call>", 1)


@pytest.mark.parametrize(
    ("raw", "arguments"),
    [
        ('<tool_call>{"name": "f", "arguments": {"a": [1}</tool_call>', '{"a": [1}'),
        ('<tool_call>{"name": "f", "arguments": {"a": True}}</tool_call>', '{"a": True}'),
        ('<tool_call>{"name": "f", "arguments": {"a": 1,,}}</tool_call>', '{"a": 1,,}'),
    ],
)
def test_broken_arguments_that_were_streamed_stand_as_written(raw: str, arguments: str) -> None:
    reply = read(raw + "x")
    assert [made.arguments for made in reply.tool_calls] == [arguments]
    assert reply.content == "x"


def test_an_opening_marker_at_the_very_end_is_prose_and_no_cut_call() -> None:
    assert not read("The tag is <tool_call>").truncated
    assert read("<tool_call>{").truncated


@pytest.mark.parametrize("cut", range(38, 55))
def test_a_cut_call_keeps_what_was_streamed_and_nothing_is_invented(cut: int) -> None:
    raw = '<tool_call>{"name": "f", "arguments": {"a": "x<y", "b": [1, 2]}}</tool_call>'
    start = raw.index('{"a"')
    reply = read(raw[:cut])
    assert reply.truncated
    if reply.tool_calls:
        assert reply.tool_calls[0].arguments == raw[start:cut]
    else:
        assert reply.content == raw[:cut]


def test_a_second_call_that_is_cut_before_it_is_one_leaves_no_markup_behind() -> None:
    raw = '<tool_call>{"name": "f", "arguments": {}}</tool_call>\n<tool_call>\n{"name": "p", "argum'
    reply = read(raw)
    assert [made.name for made in reply.tool_calls] == ["f"]
    assert (reply.content.strip(), reply.truncated) == ("", True)


def test_a_marker_at_the_end_behind_a_call_stays_prose() -> None:
    reply = read('<tool_call>{"name": "f", "arguments": {}}</tool_call>That was a <tool_call>')
    assert (reply.content, reply.truncated) == ("That was a <tool_call>", False)
