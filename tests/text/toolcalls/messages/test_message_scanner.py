"""Headers of messages, whatever a family makes of them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from duologue.text.stream.markers import Markers
from duologue.text.toolcalls import ToolCallScanner
from duologue.text.toolcalls.json_region import JsonRegion, JsonRegionScanner
from duologue.text.toolcalls.messages.message_scanner import LONGEST_HEADER, MessageKind, MessageScanner


class Sink:
    def __init__(self) -> None:
        self.events: list[tuple[object, ...]] = []

    def open(self, name: str, id: str | None = None) -> None:
        self.events.append(("open", name))

    def arguments(self, text: str) -> None:
        self.events.append(("arguments", text))

    def close(self, valid: bool) -> None:
        self.events.append(("close", valid))

    def reject(self, text: str, at: int) -> None:
        self.events.append(("reject", text, at))

    def enter(self, channel: str) -> None:
        self.events.append(("enter", channel))


class Headers(MessageScanner):
    """`<` and a word of letters, to `>`: `t` is a thought, `c` a call, other words text for the user."""

    markers = Markers("<>")

    def kind(self, header: str, marker: str) -> MessageKind | None:
        if marker == "<" and not header:
            return None
        if marker == ">":
            return {"<t": "reasoning", "<c": "calls"}.get(header, "content")  # type: ignore[return-value]
        return None if not marker and header.removeprefix("<").isalpha() else "text"

    def calls(self, header: str) -> ToolCallScanner:
        return JsonRegionScanner(JsonRegion(("<",), (";",)), header, self._sink, self._tools)


def scanned(*pieces: str) -> tuple[str | None, list[tuple[object, ...]]]:
    """What follows the region, and what the sink was told."""
    sink = Sink()
    scanner, rest = Headers("<", sink, ()), None
    left: Sequence[str] = pieces
    while left and rest is None:
        rest, left = scanner.feed(left[0]), left[1:]
    if rest is None:
        scanner.finish()
    return None if rest is None else rest + "".join(left), sink.events


@pytest.mark.parametrize("pieces", [("t> x",), ("t", ">", " x")])
def test_the_region_of_a_message_is_its_header(pieces: Sequence[str]) -> None:
    assert scanned(*pieces) == (" x", [("enter", "reasoning")])


def test_a_call_is_read_by_the_familys_scanner() -> None:
    rest, events = scanned("c>", '{"name": "f", "argu', 'ments": {}};', "x")
    assert rest == "x"
    assert [event for event in events if event[0] != "arguments"] == [("open", "f"), ("close", True)]


def test_what_is_no_call_comes_back_with_its_header() -> None:
    assert scanned("c>", "no") == ("no", [("reject", "<c>", 0)])


@pytest.mark.parametrize("pieces", [("a<t>x",), ("a", "<t>x")])
def test_a_header_that_is_none_is_text_up_to_the_marker(pieces: Sequence[str]) -> None:
    assert scanned(*pieces) == ("<t>x", [("reject", "<a", 0)])


def test_a_region_takes_at_least_its_first_marker() -> None:
    sink = Sink()
    assert Headers(">", sink, ()).feed("x") == "x"
    assert sink.events == [("enter", "content")]


def test_a_header_is_text_as_soon_as_it_can_be_none() -> None:
    assert scanned("a b") == ("", [("reject", "<a b", 0)])
    long = "a" * LONGEST_HEADER
    assert scanned(long) == ("", [("reject", f"<{long}", 0)])


def test_a_header_that_is_cut_off_is_text() -> None:
    assert scanned("a") == (None, [("reject", "<a", 0)])


def test_it_says_what_it_holds_back() -> None:
    scanner = Headers("<", Sink(), ())
    scanner.feed("ab")
    assert scanner.pending is not None
    assert scanner.pending.text == "<ab"
    scanner = Headers("<", Sink(), ())
    scanner.feed('c>{"name"')
    assert scanner.pending is not None
    assert scanner.pending.text == '<c>{"name"'
