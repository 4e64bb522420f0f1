"""Does a text end inside code?"""

from __future__ import annotations

import re

import pytest

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


def test_restart_forgets_everything() -> None:
    spans = CodeSpans()
    spans.run("```")
    spans.newline()
    assert spans.inside
    spans.restart()
    assert not spans.inside
