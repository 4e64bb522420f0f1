"""What a reply is held to, by what was asked."""

from __future__ import annotations

import pytest
from tests.support.gbnf import admits

from duologue.errors import BadRequest, Unsupported
from duologue.sessions.chat.constraint import check_constraint, offered_tools, reply_grammar
from duologue.text.output.reasoning_tags import ReasoningTags
from duologue.text.output.reply_grammar import ReplyGrammar
from duologue.values.messages import Tool, user
from duologue.values.requests import ChatRequest, OutputFormat

CLOCK = Tool("clock", "", {"type": "object", "properties": {"zone": {"type": "string"}}})
SEARCH = Tool("search", "", {"type": "object", "properties": {"words": {"type": "string"}}})
CALL = '<tool_call>{"name": "clock", "arguments": {"zone": "UTC"}}</tool_call>'
SEARCHING = '<tool_call>{"name": "search", "arguments": {}}</tool_call>'
YES = OutputFormat("json_schema", schema={"type": "object", "properties": {"yes": {"type": "boolean"}}})
JSON = OutputFormat("json_object")
TAGS = ReasoningTags("<think>", "</think>")


def shaped(
    *,
    tags: ReasoningTags | None = TAGS,
    tool_format: str = "hermes",
    thinking: bool = False,
    no_more_thoughts: bool = False,
    **asked: object,
) -> ReplyGrammar | None:
    request = ChatRequest(**{"messages": (user("hi"),), "tools": (CLOCK, SEARCH), **asked})  # type: ignore[arg-type]
    return reply_grammar(request, tool_format, tags, thinking=thinking, no_more_thoughts=no_more_thoughts)


def text(**asked: object) -> str:
    grammar = shaped(**asked)  # type: ignore[arg-type]
    assert grammar is not None
    return grammar.text


def test_calls_have_the_shape_of_the_tools_that_are_offered() -> None:
    grammar = shaped()
    assert grammar is not None
    assert grammar.trigger == "<tool_call>"
    assert admits(grammar.text, CALL)
    assert not admits(grammar.text, CALL.replace("zone", "room"))


def test_without_tools_there_is_nothing_to_hold_calls_to() -> None:
    assert shaped(tools=()) is None
    assert shaped(tool_choice="none") is None
    assert shaped(tool_format="") is None
    assert shaped(tool_choice="function:nobody") is None
    assert offered_tools(ChatRequest((), tools=(CLOCK,), tool_choice="none")) == ()


def test_a_call_is_forced_to_any_tool_or_to_one() -> None:
    for choice, clock, search in (
        ("required", True, True),
        ("function:clock", True, False),
        ("function:search", False, True),
    ):
        grammar = text(tool_choice=choice)
        assert admits(grammar, CALL) is clock
        assert admits(grammar, SEARCHING) is search
        assert not admits(grammar, "It is late.")


def test_as_many_calls_are_forced_as_are_wanted() -> None:
    assert admits(text(tool_choice="required"), CALL + SEARCHING)
    assert not admits(text(tool_choice="required", parallel_tool_calls=False), CALL + SEARCHING)


def test_a_format_and_calls_go_together() -> None:
    grammar = text(format=YES)
    assert admits(grammar, '{"yes": true}')
    assert admits(grammar, CALL)
    assert not admits(grammar, "yes")
    assert admits(text(format=JSON), '{"any": ["thing"]}')
    forced = text(format=YES, tool_choice="required")
    assert admits(forced, CALL)
    assert not admits(forced, '{"yes": true}')


def test_a_thought_comes_first_where_one_may_come() -> None:
    thought = f"<think>Well.</think>{CALL}"
    assert admits(text(tool_choice="required"), thought)
    assert admits(text(tool_choice="required", thinking=True), "Well.</think>" + CALL)
    for without in ({"tags": None}, {"no_more_thoughts": True}):
        assert not admits(text(tool_choice="required", **without), thought)
    request = ChatRequest((user("hi"),), tools=(CLOCK,), tool_choice="required", thinking=False)
    grammar = reply_grammar(request, "hermes", TAGS, thinking=False, no_more_thoughts=False)
    assert grammar is not None
    assert not admits(grammar.text, thought)


def test_a_format_has_our_grammar_with_thoughts_and_without() -> None:
    for asked in ({"tags": None}, {"no_more_thoughts": True}):
        assert admits(text(format=YES, tools=(), **asked), '{"yes": true}')
    assert admits(text(format=YES, tools=()), '<think>Well.</think>{"yes": true}')


@pytest.mark.parametrize(
    "format",
    [
        OutputFormat("grammar", grammar='root ::= "yes"'),
        OutputFormat("json_schema", schema={"type": "string", "pattern": "^(?=y)yes$"}),
        OutputFormat("json_schema"),
    ],
    ids=str,
)
def test_what_our_grammar_cannot_promise_is_left_to_the_engine(format: OutputFormat) -> None:
    assert shaped(format=format) is None


REGEX = OutputFormat("regex", pattern="(?!a)b", param="guided_regex")
LOOSE = OutputFormat("json_schema", schema={"not": {"type": "string"}})
GRAMMAR = OutputFormat("grammar", grammar='root ::= "yes"', param="grammar_string")


@pytest.mark.parametrize(
    ("asked", "param", "says"),
    [
        ({"format": REGEX, "tools": ()}, "guided_regex", "look-around"),
        ({"format": LOOSE}, "response_format", "this schema cannot be kept together with tools"),
        ({"format": LOOSE, "tools": (), "thinking": True}, "response_format", "together with thinking"),
        ({"format": GRAMMAR}, "grammar_string", "a grammar cannot be kept together with tools"),
        ({"format": YES, "tool_choice": "required"}, "response_format", "mutually exclusive"),
        (
            {"tools": (Tool("f", "", {"properties": {"a": {"not": {}}}}, strict=True),)},
            "tools[0].function.strict",
            "keywords that cannot be enforced",
        ),
    ],
    ids=str,
)
def test_what_no_reply_can_be_held_to_is_refused(asked: dict[str, object], param: str, says: str) -> None:
    request = ChatRequest(**{"messages": (user("hi"),), "tools": (CLOCK,), **asked})  # type: ignore[arg-type]
    with pytest.raises((BadRequest, Unsupported), match=says) as error:
        check_constraint(request, "hermes")
    assert (error.value.param, error.value.status) == (param, 400)


def test_what_can_be_held_is_not_refused() -> None:
    strict = Tool("f", "", {"properties": {"a": {"type": "string", "pattern": "^x[0-9]+$"}}}, strict=True)
    pattern = OutputFormat("json_schema", schema={"type": "string", "pattern": "^yes$"})
    for asked in (
        {"tools": (strict,)},
        {"format": pattern, "tools": (CLOCK,), "thinking": True},
        {"format": LOOSE, "tools": ()},
        {"format": GRAMMAR, "tools": (CLOCK,), "tool_choice": "none"},
    ):
        check_constraint(ChatRequest((user("hi"),), **asked), "hermes")


def test_a_pattern_stands_beside_a_thought_and_calls() -> None:
    pattern = OutputFormat("json_schema", schema={"type": "string", "pattern": "^yes$"})
    for written in ('<think>Well.</think>"yes"', '"yes"', CALL):
        assert admits(text(format=pattern), written)
    assert not admits(text(format=pattern), '"no"')
