"""Reads calls that are written with each parameter between tags, as the tags of a family say (`call_tags.py`).

Shared by the families of `elements/` and `key_values/`, and for formats of messages that have such calls in them: there,
`TaggedCallScanner(tags, start, sink, tools)` reads one region from its opening tag on, `start` being the marker that was
found (one of `tags.starts`); `feed` returns the text after the region.

Text parameters are passed on as they are written; what other text is to become JSON is in `parameter_values.py`. Values
are not escaped, so a closing tag counts only where the format goes on after it: a file that contains `</parameter>` is
written as it is. Tolerated: any whitespace between tags, a missing wrapper around a tool that is offered, missing
closing tags where the next one is clear, several calls in one wrapper, and an object of JSON in place of the
parameters. Text that is not a call is returned.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Literal

from duologue.text.grammars.schema_grammar import JsonGrammar
from duologue.text.stream.held_text import HeldText, held_text
from duologue.text.toolcalls import QuickScanner, ToolCallScanner, ToolCallSink, ToolFormat
from duologue.text.toolcalls.call_tags import MOST_SPACE, CallTags, name_in
from duologue.text.toolcalls.json_values import ValueScanner, is_json
from duologue.text.toolcalls.parameter_values import is_text, parameters_of, types_of
from duologue.text.toolcalls.tagged_grammar import tagged_call
from duologue.text.toolcalls.wrapped_json.hermes import HermesScanner
from duologue.values.messages import Tool

OBJECT = re.compile(rf'\{{[ \t\r\n]{{0,{MOST_SPACE}}}["}}]')
UNFINISHED_OBJECT = re.compile(rf"\{{[ \t\r\n]{{0,{MOST_SPACE}}}\Z")

ENCODE = json.JSONEncoder(ensure_ascii=False).encode

State = Literal["start", "opening", "head", "value", "next", "body", "closing", "after", "over"]


class TaggedCalls(ToolFormat):
    """A format of such calls."""

    in_reasoning = True

    def __init__(self, tags: CallTags) -> None:
        self.tags = tags
        self.starts, self.ends, self.inner = tags.starts, tags.ends, tags.tokens

    def scanner(self, start: str, sink: ToolCallSink, tools: Sequence[Tool]) -> ToolCallScanner:
        return TaggedCallScanner(self.tags, start, sink, tools)

    def calls(self, tools: Sequence[Tool], grammar: JsonGrammar, shaped: bool) -> str:
        return tagged_call(self.tags.written, tools, grammar, shaped)


class TaggedCallScanner(QuickScanner):
    """One region, from its opening tag to after its closing one, or after that of the call where it has no wrapper."""

    def __init__(
        self, tags: CallTags, start: str, sink: ToolCallSink, tools: Sequence[Tool], at: int = 0
    ) -> None:
        """`at`: where in the region the opening tag begins."""
        self._tags, self._sink, self._tools = tags, sink, tools
        self._state: State = "start"
        self._wrapped = False
        self._json: HermesScanner | None = None
        """Reads the region if JSON is in the wrapper."""
        self._raw: list[str] = []
        """What was read before it was clear that it is a call,"""
        self._raw_at = at
        """and where in the region it began."""
        self._base = at
        """Where in the region the current text begins."""
        self._pending = start
        self._gap: list[str] = []
        """Whitespace after a call: structure, unless text follows."""
        self._unclosed = False
        self._name = ""
        self._key = ""
        self._known: Mapping[str, object] = {}
        self._given: set[str] = set()
        self._value: list[str] | None = None
        """A value that is read as a whole; None for one that is passed on as it comes."""
        self._stated: bool | None = None
        """What its tag says of a value: text, JSON, or nothing."""
        self._begun = False
        """The value has begun: its first line end, or quote, was dropped, if it had one."""
        self._quoted = False
        self._object = ValueScanner(tags.closings)
        self._body: list[str] = []
        """Arguments that are written as JSON."""

    @property
    def unclosed(self) -> bool:
        return self._json.unclosed if self._json is not None else self._unclosed

    @property
    def pending(self) -> HeldText | None:
        """What is held back: all of a call until it is one, and a value that is no text until its end."""
        if self._json is not None:
            return self._json.pending
        if self._state in ("start", "opening", "head"):
            return held_text([*self._raw, self._pending], "a call once its name and what follows it are read")
        if self._state == "value" and self._value is not None:
            types = " or ".join(sorted(types_of(self._known.get(self._key)))) or "any type"
            return held_text(
                [*self._value, self._pending], f"inside a call: `{self._key}` ({types}), until its end"
            )
        if self._state == "value":
            return held_text([self._pending], f"inside a call: may end `{self._key}`")
        return held_text([*self._gap, self._pending], "between the tags of a call")

    def take(self, text: str) -> str | None:
        if self._json is not None:
            return self._json.take(text)
        if self._state != "value" or self._value is not None or self._pending or not self._passes(text):
            return None
        self._base += len(text)
        return ENCODE(text)[1:-1]

    def feed(self, text: str) -> str | None:
        if self._json is not None:
            return self._json.feed(text)
        text, self._pending = self._pending + text, ""
        at = 0
        while self._state != "over":
            stop = self._step(text, at)
            if stop is None:
                self._base += len(text) - len(self._pending)
                return None
            at = stop
            if self._json is not None:
                return self._json.feed(text[at:])
        return "".join(self._gap) + text[at:]

    def finish(self) -> bool:
        if self._json is not None:
            return self._json.finish()
        if self._state == "value":
            return self._finish_value()
        if self._state in ("start", "opening", "head"):
            self._raw.append(self._pending)
            self._give_back(0)
            return False
        if self._state == "closing":
            self._close(is_json("".join(self._body)))
            return False
        if self._state == "body":
            self._add_body(self._pending)
        return self._state in ("next", "body")

    # ---- one step: returns where to go on, or None to wait for more text, with the rest kept as pending

    def _step(self, text: str, at: int) -> int | None:
        if self._state == "start":
            return self._read_start(text, at)
        if self._state == "opening":
            return self._read_opening(text, at)
        if self._state == "value":
            return self._read_value(text, at)
        if self._state == "body":
            return self._read_body(text, at)
        if self._state == "closing":
            return self._read_closing(text, at)
        return self._read_next(text, at) if self._state in ("head", "next") else self._read_after(text, at)

    def _read_start(self, text: str, at: int) -> int | None:
        """The tag that opens the region: that of the wrapper, or of a call."""
        for tag in (self._tags.start, self._tags.call):
            match = tag.read(text, at)
            if match == "unfinished":
                return self._wait(text, at)
            if match is None:
                continue
            if tag is self._tags.start:
                self._raw.append(match[0])
                self._wrapped, self._state = True, "opening"
                return match.end()
            name = self._called(match)
            offered = any(tool.name == name for tool in self._tools)
            if name and (offered or not self._tags.written["start"]):
                return self._begin_call(match)
        stop = at + max(len(start) for start in self._tags.starts if text.startswith(start, at))
        self._raw.append(text[at:stop])
        return self._give_back(stop, unclosed=not self._tags.written["start"])

    def _read_opening(self, text: str, at: int) -> int | None:
        """In the wrapper: a call, or JSON."""
        stop, undecided = self._tags.after_space(text, at)
        self._raw.append(text[at:stop])
        if undecided:
            return self._wait(text, stop)
        match = self._tags.call.read(text, stop)
        if match == "unfinished":
            return self._wait(text, stop)
        if match is not None and name_in(match):
            return self._begin_call(match)
        if self._tags.json_in_wrapper and text[stop] in "{[":
            self._json = HermesScanner("".join(self._raw), self._sink, self._tools)
            return stop
        end = self._tags.end.read(text, stop)
        if end == "unfinished":
            return self._wait(text, stop)
        if end is not None:
            self._raw.append(end[0])
            return self._give_back(end.end())
        return self._give_back(stop, unclosed=True)

    def _begin_call(self, match: re.Match[str]) -> int:
        self._raw.append(match[0])
        self._name, self._state = self._called(match), "head"
        return match.end()

    def _read_next(self, text: str, at: int) -> int | None:
        """Within a call: the next parameter, or its end. In the state "head" nothing of it was passed on yet."""
        stop, undecided = self._tags.after_space(text, at)
        if self._state == "head":
            self._raw.append(text[at:stop])
        if undecided:
            return self._wait(text, stop)
        if self._state == "head" and text[stop] == "{":
            return self._begin_body(text, stop)
        for tag in (self._tags.body, self._tags.parameter, self._tags.call_end, self._tags.end):
            match = tag.read(text, stop)
            if match == "unfinished":
                return self._wait(text, stop)
            if match is None or (tag is self._tags.body and self._state != "head"):
                continue
            if tag is self._tags.body:
                self._raw.append(match[0])
                return match.end()
            if self._state == "head":
                self._open()
                self._sink.arguments("{")
            if tag is self._tags.parameter:
                self._begin(match)
                return match.end()
            self._sink.arguments("}")
            self._close(True)
            return stop if tag is self._tags.end else match.end()
        return self._break(stop)

    def _read_after(self, text: str, at: int) -> int | None:
        """After a call: the end of the wrapper, another call, or other text."""
        stop, undecided = self._tags.after_space(text, at)
        self._gap.append(text[at:stop])
        if undecided:
            return self._wait(text, stop)
        for tag in (self._tags.call, self._tags.end):
            match = tag.read(text, stop)
            if match == "unfinished":
                return self._wait(text, stop)
            if match is None:
                continue
            self._gap = []
            if tag is self._tags.end:
                self._state = "over"
                return match.end()
            if self._wrapped and name_in(match):
                self._raw, self._raw_at = [], self._base + stop
                return self._begin_call(match)
        self._state = "over"
        return stop

    # ---- values

    def _read_value(self, text: str, at: int) -> int | None:
        if not self._begun:
            if at == len(text):
                return self._wait(text, at)
            quote = self._tags.quotes[0]
            self._quoted = bool(quote) and text.startswith(quote, at)
            if quote and not self._quoted and quote.startswith(text[at:]):
                return self._wait(text, at)
            self._begun = True
            at += len(quote) if self._quoted else self._tags.line_ends and text[at] == "\n"
        search = at
        while stop := self._tags.value_stops.search(text, search):
            mark = stop.start()
            end = self._end_of_value(text, mark)
            if end == "unfinished":
                return self._hold(text, at, mark)
            if end is not None:
                self._add(text[at : mark - self._is_line_end(text, mark - 1, at)])
                self._end_value()
                return end
            search = mark + 1
        return self._hold(text, at, len(text))

    def _end_of_value(self, text: str, mark: int) -> int | Literal["unfinished"] | None:
        """Where to go on if the value ends at `mark`: at its closing tag or that of the call, where the format goes on
        after it, or at the tag of a parameter that the tool has and that was not given."""
        tags = self._tags
        own = (tags.quoted_end if self._quoted else tags.parameter_end).read(text, mark)
        if own == "unfinished" or (own is None and self._quoted):
            return own
        if own is not None and name_in(own) in ("", self._key):
            return self._followed(text, own.end(), own.end())
        call = tags.call_end.read(text, mark)
        if call is not None:
            return call if call == "unfinished" else self._followed(text, call.end(), mark)
        parameter = tags.parameter.read(text, mark)
        if parameter is None or parameter == "unfinished":
            return parameter
        # Where closing tags have names, a tag within a value may be part of it.
        another = not tags.named_ends and tags.plain(name_in(parameter)) in self._known.keys() - self._given
        return mark if another else None

    def _followed(self, text: str, at: int, then: int) -> int | Literal["unfinished"] | None:
        """`then`, if the format goes on at `at`: after a value with another or the end of the call, after a call with
        the end of the wrapper."""
        tags = self._tags
        stop, undecided = tags.after_space(text, at)
        if stop - at > MOST_SPACE:
            return None
        if undecided:
            return "unfinished"
        following = (tags.parameter, tags.call_end, tags.end) if then == at else (tags.end,)
        for tag in following:
            match = tag.read(text, stop)
            if match is not None:
                return match if match == "unfinished" else then
        return None

    def _hold(self, text: str, at: int, until: int) -> int | None:
        """Pass on a value up to `until`, less a line end before it, and keep the rest."""
        until -= self._is_line_end(text, until - 1, at)
        self._add(text[at:until])
        self._pending = text[until:]
        return None

    def _passes(self, text: str) -> bool:
        """Whether text in a value is part of it as a whole: most pieces are."""
        return (
            self._begun
            and self._tags.value_stops.search(text) is None
            and not (self._tags.line_ends and text.endswith("\n"))
        )

    def _is_line_end(self, text: str, where: int, at: int) -> bool:
        return self._tags.line_ends and where >= at and text[where] == "\n"

    def _begin(self, match: re.Match[str]) -> None:
        key = self._tags.plain(name_in(match))
        separator = ", " if self._given else ""
        self._sink.arguments(f"{separator}{ENCODE(key)}: ")
        self._key, self._state, self._begun = key, "value", False
        self._given.add(key)
        self._stated = _stated(match.groupdict())
        if self._stated if self._stated is not None else is_text(key, self._known):
            self._value = None
            self._sink.arguments('"')
        else:
            self._value = []

    def _add(self, text: str) -> None:
        if self._value is not None:
            self._value.append(text)
        elif text:
            self._sink.arguments(ENCODE(text)[1:-1])

    def _end_value(self) -> None:
        if self._value is None:
            self._sink.arguments('"')
        else:
            schema = {} if self._stated is False else self._known.get(self._key, {})
            self._sink.arguments(self._tags.value("".join(self._value), schema))
        self._state = "next"

    def _finish_value(self) -> bool:
        """The reply ends within a value. Whether that cut the call off: not if the tag of the call's end is there."""
        text, at = self._pending, 0
        while stop := self._tags.value_stops.search(text, at):
            at = mark = stop.start()
            closed = (self._tags.quoted_end if self._quoted else self._tags.parameter_end).read(text, mark)
            if isinstance(closed, re.Match):
                at, _ = self._tags.after_space(text, closed.end())
            call = self._tags.call_end.read(text, at)
            if isinstance(call, re.Match) and not text[call.end() :].strip():
                self._add(text[: mark - self._is_line_end(text, mark - 1, 0)])
                self._end_value()
                self._sink.arguments("}")
                self._close(True)
                return False
            at = mark + 1
        return True

    # ---- arguments written as JSON

    def _begin_body(self, text: str, at: int) -> int | None:
        if OBJECT.match(text, at) is None:
            return self._wait(text, at) if UNFINISHED_OBJECT.match(text, at) else self._break(at)
        self._open()
        self._object, self._body, self._state = ValueScanner(self._tags.closings), [], "body"
        return at

    def _read_body(self, text: str, at: int) -> int | None:
        piece, at = self._object.scan(text, at)
        self._add_body(piece)
        if self._object.state == "more":
            return self._wait(text, at)
        self._state = "closing"
        return at

    def _add_body(self, piece: str) -> None:
        self._body.append(piece)
        self._sink.arguments(piece)

    def _read_closing(self, text: str, at: int) -> int | None:
        """After the JSON: the end of the call, which may be missing."""
        stop, undecided = self._tags.after_space(text, at)
        self._gap.append(text[at:stop])
        match = None if undecided else self._tags.call_end.read(text, stop)
        if undecided or match == "unfinished":
            return self._wait(text, stop)
        self._close(is_json("".join(self._body)))
        if match is None:
            return stop
        self._gap = []
        return match.end()

    # ---- calls

    def _called(self, match: re.Match[str]) -> str:
        """The tool that the tag of a call means."""
        return self._tags.called(self._tags.plain(name_in(match)), self._tools)

    def _open(self) -> None:
        self._sink.open(self._name)
        self._known, self._given = parameters_of(self._name, self._tools), set()
        self._raw, self._state = [], "next"

    def _close(self, valid: bool) -> None:
        self._sink.close(valid)
        self._state = "after"

    def _break(self, at: int) -> int:
        """What follows does not belong to a call. What was passed on of it stands."""
        if self._state == "head":
            return self._give_back(at, unclosed=self._wrapped or not self._tags.written["start"])
        self._sink.close(False)
        self._state = "over"
        return at

    def _give_back(self, at: int, *, unclosed: bool = False) -> int:
        self._sink.reject("".join(self._raw), self._raw_at)
        self._unclosed, self._state = unclosed, "over"
        return at

    def _wait(self, text: str, at: int) -> int | None:
        self._pending = text[at:]
        return None


def _stated(attributes: Mapping[str, str | None]) -> bool | None:
    """Whether a tag says that its value is text; None if it does not say."""
    if (string := attributes.get("string")) in ("true", "false"):
        return string == "true"
    if kind := (attributes.get("type") or "").strip():
        return kind == "string"
    return None
