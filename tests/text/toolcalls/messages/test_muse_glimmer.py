"""Muse Glimmer: messages to the model itself, to the user and to tools."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from tests.support.gbnf import admits
from tests.support.tagged_families import shown, writer
from tests.support.tool_call_families import CITY, TOOLS, Call, Family, calls_of, read_reply

from duologue.text.output.reasoning_tags import template_tags
from duologue.text.output.reply_grammar import (
    AllowedToolCalls,
    ThoughtPrefix,
    constrained_reply,
    optional_tool_calls,
)
from duologue.text.toolcalls.catalogue import tool_format
from duologue.values.messages import Tool

OPENED = "<|start|>assistant"
TAGS = template_tags(
    "{{- '<|start|>assistant to=self<|message|>' + message['reasoning_content'] + '<|eom|>' -}}"
)
atem = writer(
    '<atem:invoke name="{}">\n',
    lambda key, value: f'<atem:parameter name="{key}">{shown(value)}</atem:parameter>\n',
    "</atem:invoke>\n",
    before="<atem:function_calls>\n",
    after="</atem:function_calls>",
)


def write(calls: Sequence[Call]) -> str:
    """A message for each call."""
    return "<|eom|>".join(f"{OPENED} to={call.name}<|message|>{atem([call])}" for call in calls)


FAMILY = Family(
    "muse_glimmer",
    write,
    source="chat template of Muse Glimmer",
    tags=TAGS,
    lead="<|start|>assistant to=user<|message|>",
)
ONE = Call("find_city", {"city": "Oslo"})
F = [("find_city", '{"city": "Oslo"}')]


def said(
    raw: str, *, opened: str = OPENED, tools: Sequence[Tool] = TOOLS
) -> tuple[str, str, list[tuple[str, str]]]:
    reply = read_reply("muse_glimmer", raw, tags=TAGS, opened=opened, tools=tools)
    return reply.reasoning, reply.content, calls_of(reply)


def test_a_thought_an_answer_and_a_call() -> None:
    raw = (
        " to=self<|message|>Need it.<|eom|><|start|>assistant to=user<|message|>I will look.<|eom|>"
        + write([ONE])
        + "<|eot|>"
    )
    assert said(raw) == ("Need it.", "I will look.", F)
    assert said(OPENED + raw, opened="") == ("Need it.", "I will look.", F)


@pytest.mark.parametrize("recipient", ["self", "user"])
def test_a_call_that_is_quoted_in_another_message_is_text(recipient: str) -> None:
    quoted = atem([ONE])
    reasoning, content, calls = said(f" to={recipient}<|message|>So: {quoted}<|eot|>")
    assert (reasoning, content, calls) == (
        (f"So: {quoted}", "", []) if recipient == "self" else ("", f"So: {quoted}", [])
    )


def test_a_message_without_a_recipient_is_for_the_user() -> None:
    assert said("<|message|>Yes.<|eot|>") == ("", "Yes.", [])


def test_a_message_to_a_tool_that_calls_none_is_text() -> None:
    assert said(" to=find_city<|message|> Oslo<|eot|>") == ("", " Oslo", [])


def test_a_name_that_is_repeated_as_its_namespace_means_the_tool() -> None:
    raw = atem([ONE]).replace("find_city", "find_city.find_city")
    assert said(f" to=find_city<|message|>{raw}<|eot|>")[2] == F
    raw = raw.replace("find_city.", "maps.")
    assert said(f" to=maps<|message|>{raw}<|eot|>")[2][0][0] == "maps.find_city"


def test_text_that_is_no_header_is_passed_on_at_once() -> None:
    assert said("Yes, of course.") == ("", "Yes, of course.", [])
    assert said("<|message|>a <|start|> b", opened=OPENED) == ("", "a <|start|> b", [])
    assert said("to=self<|message|>Yes.") == ("", "to=self<|message|>Yes.", [])


def test_without_tools_a_call_is_text() -> None:
    reasoning, content, calls = said(f" to=self<|message|>Hm.<|eom|>{write([ONE])}", tools=())
    assert (reasoning, calls) == ("Hm.", [])
    assert atem([ONE]) in content


def test_the_prompt_leaves_a_header_open() -> None:
    assert tool_format("muse_glimmer").opened(OPENED) == OPENED
    assert tool_format("muse_glimmer").opened(f"{OPENED} to=user<|message|>") == ""


def test_the_grammar_admits_what_is_written_and_no_other_tool() -> None:
    calls = AllowedToolCalls("muse_glimmer", (CITY,))
    assert TAGS is not None
    optional, forced = optional_tool_calls(calls), constrained_reply(calls, None, ThoughtPrefix(TAGS))
    assert optional is not None
    assert forced is not None
    raw = write([Call("find_city", {"city": "Oslo", "days": 3})] * 2)
    thought = " to=self<|message|>Need it.<|eom|>"
    assert admits(forced.text, raw.removeprefix(OPENED))
    assert admits(forced.text, thought + raw)
    assert admits(optional.text, raw[raw.index(optional.trigger) :])
    assert not admits(forced.text, write([Call("fly", {})]))
