"""Messages with headers: what is reasoning, what is said, and what is a call."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from tests.support.gbnf import admits
from tests.support.tool_call_families import CITY, TOOLS, Call, Family, calls_of, read_reply

from duologue.text.output.parsed import ParsedReply
from duologue.text.output.reasoning_tags import template_tags
from duologue.text.output.reply_grammar import AllowedToolCalls, constrained_reply, optional_tool_calls
from duologue.text.toolcalls.catalogue import tool_format

OPENED = "<|start|>assistant"
TAGS = template_tags("{{- '<|channel|>analysis<|message|>' }}")


def write(calls: Sequence[Call]) -> str:
    return "<|start|>assistant".join(
        f"<|channel|>commentary to=functions.{call.name} <|constrain|>json<|message|>"
        f"{json.dumps(call.arguments, ensure_ascii=False)}<|call|>"
        for call in calls
    )


FAMILY = Family(
    "harmony",
    write,
    source="chat template of gpt-oss-20b, and the published description of the harmony format",
    tags=TAGS,
    opened=OPENED,
    lead="<|channel|>final<|message|>",
    before=False,
    after=False,
    needs_tools=True,
)


def read(raw: str, *, opened: str = OPENED, tools: tuple[object, ...] = TOOLS) -> ParsedReply:
    return read_reply("harmony", raw, tags=TAGS, opened=opened, tools=tools)  # type: ignore[arg-type]


def said(raw: str, **options: object) -> tuple[str, str, list[tuple[str, str]]]:
    reply = read(raw, **options)  # type: ignore[arg-type]
    return reply.reasoning, reply.content, calls_of(reply)


CALL = '<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"a": "x"}<|call|>'
F = [("f", '{"a": "x"}')]


def test_channels_of_one_reply() -> None:
    raw = (
        "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Yes.<|return|>"
    )
    assert said(raw) == ("Hm.", "Yes.", [])


def test_a_thought_before_a_call() -> None:
    assert said(f"<|channel|>analysis<|message|>Need f.<|end|><|start|>assistant{CALL}") == ("Need f.", "", F)


def test_commentary_without_a_recipient_is_for_the_user() -> None:
    raw = f"<|channel|>commentary<|message|>I will look.<|end|><|start|>assistant{CALL}"
    assert said(raw) == ("", "I will look.", F)


@pytest.mark.parametrize(
    "raw",
    [
        ' to=functions.f<|channel|>commentary <|constrain|>json<|message|>{"a": "x"}<|call|>',
        '<|channel|>analysis to=functions.f <|constrain|>json<|message|>{"a": "x"}<|call|>',
        '<|channel|>commentary to=functions.f<|message|>{"a": "x"}<|call|>',
        '<|channel|>commentary to=functions.f <|constrain|>code<|message|>{"a": "x"}',
        '<|channel|>commentary to=functions.f code<|message|> {"a": "x"} <|end|>',
        '<|channel|>commentary to=f <|constrain|>json<|message|>{"a": "x"}<|call|>',
    ],
)
def test_every_place_of_the_recipient(raw: str) -> None:
    assert said(raw) == ("", "", F)


def test_blank_lines_before_a_call_are_no_text() -> None:
    raw = f"<|channel|>commentary<|message|>I will look.\n\n<|end|><|start|>assistant{CALL}"
    assert said(raw) == ("", "I will look.", F)


def test_calls_in_consecutive_messages() -> None:
    assert said(f"{CALL}<|start|>assistant{CALL}")[2] == [*F, *F]
    assert said(CALL.removesuffix("<|call|>") + CALL)[2] == [*F, *F]


def test_an_open_fence_hides_no_call() -> None:
    raw = f"<|channel|>commentary<|message|>```python\nx = 1<|end|><|start|>assistant{CALL}"
    assert said(raw) == ("", "```python\nx = 1", F)


def test_markers_inside_a_text_are_text() -> None:
    raw = CALL.replace("x", "a <|call|> b <|end|>")
    assert said(raw) == ("", "", [("f", '{"a": "a <|call|> b <|end|>"}')])


def test_without_arguments_it_is_an_empty_object() -> None:
    assert said("<|channel|>commentary to=functions.clock <|constrain|>json<|message|><|call|>")[2] == [
        ("clock", "{}")
    ]


def test_a_cut_call_stands_as_it_is() -> None:
    reply = read(CALL[: CALL.index("x") + 1])
    assert calls_of(reply) == [("f", '{"a": "x')]
    assert reply.truncated


def test_arguments_that_are_no_json_are_passed_on() -> None:
    assert said("<|channel|>commentary to=python code<|message|>print(1)<|call|>")[2] == [
        ("python", "print(1)")
    ]


def test_a_reply_without_headers_is_an_answer() -> None:
    assert said("Yes, of course.", opened="") == ("", "Yes, of course.", [])
    assert said("Yes. <|start|>", opened="")[1] == "Yes. <|start|>"


def test_a_header_that_never_ends_is_text() -> None:
    assert said("x" * 1000)[1] == "x" * 1000
    assert said(" to=f <|end|>", opened=OPENED)[1] == " to=f "


def test_without_tools_a_call_is_text() -> None:
    reasoning, content, calls = said(
        f"<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant{CALL}", tools=()
    )
    assert (reasoning, calls) == ("Hm.", [])
    assert '{"a": "x"}' in content


def test_the_prompt_leaves_a_header_open() -> None:
    assert tool_format("harmony").opened("<|start|>assistant") == OPENED
    assert tool_format("harmony").opened("<|start|>assistant<|channel|>final<|message|>") == ""


def test_the_grammar_admits_what_is_written_and_no_other_tool() -> None:
    calls = AllowedToolCalls("harmony", (CITY,))
    optional, forced = optional_tool_calls(calls), constrained_reply(calls, None, None)
    assert optional is not None
    assert forced is not None
    assert optional.trigger == "<|channel|>commentary to=functions."
    for grammar in (optional.text, forced.text):
        assert admits(grammar, write([Call("find_city", {"city": "Oslo", "days": 3})]))
        assert not admits(grammar, write([Call("fly", {})]))
