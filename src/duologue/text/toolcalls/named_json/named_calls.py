"""Reads calls that are written as the name of a tool and, after a separator, the JSON of its arguments.

The formats of `named_json/` are configurations of it (`NamedCalls`). A region is one call, or a section of several
between markers of its own, which may be missing. Tolerated: any whitespace between the parts, a missing end marker once
the JSON is complete, arguments as a JSON string, no arguments at all.

What stands before the arguments is short, so it is kept and read anew with each piece until it is clear what it is; what
was not a call by then is returned. From the arguments on a call is passed on as it is written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Literal

from msgspec import Struct

from duologue.text.grammars.gbnf_terms import literal
from duologue.text.grammars.schema_grammar import JsonGrammar
from duologue.text.stream.held_text import HeldText, held_text, may_become
from duologue.text.stream.markers import Markers
from duologue.text.toolcalls import QuickScanner, ToolCallScanner, ToolCallSink, ToolFormat
from duologue.text.toolcalls.json_calls import wants_object
from duologue.text.toolcalls.json_values import ValueScanner, is_json
from duologue.values.messages import Tool

LONGEST_HEAD = 600
"""Characters from the opening marker to the arguments."""
FENCE = "```"
FENCES = (f"{FENCE}json", FENCE)
FENCE_MARKS = Markers(FENCES)
NULL = "null"
SPACE = re.compile(r"[ \t\r\n]*")
OBJECT = re.compile(r'\{[ \t\r\n]*["}]')
UNFINISHED_OBJECT = re.compile(r"\{[ \t\r\n]*\Z")
NAME = re.compile(r"[^\s<>\[\]{}\"]+")

Named = tuple[str, str | None]
"""The name of a tool, and the call's id if the family writes ids."""


def plain_name(header: str, tools: Sequence[Tool]) -> Named | None:
    """A header that is the name alone."""
    return (header, None) if NAME.fullmatch(header) else None


class NamedCalls(Struct, frozen=True):
    """How a family writes calls. Each marker has one spelling or several, of which the first is written.

    `sections` and `section_ends` are around all calls, `calls` and `call_ends` around one; without `call_ends` it ends with its JSON.
    `separators` end the header, which `named` reads; `inner` may stand in it. `fenced`: the JSON may stand in a fence.
    `content`: a header that begins text for the user. `offered`: only tools that are offered are called. `before`, `after`
    and `close` are rules of the grammar: what a call has before and after its name, and after its JSON.
    """

    calls: tuple[str, ...]
    separators: tuple[str, ...]
    before: str
    after: str
    close: str = '""'
    sections: tuple[str, ...] = ()
    section_ends: tuple[str, ...] = ()
    call_ends: tuple[str, ...] = ()
    inner: tuple[str, ...] = ()
    named: Callable[[str, Sequence[Tool]], Named | None] = plain_name
    fenced: bool = False
    content: str = ""
    offered: bool = False


@cache
def _structure(calls: NamedCalls) -> Markers:
    return Markers((*calls.sections, *calls.section_ends, *calls.calls, *calls.call_ends))


@cache
def _header(calls: NamedCalls) -> Markers:
    return Markers((*_structure(calls).words, *calls.separators, *calls.inner))


