"""The scanner of names before JSON, with markers of no family."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import pytest

from duologue.text.toolcalls.named_json.named_calls import LONGEST_HEAD, NamedCallFormat, NamedCalls

FORMAT = NamedCallFormat(
    NamedCalls(
        sections=("<S>",),
        section_ends=("</S>",),
        calls=("<C>",),
        call_ends=("</C>",),
        separators=("|",),
        fenced=True,
        before='"<C>"',
        after='"|"',
    )
)


class Heard:
    """A sink that writes down what it is told."""

    def __init__(self) -> None:
        self.events: list[tuple[object, ...]] = []

    def open(self, name: str, id: str | None = None) -> None:
        self.events.append(("open", name, ""))

    def arguments(self, text: str) -> None:
        self.events[-1] = (*self.events[-1][:2], str(self.events[-1][2]) + text)

    def close(self, valid: bool) -> None:
        self.events.append(("close", valid))

    def reject(self, text: str, at: int) -> None:
        last = self.events[-1] if self.events else ()
        if last[:1] == ("reject",) and int(str(last[2])) + len(str(last[1])) == at:
            self.events[-1] = ("reject", f"{last[1]}{text}", last[2])
        else:
            self.events.append(("reject", text, at))

    def enter(self, channel: Literal["content", "reasoning"]) -> None:
        self.events.append(("enter", channel))


def heard(start: str, pieces: Sequence[str]) -> tuple[list[tuple[object, ...]], str | None]:
    sink = Heard()
    scanner = FORMAT.scanner(start, sink, ())
    for at, piece in enumerate(pieces):
        rest = scanner.feed(piece)
        if rest is not None:
            return sink.events, rest + "".join(pieces[at + 1 :])
    scanner.finish()
    return sink.events, None


@pytest.mark.parametrize(
    ("start", "text", "events", "rest"),
    [
        ("<S>", '<C>f|{"a": 1}</C></S> x', [("open", "f", '{"a": 1}'), ("close", True)], " x"),
        ("<C>", 'f|{"a": 1} x', [("open", "f", '{"a": 1}'), ("close", True)], " x"),
        ("<C>", "f|```json\n{}\n```</C>x", [("open", "f", "{}"), ("close", True)], "x"),
        ("<S>", "no call", [("reject", "<S>", 0)], "no call"),
        ("<S>", "<C>two words|{}", [("reject", "<S><C>", 0)], "two words|{}"),
        ("<S>", "<C>f|1</C></S>x", [("reject", "<S><C>f|1</C></S>", 0)], "x"),
    ],
)
def test_a_region_reads_the_same_in_every_cutting(
    start: str, text: str, events: list[tuple[object, ...]], rest: str
) -> None:
    for size in range(1, len(text) + 1):
        pieces = [text[at : at + size] for at in range(0, len(text), size)]
        assert heard(start, pieces) == (events, rest)


def test_what_stands_before_the_arguments_is_short() -> None:
    events, rest = heard("<C>", ["x"] * (LONGEST_HEAD + 10))
    assert events[0][0] == "reject"
    assert rest is not None


def test_a_cut_call_stands_as_it_is() -> None:
    assert heard("<C>", ['f|{"a": ']) == ([("open", "f", '{"a": ')], None)
