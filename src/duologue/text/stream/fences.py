"""Code in Markdown, followed while the text is being written: fenced blocks and inline code.

Owns one answer: does the text so far end inside code, where a marker is quoted and not meant? The rules are
CommonMark's, read in the direction of a stream:

* A fence opens with three or more backticks or tildes, first on their line (spaces and `>` may precede), and closes
  with as many of the same, alone on their line. A backtick on the opening line makes it inline code instead.
* Inline code opens with a run of backticks and closes with a run as long, but reaches no further than its line: a
  backtick someone forgot to close must not hide a tool call on a later line.

Knows no marker.
"""

from __future__ import annotations

INDENT = " \t\r>"


class CodeSpans:
    """Fed with stretches of text, runs of backticks or tildes, and line ends, in order; a run may come in pieces."""

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
        """A new line outside code."""
        self._blank = True
        """Nothing but indentation on this line so far."""
        self._fence, self._size = "", 0
        self._opening = False
        self._closing = False
        self._inline = 0
        self._run, self._run_size, self._run_blank = "", 0, False

    @property
    def calm(self) -> bool:
        """Whether text without backticks, tildes and line ends would change nothing."""
        return not (self._blank or self._run or self._closing)

    @property
    def inside(self) -> bool:
        """Whether what comes next, if it is neither a backtick nor a tilde, stands in code."""
        self._end_run()
        return bool(self._fence or self._inline)

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
        self._end_run()
        if self._closing:
            self._fence, self._size = "", 0
        self._blank = True
        self._opening = self._closing = False
        self._inline = 0

    def _end_run(self) -> None:
        """What the run meant is known once it is over."""
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
