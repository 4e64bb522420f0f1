"""What stands around calls: markers, lists, gaps between calls, and what is given back."""

from __future__ import annotations

import pytest
from tests.text.toolcalls.test_json_calls import Heard

from duologue.text.toolcalls.expressions.call_regions import CallRegion, RegionScanner
from duologue.values.messages import Tool

REGION = CallRegion("<c>", "</c>")
TOOLS = (Tool("f", "", {}), Tool("g", "", {}))


class Told(Heard):
    """Also writes down what is given back."""

    def reject(self, text: str, at: int) -> None:
        self.log.append(("reject", text, at))


def read(text: str, start: str = "<c>", size: int = 1000) -> tuple[list[str], list[tuple[str, int]], str | None, bool]:  # fmt: skip
    """Names of the calls, what was given back, what follows the region, and whether its end marker is text."""
    told = Told()
    scanner = RegionScanner(REGION, start, told, TOOLS)
    rest: str | None = None
    for at in range(0, len(text), size):
        piece = text[at : at + size]
        rest = scanner.feed(piece) if rest is None else rest + piece
    if rest is None:
        scanner.finish()
    names = [str(entry[1]) for entry in told.log if entry[0] == "open"]
    return names, [entry[1:] for entry in told.log if entry[0] == "reject"], rest, scanner.unclosed  # type: ignore[misc]


@pytest.mark.parametrize(
    ("text", "names", "rejected", "rest", "unclosed"),
    [
        ("f()</c> x", ["f"], [], " x", False),
        ("[f(), g()]</c>x", ["f", "g"], [], "x", False),
        ("f()\ng()\n</c>", ["f", "g"], [], "", False),
        ("f(); f()</c>", ["f", "f"], [], "", False),
        ('[{"name": "f"}, g()]</c>', ["f", "g"], [], "", False),
        ("f()", ["f"], [], None, False),
        ("f()\n\nText. </c>", ["f"], [("\n\n", 6)], "Text. </c>", False),
        ("[f(), g(x)]</c>", ["f"], [("g(", 9)], "x)]</c>", False),
        ("tag</c>", [], [("<c>", 0)], "tag</c>", True),
        ("[1]</c>", [], [("<c>[", 0)], "1]</c>", True),
        ("</c>x", [], [("<c></c>", 0)], "x", False),
        ("f(", [], [("<c>f(", 0)], None, False),
        (" \n ", [], [("<c> \n ", 0)], None, False),
    ],
)
def test_a_region_in_markers(
    text: str, names: list[str], rejected: list[tuple[str, int]], rest: str | None, unclosed: bool
) -> None:
    for size in (1, 2, 3, 1000):
        assert read(text, size=size) == (names, rejected, rest, unclosed)


@pytest.mark.parametrize(
    ("text", "names", "rejected", "rest"),
    [
        ("f()] x", ["f"], [], " x"),
        ("h()]", [], [("[", 0)], "h()]"),
        ('{"name": "f"}]', [], [("[", 0)], '{"name": "f"}]'),
    ],
)
def test_a_list_without_markers(
    text: str, names: list[str], rejected: list[tuple[str, int]], rest: str | None
) -> None:
    for size in (1, 2, 3, 1000):
        assert read(text, "[", size) == (names, rejected, rest, False)
