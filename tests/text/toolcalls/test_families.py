"""What every family of models must pass, whatever its calls look like."""

from __future__ import annotations

import json

import pytest
from tests.support.tool_call_families import CITY, SIZES, Call, Family, calls_of, read_reply
from tests.text.toolcalls.family_list import FAMILIES

from duologue.text.toolcalls.catalogue import TOOL_FORMATS

ONE = Call("find_city", {"city": "Oslo"})
NONE = Call("clock", {})
HARD = {
    "a quotation": 'He said "hello" and \\left.',
    "line ends": "first\nsecond\n\n  third",
    "braces and brackets": "{[(<>)]} }{ ][ ; , : =",
    "code": "def f(a):\n    return {'a': [1, 2], \"b\": a < 3 and a > 1}",
    "tags of another language": "<p class='x'>5 &lt; 6 &amp; 7</p>",
    "other alphabets": "Ærøskøbing, 東京, Добро, 🜁",
    "blanks at its ends": "  in the middle  ",
    "digits": "007",
    "the word null": "null",
    "JSON": '{"city": "Oslo", "n": [1, 2]}',
    "nothing": "",
    "something like a marker": "<tool <function <| [TOOL <think",
}


def name(family: Family) -> str:
    return family.format


@pytest.fixture(params=FAMILIES, ids=name)
def family(request: pytest.FixtureRequest) -> Family:
    found: Family = request.param
    return found


def read(family: Family, raw: str, **options: object) -> tuple[str, str, list[tuple[str, object]]]:
    """Reasoning, content, and calls with the values of their arguments."""
    reply = read_reply(family.format, raw, tags=family.tags, opened=family.opened, **options)  # type: ignore[arg-type]
    return (
        reply.reasoning,
        reply.content,
        [(name, json.loads(arguments)) for name, arguments in calls_of(reply)],
    )


def test_every_format_of_the_catalogue_has_a_family() -> None:
    assert {family.format for family in FAMILIES} == set(TOOL_FORMATS)


def test_one_call(family: Family) -> None:
    assert read(family, family.write([ONE])) == ("", "", [("find_city", {"city": "Oslo"})])


def test_a_call_without_arguments(family: Family) -> None:
    assert read(family, family.write([NONE])) == ("", "", [("clock", {})])


@pytest.mark.parametrize("family", [one for one in FAMILIES if one.several], ids=name)
def test_several_calls_keep_their_order(family: Family) -> None:
    raw = family.write([ONE, NONE, Call("find_city", {"city": "Bergen"})])
    assert read(family, raw)[2] == [
        ("find_city", {"city": "Oslo"}),
        ("clock", {}),
        ("find_city", {"city": "Bergen"}),
    ]


def test_every_type_of_value(family: Family) -> None:
    arguments: dict[str, object] = {
        "city": "Oslo",
        "days": 3,
        "share": -2.5,
        "exact": True,
        "tags": ["a", "b, c"],
        "place": {"at": [1, 2], "in": {"x": None, "y": "z"}},
        "note": None,
    }
    assert read(family, family.write([Call("find_city", arguments)])) == ("", "", [("find_city", arguments)])


@pytest.mark.parametrize("text", HARD.values(), ids=HARD)
def test_hard_texts_arrive_as_they_were_meant(family: Family, text: str) -> None:
    arguments: dict[str, object] = {"city": text, "days": 1}
    assert read(family, family.write([Call("find_city", arguments)]), everywhere=False) == (
        "",
        "",
        [("find_city", arguments)],
    )


def test_its_own_call_as_a_text_within_a_call(family: Family) -> None:
    """In JSON and in quotes a marker is text. Families that write plain values cannot tell every time: those say so in
    their own tests."""
    inner = family.write([ONE])
    if not inner.isascii() or "find_city" not in inner:
        inner = "x"
    arguments: dict[str, object] = {"city": f"before {inner} after"}
    raw = family.write([Call("find_city", arguments)])
    called, value = read(family, raw, everywhere=False)[2][0]
    assert called == "find_city"
    assert isinstance(value, dict)


def test_digits_are_copied(family: Family) -> None:
    number = 12345678901234567890123
    _, _, calls = read(family, family.write([Call("find_city", {"city": "a", "share": number})]))
    assert calls == [("find_city", {"city": "a", "share": number})]


@pytest.mark.parametrize("family", [one for one in FAMILIES if one.before], ids=name)
def test_text_before_a_call_is_content(family: Family) -> None:
    _, content, calls = read(family, f"{family.lead}Let me see.\n\n{family.write([ONE])}")
    assert content == "Let me see."
    assert calls == [("find_city", {"city": "Oslo"})]


@pytest.mark.parametrize("family", [one for one in FAMILIES if one.after], ids=name)
def test_text_after_a_call_is_content(family: Family) -> None:
    _, content, calls = read(family, f"{family.write([ONE])}\n\nThat is all.")
    assert content.strip() == "That is all."
    assert calls == [("find_city", {"city": "Oslo"})]


def test_a_cut_call_is_never_completed(family: Family) -> None:
    """Wherever a reply is cut, what was passed on is a beginning of the call, and no marker is shown as text once the
    call has begun. Each place is read in pieces of one size, and all sizes have their turn."""
    raw = family.write([Call("find_city", {"city": "Oslo", "days": 3, "tags": ["a"]})])
    whole = read_reply(family.format, raw, tags=family.tags, opened=family.opened, everywhere=False)
    [full] = whole.tool_calls
    for cut in range(1, len(raw)):
        size = SIZES[cut % len(SIZES)]
        reply = read_reply(
            family.format, raw[:cut], tags=family.tags, opened=family.opened, everywhere=False, sizes=(size,)
        )
        assert len(reply.tool_calls) <= 1
        for call in reply.tool_calls:
            assert call.name == full.name
            assert full.arguments.startswith(call.arguments)
            assert reply.content == ""
            assert reply.truncated or call.arguments == full.arguments


@pytest.mark.parametrize("family", [one for one in FAMILIES if one.needs_tools], ids=name)
def test_without_tools_no_call_is_read(family: Family) -> None:
    raw = family.write([ONE])
    reasoning, content, calls = read(family, raw, tools=())
    assert (reasoning, calls) == ("", [])
    assert content.strip()


@pytest.mark.parametrize("family", [one for one in FAMILIES if not one.needs_tools], ids=name)
def test_an_unknown_tool_is_passed_on(family: Family) -> None:
    _, content, calls = read(family, family.write([Call("fly", {"to": "Oslo"})]), tools=(CITY,))
    assert content == ""
    assert calls == [("fly", {"to": "Oslo"})]


def test_a_reply_without_calls_is_content(family: Family) -> None:
    text = "Use a < b, [1, 2] and {x}: f(a=1) is fine.\n\n- one\n- two\n"
    assert read(family, family.lead + text) == ("", text, [])


def test_the_text_of_several_calls_is_read_in_linear_steps(family: Family) -> None:
    """Also a guard against an endless loop: ten thousand characters of a value."""
    long = "x y " * 2500
    [(_, value)] = read(
        family, family.write([Call("find_city", {"city": long, "days": 2})]), everywhere=False
    )[2]
    assert value == {"city": long, "days": 2}
