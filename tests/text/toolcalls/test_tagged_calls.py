"""What all families with tags around each parameter have in common."""

from __future__ import annotations

import json
import random
import time

import pytest
from tests.support.tagged_families import admitted, read, tagged, values
from tests.support.tool_call_families import Call, Family, calls_of
from tests.text.toolcalls.family_list import FAMILIES

from duologue.text.output.parsed import parse_reply
from duologue.text.toolcalls.catalogue import TOOL_FORMATS, tool_format
from duologue.text.toolcalls.tagged_calls import TaggedCalls

TAGGED = [family for family in FAMILIES if isinstance(tool_format(family.format), TaggedCalls)]
WRAPPED = [family for family in TAGGED if tagged(family.format).tags.written["start"]]
OSLO = Call("find_city", {"city": "Oslo"})


@pytest.fixture(params=TAGGED, ids=lambda one: one.format)
def family(request: pytest.FixtureRequest) -> Family:
    found: Family = request.param
    return found


def written(family: Family, name: str) -> str:
    """A tag as the family writes it."""
    return tagged(family.format).tags.written[name]


def start_of(family: Family, call: str = "find_city") -> str:
    """All that stands before the first parameter."""
    raw = family.write([Call(call, {"city": "QQ"})])
    return raw[: raw.index(_parameter(family).strip())]


def _parameter(family: Family, key: str = "city") -> str:
    tag = written(family, "parameter")
    for place in ("{name}", "{word}"):
        tag = tag.replace(place, key)
    return tag.replace("{string}", "true")


def _end(family: Family, key: str = "city") -> str:
    return written(family, "parameter_end").replace("{word}", key)


@pytest.mark.parametrize(
    "arguments",
    [
        {"city": "Oslo"},
        {"city": "a < b\n\nc </p> ]]", "days": 3, "share": -2.5, "exact": True},
        {"city": "x", "tags": ["a"], "place": {"x": [1, None]}, "note": "anything"},
    ],
)
def test_the_grammar_admits_what_the_template_writes(family: Family, arguments: dict[str, object]) -> None:
    assert admitted(family.format, family.write([Call("find_city", arguments)])) or (
        family.format == "minimax_m3" and "tags" in arguments
    )


def test_the_grammar_admits_a_call_without_arguments(family: Family) -> None:
    assert admitted(family.format, family.write([Call("clock", {})]))


@pytest.mark.parametrize(
    "call",
    [Call("fly", {"city": "Oslo"}), Call("find_city", {}), Call("find_city", {"city": "a", "days": "many"})],
)
def test_the_grammar_refuses_other_tools_and_arguments(family: Family, call: Call) -> None:
    assert not admitted(family.format, family.write([call]))


def test_its_markers_are_not_those_of_a_fence(family: Family) -> None:
    starts = tagged(family.format).starts
    assert family.write([OSLO]).startswith(starts[0])


def test_a_closing_tag_in_a_text_is_text_unless_the_format_goes_on(family: Family) -> None:
    for tag in (_end(family).strip(), written(family, "call_end").strip(), _parameter(family, "b").strip()):
        text = f"one {tag} two {tag}"
        raw = family.write([Call("find_city", {"city": text, "days": 1})])
        assert values(family.format, raw) == [("find_city", {"city": text, "days": 1})], tag


def test_whitespace_of_a_text_is_kept_and_that_between_tags_is_none(family: Family) -> None:
    raw = family.write([Call("find_city", {"city": "\n\n  a\tb \n", "days": 1})])
    assert values(family.format, raw) == [("find_city", {"city": "\n\n  a\tb \n", "days": 1})]
    begin, end = start_of(family).rstrip(), written(family, "call_end").strip()
    spaced = f"{begin} \n\n {_parameter(family).strip()}\na\n{_end(family).strip()}\n \n{end}\n\n{written(family, 'end')}"
    [(_, arguments)] = values(family.format, spaced)
    assert arguments == {"city": "a" if tagged(family.format).tags.line_ends else "\na\n"}


def test_several_calls_with_text_around_them(family: Family) -> None:
    one = family.write([OSLO])
    reply = read(family.format, f"First.\n{one}\nThen.\n{one}\nDone.")
    assert [word for word in reply.content.split() if word] == ["First.", "Then.", "Done."]
    assert len(reply.tool_calls) == 2


def test_a_broken_second_call_keeps_the_first(family: Family) -> None:
    raw = family.write([OSLO, Call("clock", {})])
    broken = raw[: raw.rindex(written(family, "call_end").strip())] + "and so on"
    assert calls_of(read(family.format, broken))[0] == ("find_city", '{"city": "Oslo"}')


