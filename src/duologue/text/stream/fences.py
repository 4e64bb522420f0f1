"""Follows code in Markdown while the text is being written: fenced blocks and inline code.

Answers one question for `output/channels.py`: does the text so far end inside code, where a marker is quoted and not
meant? The rules are CommonMark's, applied to a stream:

* A fence opens with three or more backticks or tildes, first on their line (spaces and `>` may precede), and closes
  with as many of the same, alone on their line. A backtick on the opening line makes it inline code instead.
* Inline code opens with a run of backticks and closes with a run of the same length, but ends with its line: a
  backtick that was never closed must not hide a tool call on a later line.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

Place = Literal["text", "code", "block", "undecided"]
"""Within a line of text; within inline code or the opening line of a fenced block; within the block, where only a line that
closes it counts; or at a line's beginning or after marks, where the next characters decide."""
INDENT = " \t\r>"
MAY_GO_ON = INDENT + "\n"
"""What ends a text whose last line may be nothing but indentation."""
_LINE = rf"[{INDENT}]*(?:{{mark}}|\Z)"
LATER_LINES = {mark: re.compile("\n" + _LINE.format(mark=mark)) for mark in "`~"}
"""A later line that may close a fence of these marks, or that has nothing but indentation so far."""
ANY_LINE = {mark: re.compile(r"(?:\A|\n)" + _LINE.format(mark=mark)) for mark in "`~"}
"""The same, for a text that begins where a line does."""
STRETCHES = re.compile(r"[^`~\n]+|`+|~+|\n").findall
SHORT_STRETCHES = lru_cache(maxsize=1024)(STRETCHES)
"""The same for texts of SHORT characters at most: what models write between two line ends recurs, and looking it up takes a fifth."""
SHORT = 16


class CodeSpans:
    """Takes stretches of text, runs of backticks or tildes, and line ends, in order; a run may come in pieces."""

    __slots__ = (
        "_blank",
        "_closing",
        "_fence",
        "_inline",
        "_opening",
        "_run",
        "_run_blank",
        "_run_size",
        "_size",
    )

    def __init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Begin a new line outside code."""
        self._blank = True
        """Only indentation on this line so far."""
        self._fence, self._size = "", 0
        self._opening = False
        self._closing = False
        self._inline = 0
        self._run, self._run_size, self._run_blank = "", 0, False

    @property
    def place(self) -> Place:
        """What the next character is in."""
        if self._run or self._closing:
            return "undecided"
        if self._fence and not self._opening:
            return "block"
        if self._blank:
            return "undecided"
        return "code" if self._fence or self._inline else "text"

    @property
    def at_line_start(self) -> bool:
        """Whether the next character would be the first of its line, outside a fence."""
        self._end_run()
        return self._blank and not self._fence

    @property
    def inside(self) -> bool:
        """Whether the next character, unless it is a backtick or a tilde, is in code."""
        self._end_run()
        return bool(self._fence or self._inline)

    @property
    def line_begun(self) -> bool:
        """Whether the line has more than indentation."""
        return not self._blank

    def pass_block(self, text: str) -> bool:
        """Take any text in the place "block". False, and nothing is taken, if it has a line that may
        close the block."""
        fence = self._fence
        if text[-1] not in MAY_GO_ON and fence not in text:
            self._blank = False
            return True
        found = (ANY_LINE if self._blank else LATER_LINES)[fence].search(text)
        if found is None:
            self._blank = False
            return True
        if text[found.end() - 1] == fence:
            return False
        self._blank = True
        return True

    def continues(self, mark: str) -> bool:
        """Whether `mark`, a backtick or a tilde, would be more of the run that ends the text."""
        return self._run == mark

    def take(self, text: str) -> None:
        """Any text: what the three methods below take, in order."""
        for stretch in SHORT_STRETCHES(text) if len(text) <= SHORT else STRETCHES(text):
            mark = stretch[0]
            if mark == "\n":
                self.newline()
            elif mark in "`~":
                self.run(stretch)
            else:  # As `text`, without the call: most stretches are of this kind.
                if self._run:
                    self._end_run()
                if (self._blank or self._closing) and stretch.strip(INDENT):
                    self._blank = self._closing = False

    def text(self, stretch: str) -> None:
        """A stretch without backticks, tildes and line ends."""
        if not stretch:
            return
        self._end_run()
        if (self._blank or self._closing) and stretch.strip(INDENT):
            self._blank = self._closing = False

    def run(self, ticks: str) -> None:
        """One or more of the same: backticks or tildes."""
        if self._run != ticks[0]:
            self._end_run()
            self._run, self._run_size, self._run_blank = ticks[0], 0, self._blank
        self._run_size += len(ticks)

    def newline(self) -> None:
        """A line end."""
        if self._run:
            self._end_run()
        if self._closing:
            self._fence, self._size = "", 0
        self._blank = True
        self._opening = self._closing = False
        self._inline = 0

    def _end_run(self) -> None:
        """Interpret a run once its length is known."""
        mark, size = self._run, self._run_size
        if not mark:
            return
        self._run, self._blank = "", False
        if self._fence:
            if self._opening and mark == self._fence == "`":
                self._inline = 0 if size == self._size else self._size
                self._fence, self._opening = "", False
            else:
                self._closing = self._run_blank and mark == self._fence and size >= self._size
        elif self._run_blank and size >= 3:
            self._fence, self._size, self._opening = mark, size, True
        elif mark == "`":
            if not self._inline:
                self._inline = size
            elif self._inline == size:
                self._inline = 0
