"""Splits a reply into its channels: raw model text goes in piece by piece, deltas of reasoning, content and tool
calls come out.

sessions/chat/chat.py feeds it. Where the input is cut into pieces never changes the result, and the cost is linear in
the text. How calls are written is in `toolcalls/`.

The rules:

* Reasoning runs from its opening marker, or from the start if the template opened it, to its closing marker; there
  may be several spans; an unclosed one runs to the end. An opening marker inside reasoning, and a closing one
  outside, are dropped. A span of whitespace only is ignored.
* A tool call may occur inside reasoning if its format allows that. It ends the reasoning: text after the call is
  content, and the closing marker that may still come is dropped.
* In content, a marker inside a fenced block or inline code is a quotation and stays text (`fences.py`). Reasoning is
  not read as Markdown: a fence left open in a thought must not swallow the answer.
* Whitespace between the parts of a reply (before its first word, after reasoning and calls, line ends before a call)
  is held back, emitted when text follows, and dropped otherwise.
* Text that turns out not to be a call returns to the channel it was in. What was streamed of a call stands; it is
  never completed on the model's behalf. Calls of tools that the request does not offer are emitted as well: the
  caller decides.
* Without a tool format, calls are plain content; without reasoning tags, so is reasoning.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from msgspec import Struct

from duologue.text.stream.fences import CodeSpans
from duologue.text.stream.markers import NEVER, Markers
from duologue.text.toolcalls import ToolCallScanner, ToolFormat
from duologue.values.events import Delta, ReasoningDelta, TextDelta, ToolCallDelta
from duologue.values.messages import Tool

PIECE = 4096
"""Characters processed at a time. Longer input is cut, so that passing on the rest of it stays linear."""
WHITESPACE = " \t\r\n"
CODE_MARKS = "`~\n"

Put = Callable[[Delta, int], None]
"""Takes a delta and where its text began in the raw text; -1 for a piece of a call."""


class ReasoningTags(Struct, frozen=True):
    """The markers around a model's reasoning."""

    start: str = "<think>"
    end: str = "</think>"


