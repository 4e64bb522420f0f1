"""Hermes and Qwen: JSON between `<tool_call>` and `</tool_call>`.

    <tool_call>
    {"name": "f", "arguments": {"a": "x"}}
    </tool_call>

This file reads the wrapper; the object inside is read by `json_calls.py`. Tolerated: no line ends at all, several
objects or an array of them in one wrapper, a missing end marker once the JSON is complete. Text that is not a call is
returned: an opening marker without JSON after it (prose about markers) alone, broken JSON up to its end marker.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Literal

from duologue.text.stream.markers import Markers
from duologue.text.toolcalls import ToolCallScanner, ToolCallSink
from duologue.text.toolcalls.json_calls import ToolCallObject
from duologue.text.toolcalls.schema_grammar import JsonGrammar, literal
from duologue.values.messages import Tool

START = "<tool_call>"
END = "</tool_call>"
MARKERS = Markers((START, END))
NAME, ARGUMENTS = '"name"', '"arguments"'

BEFORE = re.compile(r"[\s\[]*")
BETWEEN = re.compile(r"[\s,;\]}]*")
NOISE = re.compile(r"\S+")


class Hermes:
    """The format. Qwen models may call from within their reasoning, which ends there."""

    starts: tuple[str, ...] = (START,)
    ends: tuple[str, ...] = (END,)
    in_reasoning = True

    def scanner(self, start: str, sink: ToolCallSink, tools: Sequence[Tool]) -> ToolCallScanner:
        return HermesScanner(start, sink, tools)

    def calls(self, tools: Sequence[Tool], grammar: JsonGrammar, shaped: bool) -> str:
        objects = [
            grammar.add(
                "call",
                f'"{{" space {literal(NAME)} colon {literal(json.dumps(tool.name, ensure_ascii=False))} comma '
                f'{literal(ARGUMENTS)} colon {_arguments(tool, grammar, shaped)} space "}}"',
            )
            for tool in tools
        ]
        return grammar.add("region", f"{literal(START)} space ({' | '.join(objects)}) space {literal(END)}")


FORMAT = Hermes()


def _arguments(tool: Tool, grammar: JsonGrammar, shaped: bool) -> str:
    return grammar.schema({"type": "object", **tool.parameters}, "arguments") if shaped else "object"


class HermesScanner:
    """One region, from after `<tool_call>` to after `</tool_call>`."""

    def __init__(self, start: str, sink: ToolCallSink, tools: Sequence[Tool]) -> None:
        self.unclosed = False
        self._sink, self._tools = sink, tools
        self._state: Literal["before", "object", "after", "rejected", "over"] = "before"
        self._object = ToolCallObject(sink, MARKERS, tools)
        self._raw = [start]
        """Text that is returned if it turns out not to be a call,"""
        self._raw_at = 0
        """and where in the region it began."""
        self._base = len(start)
        """Where in the region the current text begins."""
        self._pending = ""
        self._gap: list[str] = []
        """Whitespace after a call: structure, unless text follows. Brackets and commas there are always noise."""

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
            return "".join(self._gap) + text[at:]
        self._base += end - len(self._pending)
        return None

    def finish(self) -> bool:
        if self._state == "object":
            cut = self._object.finish(self._pending)
            if not self._object.committed:
                self._raw.append(self._pending)
                self._give_back()
            return cut
        if self._state == "before":
            self._raw.append(self._pending)
            self._give_back()
        elif self._state == "rejected" and self._pending:
            self._sink.reject(self._pending, self._base)
        return False

    def _step(self, text: str, at: int) -> int | None:
        """The position to continue from; None to wait for more text, with the rest stored as pending."""
        if self._state == "object":
            return self._read_object(text, at)
        if self._state == "before":
            return self._read_before(text, at)
        if self._state == "after":
            return self._read_after(text, at)
        return self._read_rejected(text, at)

    def _read_before(self, text: str, at: int) -> int | None:
        match = BEFORE.match(text, at)
        stop = match.end() if match else at
        self._raw.append(text[at:stop])
        if stop == len(text):
            return stop
        if text[stop] == "{":
            self._state = "object"
            return stop
        if MARKERS.begins(text, stop):
            self._pending = text[stop:]
            return None
        if MARKERS.at(text, stop) == END:
            self._raw.append(END)
            stop += len(END)
        else:
            self.unclosed = True
        self._give_back()
        self._state = "over"
        return stop

    def _read_object(self, text: str, at: int) -> int | None:
        call = self._object
        stop = call.feed(text, at)
        if not call.committed:
            self._raw.append(text[at:stop])
        if call.state == "open":
            self._pending = text[stop:]
            return None
        if call.state == "broken" and not call.committed:
            self._give_back()
            self._state = "rejected"
        else:
            self._raw = []
            self._state = "after"
        return stop

    def _read_after(self, text: str, at: int) -> int | None:
        """After a call: another one, the end marker, or other text."""
        match = BETWEEN.match(text, at)
        stop = match.end() if match else at
        self._gap.append(NOISE.sub("", text[at:stop]))
        if stop == len(text):
            return stop
        if MARKERS.begins(text, stop):
            self._pending = text[stop:]
            return None
        marker = MARKERS.at(text, stop)
        if text[stop] == "{":
            self._gap = []
            self._raw_at = self._base + stop
            self._object = ToolCallObject(self._sink, MARKERS, self._tools)
            self._state = "object"
            return stop
        self._state = "over"
        if marker is not None:
            self._gap = []
        return stop + len(END) if marker == END else stop

    def _read_rejected(self, text: str, at: int) -> int | None:
        """The rest of broken JSON, up to its end marker or the next call."""
        match = MARKERS.pattern.search(text, at)
        if match is None:
            stop = max(at, MARKERS.hold(text))
            if stop > at:
                self._sink.reject(text[at:stop], self._base + at)
            self._pending = text[stop:]
            return None
        stop = match.end() if match[0] == END else match.start()
        if stop > at:
            self._sink.reject(text[at:stop], self._base + at)
        self._state = "over"
        return stop

    def _give_back(self) -> None:
        self._sink.reject("".join(self._raw), self._raw_at)
        self._raw = []
