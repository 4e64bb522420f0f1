"""Stop strings are found however the text is cut, and never shown."""

from __future__ import annotations

import sys
from types import FrameType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duologue.text.stream.stops import StopMatcher

WORDS = st.lists(st.text("ab<", min_size=1, max_size=4), max_size=4)


def run(stops: list[str], pieces: list[str]) -> tuple[str, str | None]:
    made, shown, hit = StopMatcher(stops), "", None
    for piece in pieces:
        text, hit = made.feed(piece)
        shown += text
    return shown + made.finish(), hit


def first_stop(stops: list[str], text: str) -> tuple[str, str | None]:
    """What the machine should say, found the slow way: the first end of a stop, then the longest stop there."""
    for end in range(1, len(text) + 1):
        for stop in sorted((stop for stop in stops if stop), key=len, reverse=True):
            if text[:end].endswith(stop):
                return text[: end - len(stop)], stop
    return text, None


@settings(max_examples=500)
@given(stops=WORDS, text=st.text("ab<c", max_size=30), size=st.integers(1, 5))
def test_the_first_stop_wins_wherever_the_text_is_cut(stops: list[str], text: str, size: int) -> None:
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    assert run(stops, pieces) == first_stop(stops, text)


@settings(max_examples=300)
@given(stops=WORDS, text=st.text("ab<c", max_size=30))
def test_only_what_may_become_a_stop_is_held(stops: list[str], text: str) -> None:
    made, shown = StopMatcher(stops), ""
    for index, char in enumerate(text):
        safe, hit = made.feed(char)
        shown += safe
        if hit is not None:
            break
        held = text[len(shown) : index + 1]
        longest = max(
            (
                n
                for n in range(index + 2)
                if any(s.startswith(text[index + 1 - n : index + 1]) for s in stops if s)
            ),
            default=0,
        )
        assert len(held) == longest


@pytest.mark.parametrize("pieces", [["Hello\nUs", "er: hi"], ["Hello\nUser: hi"], list("Hello\nUser: hi")])
def test_a_stop_across_pieces_is_never_partly_shown(pieces: list[str]) -> None:
    assert run(["\nUser:"], pieces) == ("Hello", "\nUser:")


def test_what_was_held_is_shown_when_the_text_ends() -> None:
    assert run(["END"], ["the EN"]) == ("the EN", None)


def test_after_a_stop_nothing_is_shown() -> None:
    made = StopMatcher(["."])
    assert made.feed("a.b") == ("a", ".")
    assert made.feed("c") == ("", ".")
    assert made.finish() == ""


def test_of_stops_that_end_together_the_longest_is_meant() -> None:
    assert run(["b", "ab", "xab"], ["1ab"]) == ("1", "ab")


def test_no_stops_and_empty_stops_change_nothing() -> None:
    assert run([], ["a", "b"]) == ("ab", None)
    assert run([""], ["a", "b"]) == ("ab", None)


def test_the_work_does_not_grow_with_the_length_of_a_stop() -> None:
    """Text that nearly matches everywhere: the automaton still looks at each character a bounded number of times."""

    def work(stop: str) -> int:
        done, made = 0, StopMatcher([stop])

        def note(frame: FrameType, event: str, argument: object) -> None:
            nonlocal done
            done += 1

        sys.setprofile(note)
        try:
            for _ in range(2000):
                made.feed("aaaa")
        finally:
            sys.setprofile(None)
        return done

    assert work("a" * 1000 + "b") <= work("a" * 10 + "b") + 2000


def test_it_is_known_whether_text_is_held_back():
    made = StopMatcher(["two three"])
    held = []
    for piece in ("one ", "two", " ", "four", " two", " three"):
        made.feed(piece)
        held.append(made.holds)
    assert held == [False, True, True, False, True, False]