class ChannelSplitter:
    """Splits one reply. `feed` every piece, then `finish` once.

    `tool_format` None: calls are not parsed (no tools, or tools switched off). `new_call_id` generates ids for
    formats that write none. `positions=True` records where each delta came from, at the price of the fast path.
    """

    def __init__(
        self,
        *,
        tool_format: ToolFormat | None,
        reasoning: ReasoningTags | None,
        start_in_reasoning: bool,
        tools: Sequence[Tool] = (),
        new_call_id: Callable[[], str],
        positions: bool = False,
    ) -> None:
        self._format, self._tags, self._tools = tool_format, reasoning, tools
        self._tracking = positions
        self._deltas: list[Delta] = []
        self._starts: list[int] = []
        self._offset = 0
        """Characters of raw text so far. Counted only off the fast path, so correct only with positions."""
        self._pending = ""
        """An end of the text that may still become a marker."""

        split = tool_format is not None or reasoning is not None
        self._content = _Channel(TextDelta, self._put, keeps=True, holds_ends=tool_format is not None)
        self._reasoning = _Channel(ReasoningDelta, self._put, keeps=False, holds_ends=False)
        self._content.fresh = split
        self._thinking = start_in_reasoning and reasoning is not None
        self._code = CodeSpans()
        self._calls = _Calls(self._put, self._hand_back, new_call_id)
        self._scanner: ToolCallScanner | None = None
        self._region = 0
        """Where in the raw text the current region of calls began, including its marker."""
        self._unmatched_start = False
        """An opening marker was returned as text, so the next closing one is text too."""
        self._truncated = False

        starts, ends = (tool_format.starts, tool_format.ends) if tool_format else ((), ())
        thoughts = (reasoning.start, reasoning.end) if reasoning else ()
        self._call_starts = frozenset(starts)
        self._content_view = _View((*thoughts, *starts, *ends), CODE_MARKS if split else "")
        nested = (*starts, *ends) if tool_format and tool_format.in_reasoning else ()
        self._reasoning_view = _View((*thoughts, *nested), "")
        self._plain_text: Callable[[str], object] | None = None
        self._delta: type[TextDelta] | type[ReasoningDelta] = TextDelta
        self._settle()

    @property
    def complete_calls(self) -> int:
        """Number of complete calls whose arguments are JSON."""
        return self._calls.complete

    @property
    def broken_calls(self) -> int:
        """Number of calls that the model closed or abandoned and whose arguments are not JSON. They are emitted as
        written."""
        return self._calls.broken

    @property
    def truncated(self) -> bool:
        """After finish(): the reply ended inside a call."""
        return self._truncated

    @property
    def thinking(self) -> bool:
        """Whether the text so far ends in reasoning."""
        return self._thinking

    @property
    def in_open_thought(self) -> bool:
        """Whether the thought could be closed right here: no call and no partial marker is open in it."""
        return self._thinking and self._scanner is None and not self._pending

    @property
    def in_call(self) -> bool:
        """Whether a call is open."""
        return self._scanner is not None

    def positions(self) -> list[int]:
        """For each delta just returned, where its text began in the raw text, in characters from the beginning; -1
        for a piece of a call. Only available with `positions=True`."""
        if not self._tracking:
            raise RuntimeError("this machine was not made with positions=True")
        return self._starts

    def feed(self, text: str) -> list[Delta]:
        """Add raw text; returns the deltas that are certain now."""
        transparent = self._plain_text
        if transparent is not None and text and transparent(text) is None:
            return [self._delta(text)]
        self._deltas, self._starts = [], []
        for start in range(0, len(text), PIECE):
            self._advance(text[start : start + PIECE])
        self._settle()
        return self._deltas

    def finish(self) -> list[Delta]:
        """The reply is over: returns what was held back and is text after all."""
        self._deltas, self._starts = [], []
        if self._scanner is not None:
            self._truncated = self._scanner.finish()
            self._leave_region(self._scanner)
        elif self._pending:
            pending, self._pending = self._pending, ""
            self._channel.write(self._offset - len(pending), pending)
        self._content.finish()
        self._plain_text = None
        return self._deltas

    @property
    def _channel(self) -> _Channel:
        return self._reasoning if self._thinking else self._content

    def _put(self, delta: Delta, start: int) -> None:
        self._deltas.append(delta)
        self._starts.append(start)

    def _hand_back(self, text: str, at: int) -> None:
        self._channel.write(self._region + at, text)

    def _settle(self) -> None:
        """Choose the fast path for the next text if nothing is open: text without a character that could begin
        anything is then a delta as it is."""
        self._plain_text = None
        if self._tracking or self._scanner is not None or self._pending or not self._channel.transparent:
            return
        if self._thinking:
            self._delta, self._plain_text = ReasoningDelta, self._reasoning_view.may_begin_marker
        elif not self._content_view.follows_code or self._code.transparent:
            self._delta, self._plain_text = TextDelta, self._content_view.may_begin_marker

    def _advance(self, piece: str) -> None:
        self._offset += len(piece)
        rest = self._pending + piece if self._pending else piece
        self._pending = ""
        while rest:
            rest = self._read_text(rest) if self._scanner is None else self._read_calls(self._scanner, rest)

    def _read_calls(self, scanner: ToolCallScanner, text: str) -> str:
        """Pass `text` to the region's scanner; returns what follows the region."""
        rest = scanner.feed(text)
        if rest is None:
            return ""
        self._leave_region(scanner)
        return rest

    def _leave_region(self, scanner: ToolCallScanner) -> None:
        self._scanner = None
        self._unmatched_start = self._unmatched_start or scanner.unclosed
        self._code.restart()
        if not self._calls.opened:
            # All of the region went back as text, so its line is not blank: no fence can open on it.
            self._code.text("not blank")
            return
        if self._thinking:
            self._thinking = False
            self._reasoning.part()
        self._content.part()

    def _read_text(self, text: str) -> str:
        """Emit text up to the first marker that counts; returns what follows it."""
        at = self._offset - len(text)
        view = self._reasoning_view if self._thinking else self._content_view
        hold = view.markers.hold(text)
        marker = self._next_marker(text, hold, view)
        if marker is None:
            self._channel.write(at, text[:hold])
            self._pending = text[hold:]
            return ""
        self._channel.write(at, text[: marker.start()])
        self._handle_marker(marker[0], at + marker.start())
        return text[marker.end() :]

    def _next_marker(self, text: str, hold: int, view: _View) -> re.Match[str] | None:
        """The first marker before `hold` that is not quoted in code."""
        if not view.follows_code:
            match = view.tokens.search(text)
            return match if match and match.start() < hold else None
        code, read = self._code, 0
        for token in view.tokens.finditer(text):
            if token.start() >= hold:
                break
            code.text(text[read : token.start()])
            read = token.end()
            word = token[0]
            if word == "\n":
                code.newline()
            elif word[0] in CODE_MARKS:
                code.run(word)
            elif code.inside:
                code.text(word)
            else:
                return token
        code.text(text[read:hold])
        return None

    def _handle_marker(self, word: str, at: int) -> None:
        """Handle a marker that counts, at `at` of the raw text."""
        if self._format is not None and word in self._call_starts:
            self._region = at
            self._calls.opened = False
            self._scanner = self._format.scanner(word, self._calls, self._tools)
        elif self._tags is not None and word == self._tags.start:
            if not self._thinking:
                self._content.part()
                self._thinking = True
        elif self._tags is not None and word == self._tags.end:
            if self._thinking:
                self._thinking = False
                self._reasoning.part()
            self._content.part()
            self._code.restart()
        elif self._unmatched_start:
            self._unmatched_start = False
            self._channel.write(at, word)
        elif not self._thinking:
            self._content.part()


