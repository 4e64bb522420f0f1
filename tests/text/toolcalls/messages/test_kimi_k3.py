"""Kimi K3: tags of control tokens, attributes that are escaped and values that are not."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from tests.support.gbnf import admits
from tests.support.tagged_families import shown
from tests.support.tool_call_families import CITY, TOOLS, Call, Family, calls_of, read_reply

from duologue.text.output.parsed import ParsedReply
from duologue.text.output.reasoning_tags import template_tags
from duologue.text.output.reply_grammar import (
    AllowedToolCalls,
    ThoughtPrefix,
    constrained_reply,
    optional_tool_calls,
)
from duologue.text.toolcalls.catalogue import tool_format
from duologue.values.messages import Tool

TAGS = template_tags("{{- open_tag('think' if thinking else 'response') -}}")
THOUGHT = "Need it.<|close|>think<|sep|><|open|>response<|sep|>"


def opening(tag: str, **attributes: object) -> str:
    written = "".join(
        f' {key}="{str(value).replace("&", "&amp;").replace(chr(34), "&quot;")}"'
        for key, value in attributes.items()
    )
    return f"<|open|>{tag}{written}<|sep|>"


def kind(value: object) -> str:
    kinds = {bool: "boolean", type(None): "null", str: "string", dict: "object", list: "array"}
    return kinds.get(type(value), "number")


def write(calls: Sequence[Call]) -> str:
    """What follows the text of an answer, up to the end of the calls."""
    blocks = "".join(
        opening("call", tool=call.name, index=index)
        + "".join(
            f"{opening('argument', key=key, type=kind(value))}{shown(value)}<|close|>argument<|sep|>"
            for key, value in call.arguments.items()
        )
        + "<|close|>call<|sep|>"
        for index, call in enumerate(calls, 1)
    )
    return f"<|close|>response<|sep|><|open|>tools<|sep|>{blocks}<|close|>tools<|sep|>"


FAMILY = Family(
    "kimi_k3",
    write,
    source="chat template of Kimi-K3, and recordings of what the vendor's own code renders",
    tags=TAGS,
)
ONE = Call("find_city", {"city": "Oslo"})
END = "<|close|>message<|sep|><|end_of_msg|>"


def read(raw: str, *, thinks: bool = False, tools: Sequence[Tool] = TOOLS) -> ParsedReply:
    return read_reply("kimi_k3", raw, tags=TAGS, inside=thinks, tools=tools)


def said(raw: str, **options: object) -> tuple[str, str, list[tuple[str, str]]]:
    reply = read(raw, **options)  # type: ignore[arg-type]
    return reply.reasoning, reply.content, calls_of(reply)


def test_a_thought_an_answer_and_a_call() -> None:
    raw = f"{THOUGHT}Let me see.{write([ONE])}{END}"
    expected = ("Need it.", "Let me see.", [("find_city", '{"city": "Oslo"}')])
    assert said(raw, thinks=True) == expected
    assert said(f"<|open|>think<|sep|>{raw}") == expected


def test_the_end_of_an_answer_is_no_part_of_it() -> None:
    end = f"<|close|>response<|sep|>{END}"
    assert said(f"Yes.{end}") == ("", "Yes.", [])
    assert said(f"Yes.\n```\nx = 1{end}") == ("", "Yes.\n```\nx = 1", [])


def test_arguments_may_be_one_object_of_json() -> None:
    body = '{"city": "<|close|>json<|sep|>", "tags": [1, {"a": null}]}'
    raw = (
        "<|open|>tools<|sep|>"
        f"{opening('call', tool='find_city', index=1)}{opening('json', type='object')}{body}"
        "<|close|>json<|sep|><|close|>call<|sep|>"
        f"{opening('call', tool='clock', index=2)}<|close|>call<|sep|><|close|>tools<|sep|>"
    )
    assert said(raw) == ("", "", [("find_city", body), ("clock", "{}")])


def test_attributes_are_escaped_and_values_are_not() -> None:
    text = "5 &lt; 6 &amp; &quot;7&quot;"
    raw = write([Call("find_city", {'a "b" & &quot;c': text})])
    [(_, arguments)] = said(raw)[2]
    assert json.loads(arguments) == {'a "b" & &quot;c': text}


def test_the_tag_says_the_type() -> None:
    raw = write([Call("find_city", {"city": 5, "days": "5", "new": [1.50]})]).replace("1.5", "1.50")
    assert said(raw)[2] == [("find_city", '{"city": 5, "days": "5", "new": [1.50]}')]


def test_tags_that_the_family_does_not_have_are_text() -> None:
    assert said("a <|open|>b c=1<|sep|> d <|close|> e") == ("", "a <|open|>b c=1<|sep|> d <|close|> e", [])


@pytest.mark.parametrize("end", ["<|close|>resp", "<|close|>response", '<|open|>call tool="f'])
def test_a_tag_that_was_cut_off_is_no_text(end: str) -> None:
    """A tag is several tokens. Of one alone nobody knows."""
    assert said(f"Yes.{end}") == ("", "Yes.", [])
    assert said("Yes.<|close|>") == ("", "Yes.<|close|>", [])


def test_without_tools_a_call_is_text() -> None:
    _, content, calls = said(write([ONE]), tools=())
    assert not calls
    assert "Oslo" in content


@pytest.mark.parametrize("thinks", [False, True])
def test_the_grammar_admits_what_is_written_and_no_other_tool(thinks: bool) -> None:
    calls = AllowedToolCalls("kimi_k3", (CITY,))
    assert TAGS is not None
    optional = optional_tool_calls(calls)
    forced = constrained_reply(calls, None, ThoughtPrefix(TAGS, open=True) if thinks else None)
    assert optional is not None
    assert forced is not None
    cases: list[tuple[dict[str, object], bool]] = [
        ({"city": "Oslo", "days": 3, "exact": True, "tags": ["a"]}, True),
        ({"city": 3}, False),
        ({}, False),
    ]
    for arguments, right in cases:
        raw = write([Call("find_city", arguments)])
        assert admits(forced.text, THOUGHT + raw if thinks else raw) is right
        assert admits(optional.text, raw.removeprefix("<|close|>response<|sep|>")) is right
    several = write([ONE, ONE])
    assert admits(forced.text, THOUGHT + several if thinks else several)
    assert not admits(forced.text, write([Call("fly", {})]))


def test_the_separator_of_tags_has_to_be_generated_as_text() -> None:
    assert {"<|open|>", "<|close|>", "<|sep|>", "<|end_of_msg|>"} <= set(tool_format("kimi_k3").preserved)
