"""Inkling: blocks in any order, each with its author and its kind."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from tests.support.gbnf import admits
from tests.support.tool_call_families import CITY, TOOLS, Call, Family, calls_of, read_reply

from duologue.text.output.reasoning_tags import template_tags
from duologue.text.output.reply_grammar import AllowedToolCalls, constrained_reply, optional_tool_calls
from duologue.text.toolcalls.catalogue import tool_format
from duologue.values.messages import Tool

OPENED = "<|message_model|>"
TAGS = template_tags("{{- '<|message_model|><|content_thinking|>' ~ message.reasoning_content -}}")


def write(calls: Sequence[Call]) -> str:
    """The blocks of calls. The template sorts the keys of arguments; models write them in any order."""
    return "".join(
        f'<|message_model|>{call.name}<|content_invoke_tool_json|>{{"name":{json.dumps(call.name)},"args":'
        f"{json.dumps(call.arguments, ensure_ascii=False, separators=(',', ':'))}}}<|end_message|>"
        for call in calls
    )


FAMILY = Family(
    "inkling",
    write,
    source="chat template of Inkling and Inkling-Small",
    tags=TAGS,
    lead="<|message_model|><|content_text|>",
)
F = [("f", '{"a":"x"}')]
CALL = 'f<|content_invoke_tool_json|>{"name":"f","args":{"a":"x"}}<|end_message|>'


def said(
    raw: str, *, opened: str = OPENED, tools: Sequence[Tool] = TOOLS
) -> tuple[str, str, list[tuple[str, str]]]:
    reply = read_reply("inkling", raw, tags=TAGS, opened=opened, tools=tools)
    return reply.reasoning, reply.content, calls_of(reply)


def test_a_thought_an_answer_and_a_call() -> None:
    raw = (
        "<|content_thinking|>Need f.<|end_message|><|message_model|><|content_text|>I will look.<|end_message|>"
        f"<|message_model|>{CALL}<|content_model_end_sampling|>"
    )
    assert said(raw) == ("Need f.", "I will look.", F)
    assert said(OPENED + raw, opened="") == ("Need f.", "I will look.", F)


def test_a_thought_may_follow_an_answer() -> None:
    raw = (
        "<|content_text|>One moment.<|end_message|><|message_model|><|content_thinking|>Hm.<|end_message|>"
        f"<|message_model|>{CALL}"
    )
    assert said(raw) == ("Hm.", "One moment.", F)


def test_a_block_that_was_not_closed_ends_where_the_next_one_begins() -> None:
    raw = f"<|content_thinking|>Need f.<|message_model|><|content_text|>```\nx<|message_model|>{CALL}"
    assert said(raw) == ("Need f.", "```\nx", F)


def test_the_name_before_a_call_is_no_text() -> None:
    assert said(CALL) == ("", "", F)
    assert said(f"<|message_model|>{CALL}") == ("", "", F)


def test_markers_inside_a_text_of_json_are_text() -> None:
    raw = CALL.replace("x", "a <|end_message|><|message_model|>")
    assert said(raw) == ("", "", [("f", '{"a":"a <|end_message|><|message_model|>"}')])


@pytest.mark.parametrize(
    ("raw", "content"),
    [
        ("Yes, of course.", "Yes, of course."),
        ("f<|content_invoke_tool_json|>no", "f<|content_invoke_tool_json|>no"),
        ("<|content_text|>a <|message_model|> b", "a <|message_model|> b"),
    ],
)
def test_what_is_no_block_is_text(raw: str, content: str) -> None:
    assert said(raw) == ("", content, [])


def test_without_tools_a_call_is_text() -> None:
    reasoning, content, calls = said(f"<|content_thinking|>Hm.<|end_message|>{OPENED}{CALL}", tools=())
    assert (reasoning, calls) == ("Hm.", [])
    assert '{"a":"x"}' in content


def test_the_prompt_leaves_a_block_open() -> None:
    assert tool_format("inkling").opened(OPENED) == OPENED
    assert tool_format("inkling").opened(f"{OPENED}<|content_text|>") == ""


def test_the_grammar_admits_what_is_written_and_no_other_tool() -> None:
    calls = AllowedToolCalls("inkling", (CITY,))
    optional, forced = optional_tool_calls(calls), constrained_reply(calls, None, None)
    assert optional is not None
    assert forced is not None
    raw = write([Call("find_city", {"city": "Oslo", "days": 3})] * 2)
    assert admits(forced.text, raw)
    assert admits(forced.text, raw.removeprefix(OPENED))
    assert admits(optional.text, raw[raw.index(optional.trigger) :])
    assert not admits(forced.text, write([Call("fly", {})]))