class _View:
    """What is searched for in a channel: its markers and, where code is followed, the characters code begins and ends
    with."""

    __slots__ = ("follows_code", "markers", "may_begin_marker", "tokens")

    def __init__(self, words: Sequence[str], code_marks: str) -> None:
        self.markers = Markers(words)
        self.follows_code = bool(code_marks)
        self.tokens = self.markers.pattern
        if code_marks:
            self.tokens = re.compile(self.markers.pattern.pattern + r"|`+|~+|\n")
        first_characters = re.escape(self.markers.first_characters + code_marks)
        self.may_begin_marker: Callable[[str], object] = re.compile(
            f"[{first_characters}]" if first_characters else NEVER
        ).search


class _Channel:
    """A channel's output. Holds back whitespace that is only structure if no text follows it."""

    __slots__ = ("_delta", "_held", "_holds_ends", "_keeps", "_put", "fresh")

    def __init__(
        self, delta: type[TextDelta] | type[ReasoningDelta], put: Put, *, keeps: bool, holds_ends: bool
    ) -> None:
        self._delta, self._put = delta, put
        self._keeps, self._holds_ends = keeps, holds_ends
        self._held: list[tuple[int, str]] = []
        self.fresh = True
        """This part has no text yet."""

    @property
    def transparent(self) -> bool:
        """Whether text without a line end can be emitted as it comes."""
        return not (self.fresh or self._held)

    def write(self, at: int, text: str) -> None:
        """Add text that begins at `at` of the raw text."""
        if not text:
            return
        visible = len(text.rstrip(WHITESPACE))
        if visible == 0 and not self.transparent:
            self._held.append((at, text))
            return
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

    def finish(self) -> None:
        """Emit line ends directly after text; other whitespace at the end is dropped."""
        if not self.fresh and self._held:
            at, text = self._held.pop()
            self._emit(at, text)

    def _emit(self, at: int, text: str) -> None:
        """Emit one delta for each stretch that is contiguous in the raw text."""
        pieces: list[str] = []
        start = end = self._held[0][0] if self._held else at
        for where, piece in (*self._held, (at, text)):
            if where != end and pieces:
                self._put(self._delta("".join(pieces)), start)
                pieces, start = [], where
            pieces.append(piece)
            end = where + len(piece)
        self._put(self._delta("".join(pieces)), start)
        self._held.clear()


class _Calls:
    """The sink of the scanners: numbers calls, gives them ids, and counts how they ended."""

    __slots__ = ("_count", "_hand_back", "_new_id", "_put", "broken", "complete", "opened")

    def __init__(self, put: Put, hand_back: Callable[[str, int], None], new_id: Callable[[], str]) -> None:
        self._put, self._hand_back, self._new_id = put, hand_back, new_id
        self._count = self.complete = self.broken = 0
        self.opened = False
        """A call began in this region."""

    def open(self, name: str, id: str | None = None) -> None:
        self.opened = True
        self._put(ToolCallDelta(self._count, "", id or self._new_id(), name), -1)
        self._count += 1

    def arguments(self, text: str) -> None:
        if text:
            self._put(ToolCallDelta(self._count - 1, text), -1)

    def close(self, valid: bool) -> None:
        if valid:
            self.complete += 1
        else:
            self.broken += 1

    def reject(self, text: str, at: int) -> None:
        self._hand_back(text, at)
