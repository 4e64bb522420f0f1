"""What `channels.py` looks for in one channel: its markers and, where code is followed, what code begins and ends with."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from duologue.text.stream.markers import NEVER, Markers


class ChannelMarkers:
    """What is searched for in a channel: its markers and, where code is followed, the characters code begins and ends
    with, and words that count only at the beginning of a line. `stops`: further characters that are no plain text."""

    __slots__ = (
        "follows_code",
        "line_starts",
        "markers",
        "may_begin_marker",
        "may_begin_marker_or_line",
        "may_begin_word",
        "tokens",
    )

    def __init__(
        self, words: Sequence[str], code_marks: str, line_starts: Sequence[str] = (), stops: str = ""
    ) -> None:
        self.line_starts = frozenset(line_starts if code_marks else ())
        self.markers = Markers((*words, *self.line_starts))
        first_words = Markers(words).first_characters
        self.follows_code = bool(code_marks)
        self.tokens = self.markers.pattern
        if code_marks:
            self.tokens = re.compile(self.markers.pattern.pattern + r"|`+|~+|\n")
        # Words that count only where a line begins need no look elsewhere: the fast path begins after that.
        first_characters = re.escape(first_words + code_marks + stops)
        self.may_begin_marker: Callable[[str], object] = re.compile(
            f"[{first_characters}]" if first_characters else NEVER
        ).search
        """Finds a character at which a marker or code could begin or a line ends; none means the text is plain."""
        self.may_begin_word: Callable[[str], object] | None = None
        """Finds a character at which a marker could begin, where code is followed and only marks of code besides."""
        if code_marks and not line_starts:
            self.may_begin_word = re.compile(f"[{re.escape(first_words)}]" if first_words else NEVER).search
        plain_line = re.escape(" \t\r\n>`~" + self.markers.first_characters)
        tick = "`" if code_marks else ""
        self.may_begin_marker_or_line: Callable[[str], object] = re.compile(
            rf"[{re.escape(first_words + tick)}]|\n(?![^{plain_line}])" if first_words + tick else r"\n"
        ).search
        """The same for text that begins within a line, outside code, where a line end counts for nothing if the next
        character is plain: no whitespace that may have to be held back, and nothing that a fence or a marker begins
        with. It looks closer and takes longer."""
