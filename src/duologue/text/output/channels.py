"""The channels of a reply: raw model text in pieces goes in, deltas of reasoning, content and tool calls come out.

Owns which channel a piece of text belongs to. Cutting the input elsewhere never changes what comes out, and the cost
is linear in the text. Knows no tool format (`toolcalls/`), no tokens, no stop strings (`stops.py`).

What is decided here:

* Reasoning runs from its opening marker, or from the start where the template opened it, to its closing marker; any
  number of spans; never closed, it runs to the end. An opening marker inside it, and a closing one outside, are
  dropped. A span of nothing but whitespace is none.
* A tool call may stand inside reasoning where its format allows that. It ends the reasoning: text behind the call is
  content, and the closing marker that may still come is dropped.
* In content, a marker inside a fenced block or inline code is a quotation and stays text (`fences.py`). Reasoning is
  not read as Markdown: a fence left open in a thought must not swallow the answer.
* Whitespace between the parts of a reply (before its first word, behind reasoning and calls, line ends before
  a call) is held, comes out when text follows, and is dropped when none does.
* What turns out to be no call goes back to the channel it stood in. What was streamed of a call stands; nothing is
  ever invented to close it. Tools the request does not know are called all the same: the caller decides.
* Without a tool format calls are plain content; without reasoning tags so is reasoning.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from msgspec import Struct

from duologue.text.stream.fences import CodeSpans
from duologue.text.stream.markers import NEVER, Markers
from duologue.text.toolcalls import CallScanner, ToolFormat
from duologue.values.events import Delta, ReasoningDelta, TextDelta, ToolCallDelta
from duologue.values.messages import Tool

PIECE = 4096
"""Characters handled at a time. Longer input is cut, so that handing on the rest of it stays linear."""
WHITESPACE = " \t\r\n"
CODE_MARKS = "`~\n"

Put = Callable[[Delta, int], None]
"""Takes a delta and where its text began in the raw text; -1 for a piece of a call."""


class ReasoningTags(Struct, frozen=True):
    """The markers around what a model thinks aloud."""

    start: str = "<think>"
    end: str = "</think>"


class ChannelMachine:
    """Splits one reply. `feed` every piece, then `finish` once.

    `tool_format` None: calls are not looked for (no tools, or none wanted). `new_call_id` makes the ids of calls whose
    format writes none. `positions=True` keeps where each delta came from, at the price of the fast path.
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
        """Characters of raw text taken so far. Counted only off the fast path, so true only with positions."""
        self._pending = ""
        """An end of the text that may still become a marker."""

        split = tool_format is not None or reasoning is not None
        self._content = _Channel(TextDelta, self._put, keeps=True, holds_ends=tool_format is not None)
        self._reasoning = _Channel(ReasoningDelta, self._put, keeps=False, holds_ends=False)
        self._content.fresh = split
        self._thinking = start_in_reasoning and reasoning is not None
        self._code = CodeSpans()
        self._calls = _Calls(self._put, self._hand_back, new_call_id)
        self._scanner: CallScanner | None = None
        self._region = 0
        """Where in the raw text the region of calls in hand began, its marker included."""
        self._owed = False
        """An opening marker went back as text, so the next closing one is text too."""
        self._cut = False

        starts, ends = (tool_format.starts, tool_format.ends) if tool_format else ((), ())
        thoughts = (reasoning.start, reasoning.end) if reasoning else ()
        self._call_starts = frozenset(starts)
        self._content_view = _View((*thoughts, *starts, *ends), CODE_MARKS if split else "")
        nested = (*starts, *ends) if tool_format and tool_format.in_reasoning else ()
        self._reasoning_view = _View((*thoughts, *nested), "")
        self._calm: Callable[[str], object] | None = None
        self._delta: type[TextDelta] | type[ReasoningDelta] = TextDelta
        self._settle()

    @property
    def complete_calls(self) -> int:
        """Calls that are whole and whose arguments are JSON."""
        return self._calls.complete

    @property
    def broken_calls(self) -> int:
        """Calls the model closed, or gave up, whose arguments are not JSON. They stand as it wrote them."""
        return self._calls.broken

    @property
    def truncated(self) -> bool:
        """After finish(): the reply ended inside a call."""
        return self._cut

    @property
    def thinking(self) -> bool:
        """Whether the text so far ends in reasoning."""
        return self._thinking

    @property
    def in_open_thought(self) -> bool:
        """Whether the thought could be closed right here: no call and no half of a marker stands open in it."""
        return self._thinking and self._scanner is None and not self._pending

    @property
    def in_call(self) -> bool:
        """Whether a call stands open."""
        return self._scanner is not None

    def positions(self) -> list[int]:
        """For each delta just returned, where its text began in the raw text: characters since the beginning; -1 for
        a piece of a call. Only on a machine made with `positions=True`."""
        if not self._tracking:
            raise RuntimeError("this machine was not made with positions=True")
        return self._starts

    def feed(self, text: str) -> list[Delta]:
        """The next piece of raw text; the deltas that are certain now."""
        calm = self._calm
        if calm is not None and text and calm(text) is None:
            return [self._delta(text)]
        self._deltas, self._starts = [], []
        for start in range(0, len(text), PIECE):
            self._advance(text[start : start + PIECE])
        self._settle()
        return self._deltas

    def finish(self) -> list[Delta]:
        """The reply is over: whatever was held and is text after all."""
        self._deltas, self._starts = [], []
        if self._scanner is not None:
            self._cut = self._scanner.finish()
            self._leave_region(self._scanner)
        elif self._pending:
            pending, self._pending = self._pending, ""
            self._channel.write(self._offset - len(pending), pending)
        self._content.finish()
        self._calm = None
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
        """Take the fast path for what comes next, if nothing is open: then text without a character at which anything
        could begin is a delta as it stands."""
        self._calm = None
        if self._tracking or self._scanner is not None or self._pending or not self._channel.calm:
            return
        if self._thinking:
            self._delta, self._calm = ReasoningDelta, self._reasoning_view.alert
        elif not self._content_view.follows_code or self._code.calm:
            self._delta, self._calm = TextDelta, self._content_view.alert

    def _advance(self, piece: str) -> None:
        self._offset += len(piece)
        rest = self._pending + piece if self._pending else piece
        self._pending = ""
        while rest:
            rest = self._read_text(rest) if self._scanner is None else self._read_calls(self._scanner, rest)

    def _read_calls(self, scanner: CallScanner, text: str) -> str:
        """The region's share of `text`; what is left behind it."""
        rest = scanner.feed(text)
        if rest is None:
            return ""
        self._leave_region(scanner)
        return rest

    def _leave_region(self, scanner: CallScanner) -> None:
        self._scanner = None
        self._owed = self._owed or scanner.unclosed
        self._code.restart()
        if not self._calls.opened:
            self._code.text("not blank")
            return
        if self._thinking:
            self._thinking = False
            self._reasoning.part()
        self._content.part()

    def _read_text(self, text: str) -> str:
        """Up to the first marker that counts; what is left behind it."""
        at = self._offset - len(text)
        view = self._reasoning_view if self._thinking else self._content_view
        hold = view.markers.hold(text)
        marker = self._next_marker(text, hold, view)
        if marker is None:
            self._channel.write(at, text[:hold])
            self._pending = text[hold:]
            return ""
        self._channel.write(at, text[: marker.start()])
        self._meet(marker[0], at + marker.start())
        return text[marker.end() :]

    def _next_marker(self, text: str, hold: int, view: _View) -> re.Match[str] | None:
        """The first marker before `hold` that is not quoted in code."""
        if not view.follows_code:
            found = view.tokens.search(text)
            return found if found and found.start() < hold else None
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

    def _meet(self, word: str, at: int) -> None:
        """A marker that counts, at `at` of the raw text."""
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
        elif self._owed:
            self._owed = False
            self._channel.write(at, word)
        elif not self._thinking:
            self._content.part()


