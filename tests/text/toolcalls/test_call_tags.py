"""Spellings of tags: what they fit, and when more text decides."""

from __future__ import annotations

import re

import pytest

from duologue.text.toolcalls.call_tags import ESCAPED_SPACE, LONGEST_NAME, CallTags, Tag, name_in

SPELLINGS = [
    ("<function={name}>", "<function=f g>", "f g"),
    ('<f{space}name="{name}"{attributes}>', '<f \nname="a" id="1">', "a"),
    ("<call>{space}{bare}", "<call> f<", "f"),
    ("<call{suffix}>{bare}<sep{suffix}>", "<call:x>f<sep:x>", "f"),
    ("</{word}>", "</a-b>", "a-b"),
    ("<{blank}f {name}>", "< f a>", "a"),
    ("<call>", "<call>", ""),
]


@pytest.mark.parametrize(("spelling", "text", "name"), SPELLINGS)
def test_a_tag_is_unfinished_until_it_is_there(spelling: str, text: str, name: str) -> None:
    tag = Tag([spelling])
    whole = text.removesuffix("<") if "{bare}" in spelling[-6:] else text
    for end in range(len(text)):
        assert tag.read(text[:end], 0) == "unfinished", text[:end]
    match = tag.read(f"ab{text}rest", 2)
    assert isinstance(match, re.Match)
    assert (match[0], name_in(match)) == (whole, name)


@pytest.mark.parametrize(
    "text", ["<functions", "<function=>", "<function=a\n", "x", "<function=" + "a" * 201]
)
def test_anything_else_is_none(text: str) -> None:
    assert Tag(["<function={name}>"]).read(text, 0) is None
    assert LONGEST_NAME == 200


def test_the_first_spelling_counts_and_waits_for_its_end() -> None:
    tag = Tag(["</a>{space}<b>", "</a>"])
    assert tag.read("</a> ", 0) == "unfinished"
    match = tag.read("</a> <c", 0)
    assert isinstance(match, re.Match)
    assert match[0] == "</a>"


def test_a_line_end_may_be_written_as_two_characters() -> None:
    tag = Tag(["<k>{space}<v>"], ESCAPED_SPACE)
    assert isinstance(tag.read("<k>\\n \\n<v>", 0), re.Match)
    assert tag.read("<k>\\", 0) == "unfinished"
    assert tag.read("<k>\\t<v>", 0) is None


def tags() -> CallTags:
    return CallTags(
        start="<all>\n",
        call="<call {name}>\n",
        parameter="<p {name}>\n",
        parameter_end="\n</p>\n",
        call_end="</call>\n",
        end="</all{suffix}>",
        others={"start": ("<all{suffix}>",), "end": ("</all>",)},
        space=ESCAPED_SPACE,
    )


def test_the_markers_of_a_region_are_the_fixed_beginnings_of_its_tags() -> None:
    assert tags().starts == ("<all>", "<all", "<call ")
    assert tags().ends == ("</all>",)
    assert tags().line_ends
    assert not tags().named_ends


@pytest.mark.parametrize(
    ("text", "stop", "undecided"), [("x", 0, False), (" \n\\nx", 4, False), (" ", 1, True), ("\\", 0, True)]
)
def test_whitespace_between_tags(text: str, stop: int, undecided: bool) -> None:
    assert tags().after_space(text, 0) == (stop, undecided)
