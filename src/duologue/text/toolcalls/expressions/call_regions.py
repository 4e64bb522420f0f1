"""Reads a region of call expressions: names, their arguments (`arguments_scanner.py`), and what stands around them.

Shared by the formats of this package; a `CallRegion` says what is special about each. JSON objects inside the markers of a
family are read as well (`json_calls.py`). Text that is not a call is returned: an opening marker without a call behind it
alone, a later expression that is none from its name on.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from duologue.text.stream.held_text import HeldText, held_text, may_become
from duologue.text.stream.markers import Markers
from duologue.text.toolcalls import ToolCallSink
from duologue.text.toolcalls.expressions.arguments_scanner import (
    LONGEST_KEY,
    PYTHON,
    ArgumentsScanner,
    ExpressionDialect,
)
from duologue.text.toolcalls.json_calls import ToolCallObject
from duologue.values.messages import Tool

BEFORE = re.compile(r"[ \t\r\n]*")
BETWEEN = re.compile(r"[ \t\r\n,;]*")
NAME = re.compile(rf"[^\W\d][\w.-]{{0,{LONGEST_KEY}}}")
PREFIX = "call:"


class CallRegion(Struct, frozen=True):
    """What a family writes around its calls. `start` and `end`: its markers; both "" where there are none, and then only
    tools that are offered are called. `dialect.braces`: `call:name{…}` instead of `name(…)`."""

    start: str = ""
    end: str = ""
    dialect: ExpressionDialect = PYTHON


class RegionScanner:
    """One region, from after its opening marker (or `[`) to after its closing one (or `]`)."""

    def __init__(self, region: CallRegion, start: str, sink: ToolCallSink, tools: Sequence[Tool]) -> None:
        self.unclosed = False
        self._region, self._sink, self._tools = region, sink, tools
        self._bare = start != region.start
        """The region has no markers."""
        self._listed = start == "["
        self._ends = Markers(() if self._bare else (region.end,))
        self._state: Literal["before", "name", "arguments", "object", "between", "over"] = "before"
        self._arguments: ArgumentsScanner | None = None
        self._object: ToolCallObject | None = None
        self._called = False
        """A call was read in this region."""
        self._raw = [start]
        """Text that is returned if it turns out not to be a call,"""
        self._raw_at = 0
        """and where in the region it began."""
        self._base = len(start)
        """Where in the region the current text begins."""
        self._pending = ""
        self._gap: list[str] = []
        """What separates a call from what follows."""

    @property
    def pending(self) -> HeldText | None:
        """What is held back: all of an expression until it is a call, and a value that is no text to its end."""
        if self._state == "between":
            return held_text([*self._gap, self._pending], "after a call: dropped unless text follows")
        if self._arguments is not None and self._state == "arguments" and self._arguments.committed:
            pieces = [*self._arguments.unfinished, self._pending]
            return held_text(pieces, "inside a call: a key or a value that is read to its end")
        if self._object is not None and self._state == "object" and self._object.committed:
            return may_become(self._pending, self._ends.words) if self._pending else self._object.pending
        return held_text(
            [*self._raw, self._pending], "a call once its name and the beginning of its arguments are read"
        )

    def feed(self, text: str) -> str | None:
        if self._pending:
            text, self._pending = self._pending + text, ""
        at, end = 0, len(text)
        while at < end and self._state != "over":
            stop = self._step(text, at)
            if stop is None:
                break
            at = stop
        if self._state == "over":
            return self._kept_gap() + text[at:]
        self._base += end - len(self._pending)
        return None

    def finish(self) -> bool:
        if self._state == "arguments" and self._arguments is not None and self._arguments.committed:
            return True
        if self._state == "object" and self._object is not None:
            cut = self._object.finish(self._pending)
            if self._object.committed:
                return cut
        if self._state != "between":
            self._raw.append(self._pending)
            self._sink.reject("".join(self._raw), self._raw_at)
        return False

    def _step(self, text: str, at: int) -> int | None:
        """The position to continue from; None to wait for more text, with the rest stored as pending."""
        if self._state == "arguments" and self._arguments is not None:
            return self._read_arguments(self._arguments, text, at)
        if self._state == "object" and self._object is not None:
            return self._read_object(self._object, text, at)
        if self._state == "name":
            return self._read_name(text, at)
        return self._read_before(text, at) if self._state == "before" else self._read_between(text, at)

    def _read_before(self, text: str, at: int) -> int | None:
        """After the opening marker: a list, or the first call."""
        match = BEFORE.match(text, at)
        stop = match.end() if match else at
        self._raw.append(text[at:stop])
        if stop == len(text):
            return stop
        if text[stop] == "[" and not self._listed and not self._region.dialect.braces:
            self._listed = True
            self._raw.append("[")
            return stop + 1
        if text[stop] == "{" and not self._bare:
            return self._begin_object(stop)
        if self._ends.begins(text, stop):
            return self._wait(text, stop)
        if self._ends.at(text, stop):
            # Nothing between the markers.
            self._raw.append(self._region.end)
            return self._give_back(stop + len(self._region.end))
        self._state = "name"
        return stop

    def _read_name(self, text: str, at: int) -> int | None:
        """A name with its opening bracket."""
        braces = self._region.dialect.braces
        begin = at
        if braces:
            if len(text) - at < len(PREFIX) and PREFIX.startswith(text[at:]):
                return self._wait(text, at)
            if text.startswith(PREFIX, at):
                begin += len(PREFIX)
        name = NAME.match(text, begin)
        stop = name.end() if name else begin
        if stop == len(text) and stop - at < LONGEST_KEY:
            return self._wait(text, at)
        offered = name is not None and (not self._bare or any(tool.name == name[0] for tool in self._tools))
        if name is None or not offered or text[stop : stop + 1] != ("{" if braces else "("):
            return self._give_back(at, unclosed=not self._bare and not self._called)
        self._raw.append(text[at : stop + 1])
        self._arguments = ArgumentsScanner(self._region.dialect, name[0], self._sink, self._tools)
        self._state = "arguments"
        return stop + 1

    def _read_arguments(self, arguments: ArgumentsScanner, text: str, at: int) -> int | None:
        stop = arguments.feed(text, at)
        if not arguments.committed:
            self._raw.append(text[at:stop])
        if arguments.state == "open":
            return self._wait(text, stop)
        return self._leave_call(arguments.state == "ended", arguments.committed, stop)

    def _begin_object(self, at: int) -> int:
        self._object = ToolCallObject(self._sink, self._ends, self._tools)
        self._state = "object"
        return at

    def _read_object(self, call: ToolCallObject, text: str, at: int) -> int | None:
        stop = call.feed(text, at)
        if not call.committed:
            self._raw.append(text[at:stop])
        if call.state == "open":
            return self._wait(text, stop)
        return self._leave_call(call.state == "ended", call.committed, stop)

    def _leave_call(self, ended: bool, committed: bool, at: int) -> int:
        if not committed:
            return self._give_back(at, unclosed=not self._bare and not self._called)
        self._raw, self._called = [], True
        self._state = "between" if ended else "over"
        return at

    def _read_between(self, text: str, at: int) -> int | None:
        """After a call: another one, the end of the region, or other text."""
        match = BETWEEN.match(text, at)
        stop = match.end() if match else at
        self._gap.append(text[at:stop])
        if stop == len(text):
            return stop
        if text[stop] == "]" and self._listed:
            self._listed = False
            self._gap = []
            if self._bare:
                self._state = "over"
            return stop + 1
        if self._ends.begins(text, stop):
            return self._wait(text, stop)
        if self._ends.at(text, stop):
            self._gap, self._state = [], "over"
            return stop + len(self._region.end)
        another = text[stop] == "{" and not self._bare and not self._region.dialect.braces
        if another or NAME.match(text, stop):
            gap = self._kept_gap()
            self._raw, self._raw_at, self._gap = [gap], self._base + stop - len(gap), []
            if another:
                return self._begin_object(stop)
            self._state = "name"
            return stop
        self._state = "over"
        return stop

    def _kept_gap(self) -> str:
        """Whitespace after a call is text if text follows, unless a comma is in it."""
        gap = "".join(self._gap)
        return gap if gap.isspace() else ""

    def _give_back(self, at: int, *, unclosed: bool = False) -> int:
        self._sink.reject("".join(self._raw), self._raw_at)
        self._raw, self.unclosed, self._state = [], unclosed, "over"
        return at

    def _wait(self, text: str, at: int) -> int | None:
        self._pending = text[at:]
        return None