class _View:
    """What is looked for in a channel: its markers, and where code is followed, what code begins and ends with."""

    __slots__ = ("alert", "follows_code", "markers", "tokens")

    def __init__(self, words: Sequence[str], code_marks: str) -> None:
        self.markers = Markers(words)
        self.follows_code = bool(code_marks)
        self.tokens = self.markers.pattern
        if code_marks:
            self.tokens = re.compile(self.markers.pattern.pattern + r"|`+|~+|\n")
        heads = re.escape(self.markers.heads + code_marks)
        self.alert: Callable[[str], object] = re.compile(f"[{heads}]" if heads else NEVER).search


class _Channel:
    """A channel's text on its way out: holds the whitespace that is structure if no text follows it."""

    __slots__ = ("_delta", "_held", "_holds_ends", "_keeps", "_put", "fresh")

    def __init__(
        self, delta: type[TextDelta] | type[ReasoningDelta], put: Put, *, keeps: bool, holds_ends: bool
    ) -> None:
        self._delta, self._put = delta, put
        self._keeps, self._holds_ends = keeps, holds_ends
        self._held: list[tuple[int, str]] = []
        self.fresh = True
        """No text yet in this part."""

    @property
    def calm(self) -> bool:
        """Whether text without a line end can go out as it comes."""
        return not (self.fresh or self._held)

    def write(self, at: int, text: str) -> None:
        """Text from `at` of the raw text on."""
        if not text:
            return
        said = len(text.rstrip(WHITESPACE))
        if said == 0 and not self.calm:
            self._held.append((at, text))
            return
        cut = text.find("\n", said) if self._holds_ends else -1
        if cut < 0:
            cut = len(text)
        if cut:
            self._say(at, text[:cut])
            self.fresh = False
        if cut < len(text):
            self._held.append((at + cut, text[cut:]))

    def part(self) -> None:
        """The part ends; what is held waits for text in a later part, or was the span's own and is dropped."""
        self.fresh = True
        if not self._keeps:
            self._held.clear()

    def finish(self) -> None:
        """Line ends directly behind text are text; other whitespace that nothing followed is dropped."""
        if not self.fresh and self._held:
            at, text = self._held.pop()
            self._say(at, text)

    def _say(self, at: int, text: str) -> None:
        """One delta for each stretch that is contiguous in the raw text."""
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
    """The sink of the scanners: numbers the calls, names them, counts how they ended."""

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