class NamedCallFormat(ToolFormat):
    """A format of such calls."""

    def __init__(self, written: NamedCalls, *, in_reasoning: bool = False) -> None:
        self.written, self.in_reasoning = written, in_reasoning
        self.starts = (*written.sections, *written.calls)
        self.ends = (*written.section_ends, *written.call_ends)
        self.inner = tuple(word for word in (*written.separators, *written.inner) if len(word) > len(FENCE))

    def scanner(self, start: str, sink: ToolCallSink, tools: Sequence[Tool]) -> ToolCallScanner:
        return NamedCallScanner(self.written, start, sink, tools)

    def calls(self, tools: Sequence[Tool], grammar: JsonGrammar, shaped: bool) -> str:
        return self._region(self._call(tools, grammar, shaped), grammar)

    def several_calls(self, tools: Sequence[Tool], grammar: JsonGrammar, shaped: bool) -> str:
        """Several calls in one section, as the family writes them."""
        return self._region(f"({self._call(tools, grammar, shaped)} space)+", grammar)

    def _call(
        self, tools: Sequence[Tool], grammar: JsonGrammar, shaped: bool, before: str | None = None
    ) -> str:
        written = self.written
        before = written.before if before is None else before
        calls = [
            f"{literal(tool.name)} {written.after} "
            f"{grammar.schema({'type': 'object', **tool.parameters}, 'arguments') if shaped else 'object'}"
            for tool in tools
        ]
        return grammar.add("call", f"{before} ({' | '.join(calls)}) {written.close}")

    def _region(self, calls: str, grammar: JsonGrammar) -> str:
        begin, end = self.written.sections, self.written.section_ends
        return grammar.add("region", f"{literal(begin[0])} {calls} {literal(end[0])}" if begin else calls)


class Head(Struct, frozen=True):
    """What stands before the arguments. "call": they begin at `at`; "none": it has none; "content": text begins at `at`;
    "text": it is no call, up to `at`, `begun` if only its arguments are wrong."""

    kind: Literal["call", "none", "content", "text"]
    at: int
    name: str = ""
    id: str | None = None
    fenced: bool = False
    begun: bool = False


