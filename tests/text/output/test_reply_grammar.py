"""Replies as grammars: what a model may write, and what the reader of its calls makes of that."""

from __future__ import annotations

import pytest
from tests.support.gbnf import admits

from duologue.text.output.parsed import parse_reply
from duologue.text.output.reasoning_tags import ReasoningTags
from duologue.text.output.reply_grammar import (
    MAX_CACHED,
    MAX_GRAMMAR,
    AllowedToolCalls,
    ThoughtPrefix,
    _rules,
    constrained_reply,
    optional_tool_calls,
)
from duologue.values.messages import Tool
from duologue.values.requests import OutputFormat

WEATHER = Tool(
    "weather",
    "The weather somewhere.",
    {
        "type": "object",
        "properties": {"place": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["place"],
    },
)
CLOCK = Tool("clock", "The time.", {"type": "object", "properties": {}, "additionalProperties": False})
BOTH = (WEATHER, CLOCK)
TAGS = ReasoningTags("<think>", "</think>")
OSLO = '<tool_call>\n{"name": "weather", "arguments": {"place": "Oslo"}}\n</tool_call>'
NOW = '<tool_call>{"name":"clock","arguments":{}}</tool_call>'


CALLS = AllowedToolCalls("hermes", BOTH)
THINKS, THINKING = ThoughtPrefix(TAGS), ThoughtPrefix(TAGS, open=True)
ANSWER = {
    "type": "object",
    "properties": {"rain": {"enum": ["yes", "no"]}},
    "required": ["rain"],
    "additionalProperties": False,
}


def may_be_offered(text: str, *, several: bool = True) -> bool:
    return admits(optional_tool_calls(AllowedToolCalls("hermes", BOTH, several)).text, text)


def forced(text: str, *, thought: ThoughtPrefix | None = THINKS) -> bool:
    grammar = constrained_reply(AllowedToolCalls("hermes", BOTH, several=False), None, thought)
    assert grammar is not None
    assert grammar.trigger == ""
    return admits(grammar.text, text)


def test_it_holds_from_the_marker_of_a_call_on() -> None:
    grammar = optional_tool_calls(CALLS)
    assert grammar.trigger == "<tool_call>"
    assert admits(grammar.text, OSLO)


@pytest.mark.parametrize("text", [OSLO, NOW, f"{OSLO}\n{NOW}", f"{NOW}{NOW} {OSLO}"])
def test_what_it_admits_is_read_as_calls_and_nothing_else(text: str) -> None:
    assert may_be_offered(text)
    reply = parse_reply(text, tools=BOTH)
    assert reply.content == ""
    assert len(reply.tool_calls) == text.count("<tool_call>")


@pytest.mark.parametrize(
    "text",
    [
        OSLO.replace("weather", "wether"),
        OSLO.replace("place", "town"),
        OSLO.replace('"Oslo"', "7"),
        OSLO.replace('{"place": "Oslo"}', "{}"),
        OSLO.replace("}}", "}"),
        OSLO.replace("</tool_call>", ""),
        OSLO + " It is raining.",
        "It is raining.",
        "<tool_call></tool_call>",
    ],
)
def test_other_names_other_shapes_and_text_around_are_not_admitted(text: str) -> None:
    assert not may_be_offered(text)


def test_one_call_is_all_where_no_more_are_wanted() -> None:
    assert may_be_offered(OSLO, several=False)
    assert not may_be_offered(f"{OSLO}\n{NOW}", several=False)


def test_a_forced_call_may_come_behind_a_thought() -> None:
    assert forced(OSLO)
    assert forced(f"<think>\nOslo < Rome, so </thin: I look.\n</think>\n{OSLO}")
    assert forced(f"Oslo it is.</think>{OSLO}", thought=THINKING)


def test_a_forced_call_has_to_come() -> None:
    assert not forced("It is raining.")
    assert not forced(f"It is raining. {OSLO}")
    assert not forced("<think>Oslo.</think>It is raining.")
    assert not forced(f"Oslo.</think>It rains.</think>{OSLO}", thought=THINKING)
    assert not forced(OSLO, thought=THINKING)
    assert not forced(f"<think>Oslo.</think>{OSLO}", thought=None)


def test_tools_whose_schemas_are_too_large_are_held_to_their_names() -> None:
    wide = Tool(
        "wide", "", {"type": "object", "properties": {f"p{at}": {"type": "string"} for at in range(3000)}}
    )
    grammar = optional_tool_calls(AllowedToolCalls("hermes", (wide, CLOCK)))
    assert len(grammar.text) < MAX_GRAMMAR
    assert admits(grammar.text, '<tool_call>{"name": "wide", "arguments": {"q": [1]}}</tool_call>')
    assert not admits(grammar.text, OSLO)


def test_what_is_large_is_not_kept_for_the_next_turn() -> None:
    before = _rules.cache_info().currsize
    optional_tool_calls(AllowedToolCalls("hermes", (Tool("large", "x" * (MAX_CACHED + 1), {}),)))
    assert _rules.cache_info().currsize == before


def test_names_of_tools_mean_themselves() -> None:
    tool = Tool('say "é"\\', "", {})
    grammar = optional_tool_calls(AllowedToolCalls("hermes", (tool,)))
    assert admits(grammar.text, '<tool_call>{"name": "say \\"é\\"\\\\", "arguments": {}}</tool_call>')


def test_json_of_a_schema_may_come_behind_a_thought_and_where_calls_are_offered_too() -> None:
    rain = '{"rain": "yes"}'
    for calls in (None, CALLS):
        grammar = constrained_reply(calls, OutputFormat("json_schema", schema=ANSWER), THINKS)
        assert grammar is not None
        assert admits(grammar.text, rain)
        assert admits(grammar.text, f"<think>It pours.</think>\n{rain}")
        assert not admits(grammar.text, '{"rain": "perhaps"}')
        assert not admits(grammar.text, f"{rain} It pours.")
        assert admits(grammar.text, OSLO) is (calls is not None)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "pattern": "(?=a)"},
        {"type": "string", "pattern": "a+", "maxLength": 3},
        {"type": "array", "items": {"type": "integer"}, "uniqueItems": True},
        {"type": "object", "properties": {"a": {"not": {}}}},
        {"type": "object", "properties": {"é": {}}, "additionalProperties": True},
        {"type": "object", "minProperties": 2},
        {"oneOf": [{"type": "string"}, {"const": "a"}]},
        {"$ref": "#/nowhere"},
        {"type": "wibble"},
    ],
    ids=str,
)
def test_a_schema_that_cannot_be_held_to_as_a_whole_is_not_promised(schema: dict[str, object]) -> None:
    assert constrained_reply(CALLS, OutputFormat("json_schema", schema=schema), None) is None
    assert (
        constrained_reply(
            CALLS, OutputFormat("json_schema", schema={"type": "array", "items": schema}), THINKS
        )
        is None
    )


@pytest.mark.parametrize(
    ("format", "good", "bad"),
    [
        (OutputFormat("regex", pattern="[0-9]{3}|no+"), ("123", "noo"), ("12", "1234", "nn")),
        (OutputFormat("choice", choices=("yes", 'a "b"')), ("yes", 'a "b"'), ("ye", "yes ")),
    ],
    ids=["regex", "choice"],
)
def test_a_pattern_and_a_choice_are_the_whole_content(
    format: OutputFormat, good: tuple[str, ...], bad: tuple[str, ...]
) -> None:
    grammar = constrained_reply(None, format, THINKS)
    assert grammar is not None
    for text in good:
        assert admits(grammar.text, text)
        assert admits(grammar.text, f"<think>Hm.</think>{text}")
    assert not any(admits(grammar.text, text) for text in bad)
