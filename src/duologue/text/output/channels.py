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
* In content, a marker inside a fenced block or inline code is a quotation and stays text (`fences.py`), unless it is a
  control token of the model: those are meant. Reasoning is not read as Markdown: a fence left open in a thought must not
  swallow the answer.
* Whitespace between the parts of a reply (before its first word, after reasoning and calls, line ends before a call)
  is held back, emitted when text follows, and dropped otherwise. Blank lines before the first text of an answer that
  follows a thought or a call are dropped.
* Text that turns out not to be a call returns to the channel it was in. What was streamed of a call stands; it is
  never completed on the model's behalf. Calls of tools that the request does not offer are emitted as well: the
  caller decides.
* Markers around an answer (`<answer>`) are dropped where they are its first and last text, and so is the header that
  a family writes after its opening marker of reasoning.
* A format of messages (`ToolFormat.frames`) says with each region which channel goes on after it.
* Without a tool format, calls are plain content; without reasoning tags, so is reasoning.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from duologue.text.output.call_output import CallOutput
from duologue.text.output.channel import Channel
from duologue.text.output.channel_markers import ChannelMarkers
from duologue.text.output.reasoning_tags import ReasoningTags
from duologue.text.stream.fences import CodeSpans
from duologue.text.stream.held_text import HeldText, held_text, last_of, may_become
from duologue.text.toolcalls import QuickScanner, ToolCallScanner, ToolFormat
from duologue.values.events import Delta, ReasoningDelta, TextDelta
from duologue.values.messages import Tool

PIECE = 4096
"""Characters processed at a time. Longer input is cut, so that passing on the rest of it stays linear."""
CODE_MARKS = "`~\n"
FIND_CODE_MARK = re.compile(f"[{CODE_MARKS}]").search
FIND_LINE_END = re.compile("\n").search
BEFORE = 8
"""Characters that are kept of the text before a marker that is a sentence,"""
SENTENCE_END = re.compile(r"(?:\A|\n|[.!?:;…)\]*][\"'”’]?[ \t]|[。！？])[ \t]*\Z")
"""and how they end where one begins."""