class NamedCallScanner(QuickScanner):
    """One region, from its opening marker to after its closing one, or after the last call where it has none."""

    def __init__(self, written: NamedCalls, start: str, sink: ToolCallSink, tools: Sequence[Tool]) -> None:
        self.unclosed = False
        self._written, self._sink, self._tools = written, sink, tools
        self._markers, self._header = _structure(written), _header(written)
        self._state: Literal["head", "arguments", "string", "after", "rejected", "over"] = "head"
        self._pending = start
        self._base = 0
        """Where in the region the current text begins."""
        self._returned = False
        """The opening marker was returned as text, so the closing one is text too."""
        self._head = Head("text", 0)
        self._raw = ""
        """The beginning of a call whose arguments are read as a whole before it counts as one,"""
        self._raw_at = 0
        """and where in the region it began."""
        self._value = ValueScanner(self._markers)
        self._arguments: list[str] = []
        self._fenced = False
        """The end of a fence may follow."""
        self._gap: list[str] = []
        """Whitespace after a call: structure, unless text follows."""

    @property
    def pending(self) -> HeldText | None:
        """What is held back: all that stands before the arguments, and arguments in a JSON string to its end."""
        if self._state == "head":
            return held_text(
                [self._pending], "a call once its name and the beginning of its arguments are read"
            )
        if self._state == "string":
            pieces = [self._raw, *self._arguments, self._pending]
            return held_text(pieces, "a call once the string with its arguments has ended")
        if self._state == "after":
            return held_text([*self._gap, self._pending], "after a call: dropped unless text follows")
        return may_become(self._pending, self._markers.words)

    def take(self, text: str) -> str | None:
        if self._state != "arguments" or self._pending or not self._value.follow(text):
            return None
        self._base += len(text)
        self._arguments.append(text)
        return text

    def feed(self, text: str) -> str | None:
        text, self._pending = self._pending + text, ""
        at = 0
        while self._state != "over":
            stop = self._step(text, at)
            if stop is None:
                self._base += len(text) - len(self._pending)
                return None
            at = stop
        return "".join(self._gap) + text[at:]

    def finish(self) -> bool:
        if self._state == "arguments":
            self._add(self._pending)
            return True
        if self._state == "string":
            self._sink.reject(self._raw + "".join(self._arguments) + self._pending, self._raw_at)
            return True
        if self._state in ("head", "rejected"):
            self._reject(self._pending, 0, len(self._pending))
        return False

    # ---- one step: returns where to go on, or None to wait for more text, with the rest kept as pending

    def _step(self, text: str, at: int) -> int | None:
        if self._state == "head":
            return self._read_head(text, at)
        if self._state == "after":
            return self._read_after(text, at)
        if self._state == "rejected":
            return self._read_rejected(text, at)
        return self._read_value(text, at)

    def _read_head(self, text: str, at: int) -> int | None:
        head = self._find_head(text, at)
        if head is None and len(text) - at <= LONGEST_HEAD:
            return self._wait(text, at)
        if head is None or head.kind == "text":
            return self._not_a_call(text, at, head)
        if head.kind == "content":
            self._sink.enter("content")
            self._state = "over"
            return head.at
        self._head, self._fenced, self._arguments = head, head.fenced, []
        if head.kind == "none":
            self._open()
            self._add("{}")
            self._close()
            return head.at
        self._value = ValueScanner(self._markers)
        if text[head.at] == "{":
            self._open()
            self._state = "arguments"
        else:
            self._raw, self._raw_at, self._state = text[at : head.at], self._base + at, "string"
        return head.at

    def _not_a_call(self, text: str, at: int, head: Head | None) -> int:
        """What stands here is no call. If it got as far as its arguments, they belong to it."""
        stop = len(text) if head is None else head.at
        self._reject(text, at, stop)
        begun = head is not None and head.begun
        self._returned, self.unclosed = self._returned or self._base + at == 0, not begun
        self._state = "rejected" if begun else "over"
        return stop

    def _read_value(self, text: str, at: int) -> int | None:
        piece, at = self._value.scan(text, at)
        if self._state == "string":
            self._arguments.append(piece)
        else:
            self._add(piece)
        if self._value.state == "more":
            return self._wait(text, at)
        if self._state == "string":
            source = "".join(self._arguments)
            self._arguments = []
            self._open()
            self._add(_unwrapped(source) if wants_object(self._head.name, self._tools) else source)
        self._close()
        return at

    def _read_after(self, text: str, at: int) -> int | None:
        """After a call: its end marker, another call, the end of the section, or other text."""
        stop = _after_space(text, at)
        self._gap.append(text[at:stop])
        fence = self._fenced and text.startswith(FENCES[1][: len(text) - stop], stop)
        if stop == len(text) or self._markers.begins(text, stop) or (fence and len(text) - stop < 3):
            return self._wait(text, stop)
        if fence:
            self._fenced, self._gap = False, []
            return stop + len(FENCES[1])
        marker, written = self._markers.at(text, stop), self._written
        if marker in written.call_ends:
            self._gap, self._fenced = [], False
            return stop + len(marker or "")
        if marker in written.calls and written.sections:
            self._gap, self._state = [], "head"
            return stop
        self._state = "over"
        if marker is None:
            return stop
        if marker in (*written.calls, *written.sections):
            self._gap = []
            return stop
        if self._returned:
            self._sink.reject("".join(self._gap) + marker, self._base + stop - len("".join(self._gap)))
        self._gap = []
        return stop + len(marker)

    def _read_rejected(self, text: str, at: int) -> int | None:
        """What stands where the arguments should, up to the call's end marker or to another call."""
        match = self._markers.pattern.search(text, at)
        hold = self._markers.hold(text)
        if match is None or match.start() >= hold:
            self._reject(text, at, max(at, hold))
            return self._wait(text, max(at, hold))
        closes = match[0] in self._written.call_ends
        stop = match.end() if closes or match[0] in self._written.section_ends else match.start()
        self._reject(text, at, stop)
        self._state = "after" if closes and self._written.sections else "over"
        return stop

    # ---- what stands before the arguments

    def _find_head(self, text: str, at: int) -> Head | None:
        """What stands at `at`, where a section or a call begins; None if more text decides."""
        marker, stop = self._markers.at(text, at) or "", at
        if marker in self._written.sections:
            stop = _after_space(text, at + len(marker))
            if self._undecided(text, stop):
                return None
            marker = self._markers.at(text, stop) or ""
            if marker not in self._written.calls:
                return Head(
                    "text", stop + len(marker) if marker in self.ends else at + len(text[at:stop].rstrip())
                )
        begin = _after_space(text, stop + len(marker))
        hold = self._header.hold(text)
        match = self._header.pattern.search(text, begin)
        while match is not None and match[0] in self._written.inner:
            match = self._header.pattern.search(text, match.end())
        found = match is not None and match.start() < hold
        until = match.start() if match is not None and found else hold
        header = text[begin:until]
        if not self._may_be_header(header):
            return Head("text", stop + len(marker))
        if match is None or not found:
            return None
        if match[0] not in self._written.separators:
            named = self._written.named(header.strip(), self._tools)
            if named and any(word in header for word in self._written.inner):
                return Head("none", until, *named)
            return Head("text", until, begun=match[0] in self.ends)
        return self._named(text, header.strip(), match)

    @property
    def ends(self) -> tuple[str, ...]:
        """The markers that close a section or a call."""
        return (*self._written.section_ends, *self._written.call_ends)

    def _may_be_header(self, header: str) -> bool:
        """Whether this may be the beginning of a header: one word, inner markers aside."""
        for word in self._written.inner:
            header = header.replace(word, "")
        return len(header.split()) <= 1

    def _named(self, text: str, header: str, separator: re.Match[str]) -> Head | None:
        """What follows a header and its separator."""
        kept = separator[0] == "{" or separator[0] in FENCES
        stop = separator.start() if kept else separator.end()
        if header and header == self._written.content:
            return Head("content", stop)
        named = self._written.named(header, self._tools)
        offered = named is not None and any(tool.name == named[0] for tool in self._tools)
        if named is None or (self._written.offered and not offered):
            return Head("text", stop)
        return self._before_arguments(text, stop, *named)

    def _before_arguments(self, text: str, at: int, name: str, id: str | None) -> Head | None:
        stop, fenced = _after_space(text, at), False
        if self._written.fenced:
            if FENCE_MARKS.begins(text, stop):
                return None
            if fence := FENCE_MARKS.at(text, stop):
                stop, fenced = _after_space(text, stop + len(fence)), True
        if self._undecided(text, stop) or (text[stop:] != NULL and NULL.startswith(text[stop:])):
            return None
        if self._markers.at(text, stop) is not None:
            return Head("none", stop, name, id)
        if text.startswith(NULL, stop):
            return Head("none", stop + len(NULL), name, id, fenced)
        if text[stop] == '"' or OBJECT.match(text, stop):
            return Head("call", stop, name, id, fenced)
        return None if UNFINISHED_OBJECT.match(text, stop) else Head("text", stop, begun=True)

    def _undecided(self, text: str, at: int) -> bool:
        return at == len(text) or self._markers.begins(text, at)

    # ---- calls

    def _open(self) -> None:
        self._sink.open(self._head.name, self._head.id)

    def _add(self, piece: str) -> None:
        if piece:
            self._arguments.append(piece)
            self._sink.arguments(piece)

    def _close(self) -> None:
        self._sink.close(is_json("".join(self._arguments)))
        self._state = "after"

    def _reject(self, text: str, at: int, stop: int) -> None:
        if stop > at:
            self._sink.reject(text[at:stop], self._base + at)

    def _wait(self, text: str, at: int) -> int | None:
        self._pending = text[at:]
        return None


def _after_space(text: str, at: int) -> int:
    match = SPACE.match(text, at)
    return match.end() if match else at


def _unwrapped(source: str) -> str:
    """The JSON object in a JSON string; the string itself if there is none in it."""
    try:
        text = json.loads(source)
    except ValueError:
        return source
    text = text.strip() if isinstance(text, str) else ""
    return text if text.startswith("{") and is_json(text) else source if text else "{}"
