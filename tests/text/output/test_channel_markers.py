"""What is looked for in a channel."""

from __future__ import annotations

from duologue.text.output.channel_markers import ChannelMarkers


def test_text_without_the_first_character_of_a_marker_begins_none() -> None:
    markers = ChannelMarkers(("<a>", "[b]"), "")
    assert markers.may_begin_marker("plain `text`\n") is None
    assert markers.may_begin_marker("x [") is not None


def test_without_markers_nothing_begins_one() -> None:
    assert ChannelMarkers((), "").may_begin_marker("<`\n") is None


def test_further_characters_stop_the_fast_path_and_are_no_markers() -> None:
    markers = ChannelMarkers(("<a>",), "", stops="\n")
    assert markers.may_begin_marker("x\n") is not None
    assert markers.tokens.findall("x\n<a>") == ["<a>"]


def test_where_code_is_followed_its_marks_are_looked_at_too() -> None:
    markers = ChannelMarkers(("<a>",), "`~\n")
    assert markers.tokens.findall("a ``b`` <a> ~~~\n") == ["``", "``", "<a>", "~~~", "\n"]


def test_words_of_line_starts_count_where_code_is_followed() -> None:
    assert ChannelMarkers(("<a>",), "`~\n", ("{",)).tokens.findall("{<a>") == ["{", "<a>"]
    assert ChannelMarkers(("<a>",), "", ("{",)).tokens.findall("{<a>") == ["<a>"]
