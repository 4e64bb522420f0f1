"""Does a text end inside code?"""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.text.stream.fences import CodeSpans


def ends_inside(text: str, size: int) -> bool:
    spans = CodeSpans()
    for at in range(0, len(text), size):
        for token in re.findall(r"`+|~+|\n|[^`~\n]+", text[at : at + size]):
            if token == "\n":
                spans.newline()
            elif token[0] in "`~":
                spans.run(token)
            else:
                spans.text(token)
    return spans.inside


@pytest.mark.parametrize("size", [1, 2, 3, 1000])
@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("plain ", False),
        ("a `b", True),
        ("a `b` c", False),
        ("a ``b` c", True),
        ("a ``b`` c", False),
        ("a `b\nc", False),
        ("```\ncode", True),
        ("```python\ncode\n", True),
        ("```\ncode\n```\n", False),
        ("```\ncode\n``` \nafter", False),
        ("```\ncode\n```` \nafter", False),
        ("````\ncode\n```\nstill", True),
        ("```\ncode\n```python\nstill", True),
        ("```\ncode\n~~~\nstill", True),
        ("~~~\ncode `\n~~~\n", False),
        ("~~~ info ` tick\ncode", True),
        ("  ```\ncode", True),
        ("> ```\n> code", True),
        ("text ```\nnext line", False),
        ("```inline``` after", False),
        ("``` a ` b", True),
        ("~~ struck ~~ ", False),
        ("`` ` ``x", False),
    ],
)
def test_code_is_followed_as_commonmark_has_it(text: str, inside: bool, size: int) -> None:
    assert ends_inside(text, size) is inside


@given(text=st.text("ab `~>\n\t", max_size=60), size=st.integers(1, 20))
def test_a_text_as_a_whole_is_the_same_as_its_stretches(text: str, size: int) -> None:
    spans = CodeSpans()
    for at in range(0, len(text), size):
        spans.take(text[at : at + size])
    assert spans.inside is ends_inside(text, size)


@given(text=st.text("ab `~>\n\t", max_size=40), size=st.integers(1, 9))
def test_a_block_that_is_passed_ends_where_reading_it_ends_it(text: str, size: int) -> None:
    read, passed = CodeSpans(), CodeSpans()
    for spans in (read, passed):
        spans.take("```\n")
    for at in range(0, len(text), size):
        piece = text[at : at + size]
        read.take(piece)
        if passed.place != "block" or not passed.pass_block(piece):
            passed.take(piece)
    for spans in (read, passed):
        spans.take("\nx")
    assert passed.inside is read.inside


def test_restart_forgets_everything() -> None:
    spans = CodeSpans()
    spans.run("```")
    spans.newline()
    assert spans.inside
    spans.restart()
    assert not spans.inside
