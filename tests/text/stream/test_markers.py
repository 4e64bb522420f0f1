"""Markers in text that comes in pieces."""

from __future__ import annotations

from duologue.text.stream.markers import Markers

MARKERS = Markers(("<a>", "<ab>", "[x"))


def test_the_longer_of_two_markers_is_found() -> None:
    match = Markers(("<a", "<ab>")).pattern.search("x<ab>")
    assert match is not None
    assert match[0] == "<ab>"


def test_the_end_that_may_become_a_marker_is_held() -> None:
    assert MARKERS.hold("text <a") == 5
    assert MARKERS.hold("text <") == 5
    assert MARKERS.hold("<<") == 1
    assert MARKERS.hold("text [") == 5


def test_nothing_is_held_that_cannot_become_one() -> None:
    for text in ("text", "", "<c", "<a>", "< ", "[y"):
        assert MARKERS.hold(text) == len(text)


def test_a_whole_marker_that_may_grow_is_held() -> None:
    assert Markers(("<a", "<ab>")).hold("x<a") == 1


def test_at_and_begins_tell_whole_from_half() -> None:
    assert MARKERS.at("x<ab>", 1) == "<ab>"
    assert MARKERS.at("x<ab", 1) is None
    assert MARKERS.begins("x<ab", 1)
    assert not MARKERS.begins("x<ab>", 1)
    assert not MARKERS.begins("a" * 50, 0)


def test_no_markers_never_match() -> None:
    none = Markers(("",))
    assert none.pattern.search("anything") is None
    assert none.hold("anything") == 8
    assert none.first_characters == ""
