"""Regions of JSON: what every family of them has in common, whatever its markers are."""

from __future__ import annotations

import json
import random

import pytest
from tests.support.gbnf import admits
from tests.support.tool_call_families import CITY, CLOCK, TOOLS, Call, Family, calls_of, read_reply
from tests.text.toolcalls.family_list import FAMILIES

from duologue.text.output.reply_grammar import AllowedToolCalls, constrained_reply, optional_tool_calls
from duologue.text.toolcalls.catalogue import tool_format
from duologue.text.toolcalls.json_region import JsonRegion, JsonRegionFormat
from duologue.values.messages import Tool

FORMATS = {family.format: tool_format(family.format) for family in FAMILIES}
WRAPPED = [family for family in FAMILIES if isinstance(FORMATS[family.format], JsonRegionFormat)]
OBJECT = '{"name": "clock", "arguments": {}}'
BROKEN = '{"name": clock, "arguments": {}}'
MESSAGE_END = "<|message_sep|>"
STRICT_CLOCK = Tool(CLOCK.name, "", {"type": "object", "properties": {}, "additionalProperties": False})


def region_of(family: Family) -> JsonRegion:
    found = FORMATS[family.format]
    assert isinstance(found, JsonRegionFormat)
    return found.region


def marked(family: Family, inner: str) -> str:
    """A region with the family's markers."""
    region = region_of(family)
    opening = region.opening or region.starts[0]
    return f"{opening}{'' if opening != 'functools' else '['}{inner}{region.closing}"


@pytest.fixture(params=WRAPPED, ids=lambda family: family.format)
def family(request: pytest.FixtureRequest) -> Family:
    found: Family = request.param
    return found


@pytest.mark.parametrize(
    "inner",
    [
        OBJECT,
        f" {OBJECT} ",
        f"\n{OBJECT}\n",
        f"[{OBJECT}]",
        f"\n[\n  {OBJECT}\n]\n",
        '{"arguments": {}, "name": "clock"}',
        '{"parameters": {}, "name": "clock"}',
        '{"name": "clock", "arguments": "{}"}',
        '{"name": "clock", "arguments": null}',
        '{"name": "clock"}',
        '{{"name": "clock", "arguments": {}}}',
        '{"type": "function", "function": {"name": "clock", "arguments": {}}}',
    ],
)
def test_every_layout_is_read(family: Family, inner: str) -> None:
    reply = read_reply(family.format, marked(family, inner))
    assert calls_of(reply) == [("clock", "{}")]
    assert (reply.content, reply.truncated) == ("", False)


@pytest.mark.parametrize("between", ["\n", " ", "", ", ", "; "])
def test_several_objects_in_one_region(family: Family, between: str) -> None:
    reply = read_reply(family.format, marked(family, f"{OBJECT}{between}{OBJECT}"))
    assert calls_of(reply) == [("clock", "{}")] * 2
    assert reply.content == ""


def test_a_missing_end_marker(family: Family) -> None:
    raw = marked(family, OBJECT)
    closing = region_of(family).closing
    reply = read_reply(family.format, raw.removesuffix(closing) + "\n\nAnd now?")
    assert (calls_of(reply), reply.content.strip()) == ([("clock", "{}")], "And now?")


def test_a_region_within_text(family: Family) -> None:
    raw = f"Before.\n{marked(family, OBJECT)}\nBetween.\n{marked(family, OBJECT)}\nAfter."
    reply = read_reply(family.format, raw)
    assert len(reply.tool_calls) == 2
    assert [word for word in reply.content.split("\n") if word] == ["Before.", "Between.", "After."]


@pytest.mark.parametrize(
    "inner", [BROKEN, "{}", "[]", "not json", '{"name": 5}', '{"name": ""}', "{'name': 'f'}"]
)
def test_what_is_no_call_is_given_back(family: Family, inner: str) -> None:
    raw = "See: " + marked(family, inner)
    reply = read_reply(family.format, raw)
    assert (reply.content, reply.tool_calls) == (raw, ())


def test_a_marker_alone_is_prose(family: Family) -> None:
    start = region_of(family).starts[0]
    raw = f"The word {start} opens a call, and {start}"
    reply = read_reply(family.format, raw)
    assert (reply.content, reply.tool_calls, reply.truncated) == (raw, (), False)


