"""Calls of a family that nobody named."""

from __future__ import annotations

import pytest
from tests.support.tool_call_families import Call, Family, calls_of, read_reply
from tests.text.toolcalls.family_list import FAMILIES

from duologue.text.grammars.schema_grammar import JsonGrammar
from duologue.text.output.reasoning_tags import ReasoningTags
from duologue.text.toolcalls.any_family import any_family

NAMED_ALONE = {
    *("functionary_v32", "pythonic", "llama4_pythonic", "llama3_json", "xlam", "phi4_mini", "gigachat3"),
    *("harmony", "muse_glimmer", "minicpm5", "step3"),
}
"""Families that have no marker of their own, share it, or have one that is plain text elsewhere."""
CALLS = [
    Call("find_city", {"city": "Oslo", "days": 3, "note": '<tool_call> {"a": [1]}\nsecond'}),
    Call("clock", {}),
]


@pytest.mark.parametrize(
    "family", [one for one in FAMILIES if one.format not in NAMED_ALONE], ids=lambda family: family.format
)
def test_it_is_read_as_if_it_had_been_named(family: Family) -> None:
    calls = CALLS if family.several else CALLS[:1]
    raw = ("Let me see.\n" if family.before else "") + family.write(calls)
    named = read_reply(family.format, raw, everywhere=False)
    read = read_reply(any_family(), raw, everywhere=False)
    assert (read.content, calls_of(read)) == (named.content, calls_of(named))
    assert len(read.tool_calls) == len(calls)


@pytest.mark.parametrize(
    "text",
    [
        "A call stands in `<tool_call>` and `</tool_call>`.",
        "The marker <tool_call> begins one.",
        "The marker <tool_call>",
        "The marker <tool_call> \n",
        "See <function=",
        "See <function=x",
        "See <tool_calls> and <longcat_tool_call> and [TOOL_CALLS].",
        "if a < b and b > c: x[0] = {1: 2}",
    ],
)
def test_text_about_markers_stays_text(text: str) -> None:
    read = read_reply(any_family(), text)
    assert (read.content.rstrip(), read.tool_calls) == (text.rstrip(), ())


def test_what_follows_a_shared_marker_is_looked_at_for_a_while_only() -> None:
    text = "See <function=" + "x" * 600 + " there."
    assert read_reply(any_family(), text, everywhere=False).content == text


def test_a_call_that_is_cut_off_says_so() -> None:
    assert read_reply(any_family(), '<tool_call>\n{"name": "clock", "argum').truncated


def test_a_call_inside_a_thought_ends_it() -> None:
    raw = '<think>Hm.\n<tool_call>\n{"name": "clock", "arguments": {}}\n</tool_call></think>Done.'
    read = read_reply(any_family(), raw, tags=ReasoningTags())
    assert (read.reasoning, read.content, calls_of(read)) == ("Hm.\n", "Done.", [("clock", "{}")])


def test_it_writes_no_grammar() -> None:
    with pytest.raises(NotImplementedError):
        any_family().calls((), JsonGrammar(), False)