class ChannelSplitter:
    """Splits one reply. `feed` every piece, then `finish` once.

    `tool_format` None: calls are not parsed (no tools, or tools switched off). `opened`: the marker of a region that the
    prompt has left open (`ToolFormat.opened`). `new_call_id` generates ids for formats that write none. `positions=True`
    records where each delta came from, at the price of the fast path.
    """

    def __init__(
        self,
        *,
        tool_format: ToolFormat | None,
        reasoning: ReasoningTags | None,
        start_in_reasoning: bool,
        tools: Sequence[Tool] = (),
        new_call_id: Callable[[], str],
        opened: str = "",
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
        answers = reasoning.answers if reasoning else ()
        self._content = Channel(
            TextDelta, self._put, keeps=True, holds_ends=tool_format is not None or bool(answers)
        )
        self._reasoning = Channel(ReasoningDelta, self._put, keeps=False, holds_ends=False)
        self._content.fresh = split
        self._thinking = start_in_reasoning and reasoning is not None
        self._header = reasoning.header if reasoning is not None and self._thinking else ""
        """What is dropped if a thought that has just begun begins with it."""
        self._answer = ""
        """The marker that ends the answer, once one began it."""
        self._code = CodeSpans()
        self._calls = CallOutput(self._put, self._hand_back, new_call_id)
        self._scanner: ToolCallScanner | None = None
        self._quick: QuickScanner | None = None
        """The scanner, if it has a shorter way, which records no positions."""
        self._region = 0
        """Where in the raw text the current region of calls began, including its marker."""
        self._unmatched_start = False
        """An opening marker was returned as text, so the next closing one is text too."""
        self._truncated = False
        self._kept: list[tuple[str, int]] | None = None
        """What a region hands back at the end of the reply, until it is known whether a call was cut there."""

        starts, ends = (tool_format.starts, tool_format.ends) if tool_format else ((), ())
        thoughts = (*reasoning.starts, *reasoning.ends) if reasoning else ()
        line_starts = tool_format.line_starts if tool_format else ()
        self._call_starts = frozenset((*starts, *line_starts))
        self._thought_starts = frozenset(reasoning.starts if reasoning else ())
        self._thought_ends = frozenset(reasoning.ends if reasoning else ())
        self._answers, self._openings = dict(answers), (*self._call_starts, *self._thought_starts)
        self._answer_markers = frozenset((*self._answers, *self._answers.values()))
        quotable = split and (tool_format is None or tool_format.quotable)
        self._content_view = ChannelMarkers(
            (*thoughts, *starts, *ends, *self._answer_markers),
            CODE_MARKS if quotable else "",
            line_starts,
            # Line ends before a call have to be held back although no code is followed.
            "\n" if split and not quotable else "",
        )
        self._inner = frozenset(reasoning.inner if reasoning else ())
        self._sentences = reasoning is not None and reasoning.sentences
        self._before = ""
        """The last characters of the text so far, for markers that are sentences."""
        nested = (*starts, *ends) if tool_format and tool_format.in_reasoning else ()
        self._reasoning_view = ChannelMarkers((*thoughts, *nested, *self._inner), "")
        self._plain_text: Callable[[str], object] | None = None
        """Finds a reason to read a text and not just pass it on. The fast path: None where it is closed."""
        self._plain_lines: Callable[[str], object] | None = None
        """Looks closer where that found a reason."""
        self._plain_words: Callable[[str], object] | None = None
        """Finds what could begin a marker in a text that has marks of code; None where that way is closed."""
        self._in_block = False
        """In a fenced block, where only a line that may close it is read."""
        self._delta: Callable[[str], Delta] = TextDelta
        if opened and tool_format is not None:
            self._region = -len(opened)
            self._scan(tool_format.scanner(opened, self._calls, tools))
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

    @property
    def held(self) -> tuple[HeldText, ...]:
        """What is held back of the text so far, and why, in the order of the text. Costs nothing unless it is asked."""
        parts = [self._content.held, self._reasoning.held]
        scanner = self._scanner
        if scanner is not None:
            # What the prompt has left open was not read.
            pending = scanner.pending
            parts.append(last_of(pending, self._offset) if self._region < 0 else pending)
        elif self._pending and self._header.startswith(self._pending):
            parts.append(held_text([self._pending], "may become the header of a thought, which is dropped"))
        else:
            view = self._reasoning_view if self._thinking else self._content_view
            parts.append(may_become(self._pending, view.markers.words))
        return tuple(part for part in parts if part is not None)

    def positions(self) -> list[int]:
        """For each delta just returned, where its text began in the raw text, in characters from the beginning; -1
        for a piece of a call. Only available with `positions=True`."""
        if not self._tracking:
            raise RuntimeError("this machine was not made with positions=True")
        return self._starts

    def feed(self, text: str, *, control: bool = False) -> list[Delta]:
        """Add raw text; returns the deltas that are certain now. `control`: it ends in a control token of the model, which is never
        a quotation."""
        if control and text.endswith(self._openings):
            self._leave_code()
        plain = self._plain_text
        if plain is not None and text:
            if plain(text) is None:
                return [self._delta(text)]
            closer = self._plain_lines
            if closer is not None and closer(text) is None:
                return [self._delta(text)]
        if self._in_block and text and self._code.pass_block(text):
            self._plain_text = FIND_LINE_END if self._code.line_begun else None
            return [TextDelta(text)]
        if self._quick is not None and text and (taken := self._quick.take(text)) is not None:
            return [self._calls.piece(taken)]
        words = self._plain_words
        if words is not None and 0 < len(text) <= PIECE and words(text) is None:
            return self._pass_code(text)
        self._deltas, self._starts = [], []
        if len(text) <= PIECE:
            self._advance(text)
        else:
            for start in range(0, len(text), PIECE):
                self._advance(text[start : start + PIECE])
        self._settle()
        return self._deltas

    def _leave_code(self) -> None:
        """A call begins, or a thought: the code before it is over, closed or not."""
        if self._scanner is None and not self._thinking:
            self._code.restart()
            self._settle()

    def _pass_code(self, text: str) -> list[Delta]:
        """Take a text without markers: what `_read_text` does with one, by a shorter way."""
        self._code.take(text)
        if "\n" not in text and self._content.transparent:
            self._settle_content()
            return [TextDelta(text)]
        self._deltas, self._starts = [], []
        at = self._offset
        self._offset = at + len(text)
        self._content.write(at, text)
        self._settle_content()
        return self._deltas

    def finish(self) -> list[Delta]:
        """The reply is over: returns what was held back and is text after all."""
        self._deltas, self._starts = [], []
        if self._scanner is not None:
            self._finish_region(self._scanner)
        elif self._pending:
            pending, self._pending = self._pending, ""
            self._channel.write(self._offset - len(pending), pending)
        self._content.finish()
        self._plain_text = self._plain_words = None
        self._in_block = False
        return self._deltas

    def _finish_region(self, scanner: ToolCallScanner) -> None:
        """The reply ended inside a region. After a complete call, the beginning of another one is no prose: it is left
        out. What has its end marker is broken, and text."""
        if self.complete_calls:
            self._kept = []
        self._truncated = scanner.finish()
        kept, self._kept = self._kept or [], None
        ends = () if self._format is None else self._format.ends
        is_beginning = self._truncated and not any(end in text for text, _ in kept for end in ends)
        for text, at in () if is_beginning else kept:
            self._hand_back(text, at)
        self._leave_region(scanner)

    @property
    def _channel(self) -> Channel:
        return self._reasoning if self._thinking else self._content

    def _put(self, delta: Delta, start: int) -> None:
        self._deltas.append(delta)
        self._starts.append(start)

    def _hand_back(self, text: str, at: int) -> None:
        if self._kept is not None:
            self._kept.append((text, at))
            return
        start = self._region + at
        if start < 0:
            # The beginning of a region that the prompt has left open is not the reply's.
            text, start = text[-start:], 0
        self._channel.write(start, text)

    def _settle(self) -> None:
        """Choose the fast path for the next text if nothing is open: text without a character that could begin
        anything is then a delta as it is."""
        self._plain_text = self._plain_lines = self._plain_words = None
        self._in_block = False
        if self._pending or self._header or self._sentences:
            return
        if self._scanner is not None:
            return
        if self._thinking:
            if self._reasoning.transparent and not self._tracking:
                self._delta, self._plain_text = ReasoningDelta, self._reasoning_view.may_begin_marker
            return
        self._settle_content()

    def _settle_content(self) -> None:
        """`_settle` in content, where nothing is open but code."""
        view, code, content = self._content_view, self._code, self._content
        self._plain_text = self._plain_lines = None
        self._in_block = False
        place = code.place if view.follows_code else "text"
        if place == "block":
            # No call can begin before the block ends, so its line ends are text.
            content.release()
        if self._tracking:
            return
        self._plain_words = view.may_begin_word
        if place == "undecided" or not content.transparent:
            return
        self._delta = TextDelta
        if place == "block":
            self._in_block = True
            self._plain_text = FIND_LINE_END if code.line_begun else None
        elif place == "code":
            self._plain_text = FIND_CODE_MARK
        else:
            self._plain_text = view.may_begin_marker
            self._plain_lines = view.may_begin_marker_or_line if view.follows_code else None

    def _advance(self, piece: str) -> None:
        self._offset += len(piece)
        rest = piece
        if self._pending:
            rest, self._pending = self._pending + piece, ""
        while rest:
            rest = self._read_text(rest) if self._scanner is None else self._read_calls(self._scanner, rest)

    def _read_calls(self, scanner: ToolCallScanner, text: str) -> str:
        """Pass `text` to the region's scanner; returns what follows the region."""
        rest = scanner.feed(text)
        if rest is None:
            return ""
        self._leave_region(scanner)
        return rest

    def _scan(self, scanner: ToolCallScanner) -> None:
        self._scanner = scanner
        self._quick = scanner if isinstance(scanner, QuickScanner) and not self._tracking else None

    def _leave_region(self, scanner: ToolCallScanner) -> None:
        self._scanner = self._quick = None
        self._unmatched_start = self._unmatched_start or scanner.unclosed
        self._code.restart()
        calls = self._calls
        if calls.channel is None and not calls.opened:
            # All of the region went back as text, so its line is not blank: no fence can open on it.
            self._code.text("not blank")
            if calls.fence:
                self._code.restart()
                self._code.run(calls.fence)
            return
        if self._thinking:
            self._reasoning.part()
        self._thinking = calls.channel == "reasoning"
        self._content.part()

    def _read_text(self, text: str) -> str:
        """Emit text up to the first marker that counts; returns what follows it."""
        if self._header and not (text := self._without_header(text)):
            return ""
        at = self._offset - len(text)
        view, channel = self._content_view, self._content
        if self._thinking:
            view, channel = self._reasoning_view, self._reasoning
        hold = view.markers.hold(text)
        marker = self._next_marker(text, hold, view)
        if self._sentences:
            self._before = (self._before + text[: marker.start() if marker else hold])[-BEFORE:]
        if marker is None:
            if hold < len(text):
                text, self._pending = text[:hold], text[hold:]
            channel.write(at, text)
            return ""
        channel.write(at, text[: marker.start()])
        self._handle_marker(marker[0], at + marker.start())
        return text[marker.end() :]

    def _without_header(self, text: str) -> str:
        """The beginning of a thought without its header; "" while it may still become one."""
        header = self._header
        if len(text) < len(header) and header.startswith(text):
            self._pending = text
            return ""
        self._header = ""
        return text.removeprefix(header)

    def _next_marker(self, text: str, hold: int, view: ChannelMarkers) -> re.Match[str] | None:
        """The first marker before `hold` that is not quoted in code."""
        if not view.follows_code:
            match = view.tokens.search(text)
            return match if match and match.start() < hold else None
        code, search = self._code, view.tokens.search
        read = at = 0
        while (token := search(text, at)) is not None and (start := token.start()) < hold:
            if start > read:
                code.text(text[read:start])
            word = token[0]
            read = at = token.end()
            if word == "\n":
                code.newline()
            elif view.line_starts and word in view.line_starts:
                ticks = len(word) - len(word.lstrip("`"))
                if not (ticks and code.continues("`")) and code.at_line_start:
                    return token
                if ticks:
                    code.run(word[:ticks])
                read, at = start + ticks, start + max(ticks, 1)
            elif word[0] in CODE_MARKS:
                # The end of a run may be held back, to be read again.
                read = at = min(at, hold)
                code.run(text[start:at])
            elif code.inside:
                # A quotation: what is inside it is read for the end of the code alone.
                read, at = start, start + 1
            else:
                return token
        if read < hold:
            code.text(text[read:hold])
        return None

    def _handle_marker(self, word: str, at: int) -> None:
        """Handle a marker that counts, at `at` of the raw text."""
        if word in self._inner:
            return
        if self._sentences and word in self._thought_starts | self._thought_ends and not self._is_meant(word):
            self._channel.write(at, word)
            self._code.text(word)
            self._before = (self._before + word)[-BEFORE:]
        elif self._format is not None and word in self._call_starts:
            self._region = at
            self._calls.begin(word)
            self._scan(self._format.scanner(word, self._calls, self._tools))
        elif word in self._thought_starts and self._tags is not None:
            if not self._thinking:
                self._content.part()
                self._thinking, self._header = True, self._tags.header
        elif word in self._thought_ends:
            if self._thinking:
                self._thinking = False
                self._reasoning.part()
            self._content.part()
            self._code.restart()
        elif word in self._answer_markers:
            self._handle_answer_marker(word, at)
        elif self._unmatched_start:
            self._unmatched_start = False
            self._channel.write(at, word)
        elif not self._thinking:
            self._content.part()

    def _is_meant(self, word: str) -> bool:
        """Whether a sentence marks a thought: the first one does before any other text, the last one where a line or a
        sentence of the thought begins. Within a sentence, or quoted, it is spoken of."""
        if word in self._thought_starts:
            return not self._thinking and self._content.untouched
        return self._thinking and SENTENCE_END.search(self._before) is not None

    def _handle_answer_marker(self, word: str, at: int) -> None:
        """Drop a marker around the answer: the opening one as the answer's first text, the closing one after that."""
        if word in self._answers and self._content.fresh:
            self._answer = self._answers[word]
            self._content.drop()
            self._content.part()
        elif word == self._answer:
            self._answer = ""
            self._content.part()
        else:
            self._code.text(word)
            self._channel.write(at, word)
