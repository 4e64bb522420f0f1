"""Which whitespace of a channel is text."""

from __future__ import annotations

from duologue.text.output.channel import Channel
from duologue.values.events import Delta, ReasoningDelta, TextDelta


class Written:
    """A channel and what came out of it."""

    def __init__(self, *, keeps: bool = True, holds_ends: bool = True) -> None:
        self.deltas: list[Delta] = []
        self.starts: list[int] = []
        kind = TextDelta if keeps else ReasoningDelta
        self.channel = Channel(kind, self._put, keeps=keeps, holds_ends=holds_ends)

    def _put(self, delta: Delta, start: int) -> None:
        self.deltas.append(delta)
        self.starts.append(start)


def test_text_goes_out_with_its_place() -> None:
    out = Written()
    out.channel.write(7, "Hello there")
    assert (out.deltas, out.starts) == ([TextDelta("Hello there")], [7])


def test_line_ends_wait_for_the_next_text() -> None:
    out = Written()
    out.channel.write(0, "One\n\n")
    assert out.deltas == [TextDelta("One")]
    out.channel.write(5, "two")
    assert out.deltas == [TextDelta("One"), TextDelta("\n\ntwo")]


def test_a_channel_that_no_call_can_follow_holds_no_line_ends() -> None:
    out = Written(holds_ends=False)
    out.channel.write(0, "One\n")
    assert out.deltas == [TextDelta("One\n")]


def test_line_ends_at_the_end_are_text() -> None:
    out = Written()
    out.channel.write(0, "One\n")
    out.channel.finish()
    assert out.deltas == [TextDelta("One"), TextDelta("\n")]


def test_whitespace_alone_is_no_text() -> None:
    out = Written()
    out.channel.write(0, " \n")
    out.channel.finish()
    assert out.deltas == []


def test_blank_lines_before_the_first_text_after_a_part_are_dropped() -> None:
    out = Written()
    out.channel.part()
    out.channel.write(20, "\n\n")
    out.channel.write(22, "  Hi")
    assert (out.deltas, out.starts) == ([TextDelta("  Hi")], [22])


def test_stretches_that_lie_apart_in_the_raw_text_are_deltas_of_their_own() -> None:
    out = Written()
    out.channel.write(0, "One\n")
    out.channel.part()
    out.channel.write(50, "two")
    assert out.deltas == [TextDelta("One"), TextDelta("\n"), TextDelta("two")]
    assert out.starts == [0, 3, 50]


def test_reasoning_drops_the_whitespace_at_the_end_of_a_span() -> None:
    out = Written(keeps=False, holds_ends=False)
    out.channel.part()
    out.channel.write(0, "\n")
    out.channel.part()
    out.channel.write(30, "so")
    assert out.deltas == [ReasoningDelta("so")]
