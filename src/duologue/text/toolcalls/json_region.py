"""Reads a region of calls written as JSON objects: between markers, or bare at the beginning of a line.

The formats of `wrapped_json/` are configurations of it (`JsonRegion`); one object is read by `json_calls.py`. Whatever a
family writes, every layout is read: one object, several one after another, an array of them; no line ends at all; a
missing end marker once the JSON is complete. So families that share markers (`<tool_call>`, `<tool_calls>`) read each
other's calls.

Text that is not a call is returned: an opening marker without JSON after it (prose about markers) alone, broken JSON up
to the next marker, or to its line's end where each call has a line of its own. JSON without a marker is a call only if it
names a tool that is offered; as an answer it is returned as a whole, so that no part of it is taken for a call.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache
from typing import Literal

from msgspec import Struct, structs

from duologue.text.grammars.gbnf_terms import literal
from duologue.text.grammars.schema_grammar import JsonGrammar
from duologue.text.stream.held_text import HeldText, held_text, may_become
from duologue.text.stream.markers import Markers
from duologue.text.toolcalls import QuickScanner, ToolCallScanner, ToolCallSink, ToolFormat
from duologue.text.toolcalls.json_calls import USUAL_KEYS, CallKeys, ToolCallObject
from duologue.text.toolcalls.json_values import ValueScanner
from duologue.values.messages import Tool

FENCE = "```"
BLANK_LINE = "\n\n"
SPACE = re.compile(r"\s*")
BETWEEN = re.compile(r"[\s,;\]}]*")
NOISE = re.compile(r"\S+")

Layout = Literal["objects", "array", "lines", "semicolons"]
SEPARATORS = {"array": "comma", "lines": literal("\n"), "semicolons": literal("; ")}
State = Literal["before", "object", "after", "rejected", "answer", "over"]


class JsonRegion(Struct, frozen=True):
    """How a family writes its regions. What is read besides `starts`, `ends`, `line_starts` and `keys` is the same for all; the
    rest is what the family writes itself, for its grammar.

    `line_starts` open a region as the first text of a line (`ToolFormat.line_starts`). `layout`: a region for each call
    ("objects"), or all calls in one: an array, each on a line of its own, or with semicolons between. `call`: the keys of a
    call, in their order. `opening` and `closing`: the markers, if they are not `starts[0]` and none; `optional`: it may leave
    out the opening one."""

    starts: tuple[str, ...]
    ends: tuple[str, ...] = ()
    line_starts: tuple[str, ...] = ()
    layout: Layout = "objects"
    keys: CallKeys = USUAL_KEYS
    call: tuple[str, ...] = ("name", "arguments")
    opening: str = ""
    closing: str = ""
    optional: bool = False


@cache
def _markers(region: JsonRegion, fenced: bool) -> Markers:
    return Markers((*region.starts, *region.ends, *((FENCE,) if fenced else ())))


class JsonRegionFormat(ToolFormat):
    """A format of such regions."""

    def __init__(self, region: JsonRegion, *, in_reasoning: bool = False) -> None:
        self.region = region
        self.starts, self.ends, self.line_starts = region.starts, region.ends, region.line_starts
        self.in_reasoning = in_reasoning

    def scanner(self, start: str, sink: ToolCallSink, tools: Sequence[Tool]) -> ToolCallScanner:
        return JsonRegionScanner(self.region, start, sink, tools)

    def calls(self, tools: Sequence[Tool], grammar: JsonGrammar, shaped: bool) -> str:
        return self._region(self._call(tools, grammar, shaped), grammar)

    def several_calls(self, tools: Sequence[Tool], grammar: JsonGrammar, shaped: bool) -> str:
        if self.region.layout == "objects":
            return super().several_calls(tools, grammar, shaped)
        call = self._call(tools, grammar, shaped)
        return self._region(f"{call} ({SEPARATORS[self.region.layout]} {call})*", grammar)

    def _region(self, calls: str, grammar: JsonGrammar) -> str:
        region = self.region
        if region.layout == "array":
            calls = f'"[" space {calls} space "]"'
        opening, closing = literal(region.opening or region.starts[0]), literal(region.closing)
        if region.optional:
            opening = f"{opening}?"
        # A marker may end in the bracket itself, and then nothing stands between.
        gap = "" if f"{region.opening}[" in region.starts else "space "
        end = f" space {closing}" if region.closing else ""
        return grammar.add("region", f"{opening} {gap}{calls}{end}")

    def _call(self, tools: Sequence[Tool], grammar: JsonGrammar, shaped: bool) -> str:
        return grammar.add("any-call", " | ".join(self.call_of(tool, grammar, shaped) for tool in tools))

    def call_of(self, tool: Tool, grammar: JsonGrammar, shaped: bool) -> str:
        """Add the rule of a call of one tool, without markers."""
        arguments = grammar.schema({"type": "object", **tool.parameters}, "arguments") if shaped else "object"
        keys = self.region.keys
        name = literal(json.dumps(tool.name, ensure_ascii=False))
        if keys.named:
            return grammar.add("call", f'"{{" space {name} colon {arguments} space "}}"')
        parts: list[str] = []
        for at, key in enumerate(self.region.call):
            value = name if key in keys.names else arguments if key in keys.arguments else ""
            part = f"{literal(json.dumps(key))} colon {value or _id_rule(keys)}"
            if not value:  # an id, which may be left out
                part = f"({part} comma)?" if at == 0 else f"(comma {part})?"
            elif parts and self.region.call[at - 1] in (*keys.names, *keys.arguments):
                part = f"comma {part}"
            parts.append(part)
        return grammar.add("call", f'"{{" space {" ".join(parts)} space "}}"')


def _id_rule(keys: CallKeys) -> str:
    return "string" if keys.id_form == USUAL_KEYS.id_form else rf'"\"" {keys.id_form} "\""'


class JsonRegionScanner(QuickScanner):
    """One region, from after its opening marker to after its closing one."""

    def __init__(self, region: JsonRegion, start: str, sink: ToolCallSink, tools: Sequence[Tool]) -> None:
        self.unclosed = False
        self._sink, self._tools = sink, tools
        self._bare = start in region.line_starts
        self._fenced = start.startswith(FENCE)
        self._lines = region.layout == "lines"
        self._ends = (*region.ends, FENCE) if self._fenced else region.ends
        self._markers = _markers(region, self._fenced)
        self._keys = structs.replace(region.keys, offered=True) if self._bare else region.keys
        self._state: State = "before"
        self._object = self._new_object()
        bracket = start if start == "{" else ""
        self._pending = bracket
        self._raw = [start.removesuffix(bracket)]
        """Text that is returned if it turns out not to be a call,"""
        self._raw_at = 0
        """and where in the region it began."""
        self._base = len(start) - len(bracket)
        """Where in the region the current text begins."""
        self._unopened = False
        """The opening marker was returned as text."""
        self._answer = ValueScanner(self._markers)
        self._gap: list[str] = []
        """Whitespace after a call: structure, unless text follows. Brackets and commas there are always noise."""

    @property
    def pending(self) -> HeldText | None:
        """What is held back: all of an object until it is a call."""
        if self._state == "before":
            return held_text([*self._raw, self._pending], "a call if JSON follows")
        if self._state == "object" and not self._object.committed:
            return held_text([*self._raw, self._pending], self._object.waits_for)
        if self._state == "after":
            return held_text([*self._gap, self._pending], "after a call: dropped unless text follows")
        if self._pending:
            return may_become(self._pending, self._markers.words)
        return self._object.pending if self._state == "object" else None

    def take(self, text: str) -> str | None:
        if self._state != "object" or self._pending or not self._object.take(text):
            return None
        self._base += len(text)
        return text

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
                return not self._bare
            return cut
        if self._state == "before":
            self._raw.append(self._pending)
            self._give_back()
        elif self._state in ("rejected", "answer") and self._pending:
            self._sink.reject(self._pending, self._base)
        return False

    def _new_object(self) -> ToolCallObject:
        return ToolCallObject(self._sink, self._markers, self._tools, self._keys)

    def _step(self, text: str, at: int) -> int | None:
        """The position to continue from; None to wait for more text, with the rest stored as pending."""
        if self._state == "object":
            return self._read_object(text, at)
        if self._state == "before":
            return self._read_before(text, at)
        if self._state == "after":
            return self._read_after(text, at)
        return self._read_answer(text, at) if self._state == "answer" else self._read_rejected(text, at)

    def _read_before(self, text: str, at: int) -> int | None:
        stop = at
        while True:
            stop = _after_space(text, stop)
            if stop == len(text) or self._markers.begins(text, stop):
                self._raw.append(text[at:stop])
                return self._wait(text, stop)
            marker = self._markers.at(text, stop)
            if marker is not None or text[stop] != "[":
                break
            stop += 1
        self._raw.append(text[at:stop])
        if text[stop] == "{":
            self._state = "object"
            return stop
        if self._bare and marker is None:
            self._reject_object()
            return stop
        if marker in self._ends:
            self._raw.append(marker or "")
            stop += len(marker or "")
        else:
            self.unclosed = not self._bare
        self._give_back()
        self._state = "over"
        return stop

    def _read_object(self, text: str, at: int) -> int | None:
        call = self._object
        stop = call.feed(text, at)
        if not call.committed:
            self._raw.append(text[at:stop])
        if call.state == "open":
            return self._wait(text, stop)
        if call.state == "broken" and not call.committed:
            self._reject_object()
        else:
            self._raw = []
            self._state = "after"
        return stop

    def _reject_object(self) -> None:
        """What was read of an object goes back; what follows it is read as the rest of it."""
        self._state = "rejected"
        if self._bare:
            read = "".join(self._raw)
            if not self._fenced:
                self._answer.scan(read, 0)
            over = self._fenced or self._answer.state != "more" or BLANK_LINE in read
            self._state = "over" if over else "answer"
        self._give_back()

    def _read_after(self, text: str, at: int) -> int | None:
        """After a call: another one, the end marker, or other text."""
        match = BETWEEN.match(text, at)
        stop = match.end() if match else at
        self._gap.append(NOISE.sub("", text[at:stop]))
        if stop == len(text):
            return stop
        if self._markers.begins(text, stop):
            return self._wait(text, stop)
        marker = self._markers.at(text, stop)
        if text[stop] == "{":
            self._gap = []
            self._raw_at = self._base + stop
            self._object = self._new_object()
            self._state = "object"
            return stop
        self._state = "over"
        if marker in self._ends:
            return self._close(marker or "", stop)
        if marker is not None:
            self._gap = []
        return stop

    def _close(self, marker: str, at: int) -> int:
        """At the closing marker: it is text where the opening one was."""
        if self._unopened:
            lead = "".join(self._gap)
            self._sink.reject(lead + marker, self._base + at - len(lead))
        self._gap = []
        self._state = "over"
        return at + len(marker)

    def _read_rejected(self, text: str, at: int) -> int | None:
        """The rest of broken JSON, up to a marker or, where each call has a line, to the line's end."""
        match = self._markers.pattern.search(text, at)
        line = text.find("\n", at, match.start() if match else len(text)) if self._lines else -1
        if line >= 0:
            self._reject(text, at, line)
            self._state = "after"
            return line
        if match is None:
            stop = max(at, self._markers.hold(text))
            self._reject(text, at, stop)
            return self._wait(text, stop)
        self._reject(text, at, match.start())
        if match[0] in self._ends:
            return self._close(match[0], match.start())
        self._state = "over"
        return match.start()

    def _read_answer(self, text: str, at: int) -> int | None:
        """The rest of bare JSON that is no call: to its end, an empty line or a marker."""
        blank = text.find(BLANK_LINE, at)
        limit = blank if blank >= 0 else len(text) - text.endswith("\n")
        stop = at
        if limit > at:
            _, stop = self._answer.scan(text[:limit], at)
            self._reject(text, at, stop)
        if self._answer.state == "more" and (blank < 0 or stop < blank):
            if blank < 0:
                return self._wait(text, stop)
            self._reject(text, stop, blank)
            stop = blank
        self._state = "over"
        return stop

    def _wait(self, text: str, at: int) -> int | None:
        self._pending = text[at:]
        return None

    def _reject(self, text: str, at: int, stop: int) -> None:
        if stop > at:
            self._sink.reject(text[at:stop], self._base + at)

    def _give_back(self) -> None:
        self._unopened = self._unopened or self._raw_at == 0
        self._sink.reject("".join(self._raw), self._raw_at)
        self._raw = []


def _after_space(text: str, at: int) -> int:
    match = SPACE.match(text, at)
    return match.end() if match else at
