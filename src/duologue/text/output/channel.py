"""One channel of a reply on its way out, content or reasoning: decides which whitespace is text. `channels.py` writes to it."""

from __future__ import annotations

from collections.abc import Callable

from duologue.text.stream.held_text import SHOWN, HeldText, held_text
from duologue.values.events import Delta, ReasoningDelta, TextDelta

WHITESPACE = " \t\r\n"

Put = Callable[[Delta, int], None]
"""Takes a delta and where its text began in the raw text; -1 for a piece of a call."""


class Channel:
    """Holds back whitespace that is only structure if no text follows it."""

    __slots__ = ("_delta", "_held", "_holds_ends", "_keeps", "_leads", "_put", "fresh")

    def __init__(
        self, delta: type[TextDelta] | type[ReasoningDelta], put: Put, *, keeps: bool, holds_ends: bool
    ) -> None:
        self._delta, self._put = delta, put
        self._keeps, self._holds_ends = keeps, holds_ends
        self._held: list[tuple[int, str]] = []
        self.fresh = True
        """This part has no text yet."""
        self._leads: bool | None = None
        """Whether the next text is the channel's first and follows another part, so that blank lines before it are
        structure; None while there was neither."""

    @property
    def transparent(self) -> bool:
        """Whether text without a line end can be emitted as it comes."""
        return not (self.fresh or self._held)

    @property
    def held(self) -> HeldText | None:
        """The whitespace that is held back."""
        pieces = [piece for _, piece in self._held[-SHOWN - 1 :]]
        kind = "line ends" if any("\n" in piece for piece in pieces) else "white space"
        return held_text(pieces, f"{kind}, until text follows")

    @property
    def untouched(self) -> bool:
        """Whether nothing but whitespace was written, and no part has ended."""
        return self.fresh and self._leads is None

    def write(self, at: int, text: str) -> None:
        """Add text that begins at `at` of the raw text."""
        if not text:
            return
        if not self.fresh and not self._held and text[-1] not in WHITESPACE:
            self._leads = False
            self._put(self._delta(text), at)
            return
        visible = len(text.rstrip(WHITESPACE))
        if visible == 0 and not self.transparent:
            self._held.append((at, text))
            return
        if self._leads:
            lead = self._without_blank_lines(text)
            at, text, visible = at + lead, text[lead:], visible - lead
        self._leads = False
        cut = text.find("\n", visible) if self._holds_ends else -1
        if cut < 0:
            cut = len(text)
        if cut:
            self._emit(at, text[:cut])
            self.fresh = False
        if cut < len(text):
            self._held.append((at + cut, text[cut:]))

    def part(self) -> None:
        """End a part. Held whitespace waits for text in a later part; that of a reasoning span is dropped."""
        self.fresh = True
        if not self._keeps:
            self._held.clear()
        elif self._leads is None:
            self._leads = True

    def release(self) -> None:
        """Emit the line ends held back after text: nothing that could follow would drop them."""
        if self._held and not self.fresh:
            at, text = self._held.pop()
            self._emit(at, text)

    def drop(self) -> None:
        """Drop the whitespace that is held back."""
        self._held.clear()

    def _without_blank_lines(self, text: str) -> int:
        """Drop the blank lines held back; returns how much of `text` belongs to them."""
        lead = text.rfind("\n", 0, len(text) - len(text.lstrip(WHITESPACE))) + 1
        if lead:
            self._held.clear()
        for index in range(len(self._held) - 1, -1, -1):
            where, piece = self._held[index]
            if cut := piece.rfind("\n") + 1:
                rest = [(where + cut, piece[cut:])] if cut < len(piece) else []
                self._held = [*rest, *self._held[index + 1 :]]
                break
        return lead

    def finish(self) -> None:
        """Emit line ends directly after text; other whitespace at the end is dropped."""
        self.release()

    def _emit(self, at: int, text: str) -> None:
        """Emit one delta for each stretch that is contiguous in the raw text."""
        if not self._held:
            self._put(self._delta(text), at)
            return
        pieces: list[str] = []
        start = end = self._held[0][0]
        for where, piece in (*self._held, (at, text)):
            if where != end and pieces:
                self._put(self._delta("".join(pieces)), start)
                pieces, start = [], where
            pieces.append(piece)
            end = where + len(piece)
        self._put(self._delta("".join(pieces)), start)
        self._held.clear()