def test_a_marker_in_code_is_prose(family: Family) -> None:
    raw = f"Write `{marked(family, OBJECT)}` or\n\n```\n{marked(family, OBJECT)}\n```\n"
    reply = read_reply(family.format, raw)
    assert (reply.content, reply.tool_calls) == (raw, ())


def test_a_broken_second_call_keeps_the_first(family: Family) -> None:
    reply = read_reply(family.format, marked(family, f"{OBJECT}\n{BROKEN}"))
    assert calls_of(reply) == [("clock", "{}")]
    assert reply.content == BROKEN


def test_markers_within_a_text_are_text(family: Family) -> None:
    region = region_of(family)
    text = " ".join((*region.starts, *region.ends, *region.line_starts))
    raw = marked(family, json.dumps({"name": "find_city", "arguments": {"city": text}}))
    [call] = read_reply(family.format, raw, everywhere=False).tool_calls
    assert json.loads(call.arguments) == {"city": text}


def test_a_marker_outside_a_text_ends_broken_arguments(family: Family) -> None:
    start = region_of(family).starts[0]
    raw = marked(family, '{"name": "clock", "arguments": {"a": ' + start) + OBJECT
    assert "clock" in [call.name for call in read_reply(family.format, raw, everywhere=False).tool_calls]


def test_arguments_are_passed_on_while_they_are_written(family: Family) -> None:
    raw = family.write([Call("find_city", {"city": "x" * 3000})])
    reply = read_reply(family.format, raw[:2500], everywhere=False)
    assert reply.truncated
    assert len(reply.tool_calls[0].arguments) > 2000


def test_any_text_is_read_the_same_however_it_is_cut(family: Family) -> None:
    """Pieces of calls in any order: nothing fails, and the cutting changes nothing."""
    region = region_of(family)
    markers = (*region.starts, *region.ends, *region.line_starts)
    pieces = (
        *markers,
        *"{}[],;:\n `1a",
        '"name"',
        '"clock"',
        '"arguments"',
        '"id": "abc123xyz"',
        OBJECT,
        BROKEN,
        '{"f": {',
    )
    chance = random.Random(5)
    for _ in range(40):
        raw = "".join(chance.choices(pieces, k=chance.randint(1, 12)))
        read_reply(family.format, raw, everywhere=False)


def test_the_grammar_admits_what_the_family_writes(family: Family) -> None:
    allowed = AllowedToolCalls(family.format, (CITY, STRICT_CLOCK))
    grammar = constrained_reply(allowed, None, None)
    assert grammar is not None
    one, other = Call("find_city", {"city": "Oslo", "days": 3}), Call("clock", {})
    assert admits(grammar.text, written(family, [one]))
    assert admits(grammar.text, written(family, [other]))
    for refused in (Call("unheard_of", {}), Call("clock", {"zone": "UTC"}), Call("find_city", {"days": 3})):
        assert not admits(grammar.text, written(family, [refused]))


@pytest.mark.parametrize("family", [one for one in WRAPPED if one.several], ids=lambda family: family.format)
def test_the_grammar_admits_several_calls_as_the_family_writes_them(family: Family) -> None:
    raw = written(family, [Call("find_city", {"city": "Oslo"}), Call("clock", {})])
    for several in (True, False):
        allowed = AllowedToolCalls(family.format, (CITY, STRICT_CLOCK), several)
        grammar = constrained_reply(allowed, None, None)
        assert grammar is not None
        assert admits(grammar.text, raw) is several


def test_the_trigger_of_the_grammar_is_the_first_marker(family: Family) -> None:
    grammar = optional_tool_calls(AllowedToolCalls(family.format, TOOLS))
    assert grammar.trigger == region_of(family).starts[0]
    raw = written(family, [Call("clock", {})])
    assert admits(grammar.text, raw if raw.startswith(grammar.trigger) else grammar.trigger + raw)


def written(family: Family, calls: list[Call]) -> str:
    """Calls from their first character to their last, without the ends of messages around them."""
    return family.write(calls).strip().removeprefix(MESSAGE_END).removesuffix(MESSAGE_END).strip()