def test_what_does_not_belong_to_a_call_ends_it(family: Family) -> None:
    reply = read(
        family.format,
        f"{start_of(family)}{_parameter(family)}Oslo{_end(family)}{written(family, 'parameter').strip()[:3]}!!",
    )
    assert not reply.truncated or reply.content == ""
    for call in reply.tool_calls:
        with pytest.raises(json.JSONDecodeError):
            json.loads(call.arguments)


def test_the_opening_tags_in_prose_are_text(family: Family) -> None:
    for start in tagged(family.format).starts:
        for raw in (
            f"The tag {start} opens a call.",
            f"Write {start}",
            f"```xml\n{family.write([OSLO])}\n```",
        ):
            reply = read(family.format, raw)
            assert (reply.content, reply.tool_calls) == (raw, ())


def test_the_arguments_may_be_an_object_of_json(family: Family) -> None:
    begin, end = start_of(family), written(family, "call_end").strip() + written(family, "end")
    raw = begin + ' {"city": "</x> \\"Oslo\\"", "share": 1.50e3}\n' + end
    reply = read(family.format, raw)
    assert calls_of(reply) == [("find_city", '{"city": "</x> \\"Oslo\\"", "share": 1.50e3}')]
    assert reply.content == ""
    cut = read(family.format, begin + '{"city": "Os')
    assert cut.truncated
    assert calls_of(cut) == [("find_city", '{"city": "Os')]
    assert calls_of(read(family.format, begin + '{"city": "a"}')) == [("find_city", '{"city": "a"}')]


def test_braces_that_are_no_json_are_text(family: Family) -> None:
    raw = start_of(family) + "{name} goes here"
    assert read(family.format, raw).content == raw


@pytest.mark.parametrize("family", WRAPPED, ids=lambda one: one.format)
def test_a_call_without_its_wrapper_counts_if_the_tool_is_offered(family: Family) -> None:
    def bare(name: str) -> str:
        raw = family.write([Call(name, {"city": "Oslo"})])
        return raw.removeprefix(written(family, "start")).removesuffix(written(family, "end")).strip()

    assert values(family.format, bare("find_city")) == [("find_city", {"city": "Oslo"})]
    assert read(family.format, bare("fly")).tool_calls == ()


@pytest.mark.parametrize("family", WRAPPED, ids=lambda one: one.format)
def test_missing_closing_tags_where_the_next_one_is_clear(family: Family) -> None:
    whole = family.write([OSLO])
    call_end, end = written(family, "call_end").strip(), written(family, "end")
    for tag in (call_end, end):
        raw = whole.replace(tag, "")
        assert values(family.format, raw) == [("find_city", {"city": "Oslo"})], tag
    raw = whole.replace(_end(family).strip(), "").rstrip()
    [(_, arguments)] = values(family.format, raw)
    assert str(arguments["city"]).strip() == "Oslo"  # type: ignore[index]


def test_a_long_text_is_passed_on_as_it_is_written(family: Family) -> None:
    raw = start_of(family) + _parameter(family) + "line < x\n" * 300
    reply = parse_reply(raw, format=family.format, chunk=4)
    assert reply.truncated
    assert len(reply.tool_calls[0].arguments) > 2500


def test_pieces_of_the_format_in_any_order_read_the_same_in_every_cutting(family: Family) -> None:
    chance = random.Random(11)
    tags = tagged(family.format).tags.written
    parts = [
        tag.replace("{name}", "city").replace("{word}", "city").replace("{bare}", "clock")
        for tag in tags.values()
    ]
    parts += ["\n", " ", "x", "<", "]", "\\n", '{"a": 1}', "`"]
    for _ in range(60):
        raw = "".join(chance.choices(parts, k=chance.randint(1, 12)))
        whole = parse_reply(raw, format=family.format)
        for chunk in (1, 2, 5):
            assert parse_reply(raw, format=family.format, chunk=chunk) == whole, raw


@pytest.mark.parametrize("part", ["<", "\n", " ", "]<]"])
def test_the_cost_is_linear_in_the_text(family: Family, part: str) -> None:
    parts = (
        [part]
        if part != "<"
        else ["<", _end(family), _parameter(family)[:-1], written(family, "call_end") + " "]
    )

    def seconds(piece: str, times: int) -> float:
        raw = f"{start_of(family)}{_parameter(family)}{piece * times}"
        begin = time.perf_counter()
        parse_reply(raw, format=family.format, chunk=7)
        return time.perf_counter() - begin

    for piece in parts:
        small = min(seconds(piece, 100) for _ in range(3))
        assert seconds(piece, 800) < small * 8 * 8 + 0.5


def test_every_family_with_tags_is_here() -> None:
    kinds = ("elements.", "key_values.")
    assert {one.format for one in TAGGED} >= {
        name for name, entry in TOOL_FORMATS.items() if entry.module.startswith(kinds)
    }
