"""One call written as a JSON object, `{"name": "f", "arguments": {…}}`, in text that arrives in pieces.

Owns the reading of such an object for every format that wraps one: the name first or last, arguments as an object
(streamed as they come), as a JSON string (unwrapped once where the tool wants an object), missing, empty or null
(`{}`), braces doubled as by a format string (`{{…}}`), an outer brace left out. Other keys are skipped.

The call is opened in the sink when its name is known and its arguments look like JSON; before that nothing has been
said and the text can still be given back, after that what was streamed stands. Knows no wrapper: the markers at
which to stop are given.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Literal

from duologue.text.stream.markers import Markers
from duologue.text.toolcalls import CallSink
from duologue.text.toolcalls.json_values import ValueScanner, is_json
from duologue.values.messages import Tool

SPACE = re.compile(r"[ \t\r\n]*")
ARGUMENTS = ("arguments", "parameters")

Step = Literal["start", "key", "colon", "value", "head", "stream", "collect", "tail"]


def wants_object(name: str, tools: Sequence[Tool]) -> bool:
    """Whether the tool's schema takes an object; an unknown tool is taken to."""
    tool = next((tool for tool in tools if tool.name == name), None)
    return tool is None or tool.parameters.get("type", "object") == "object"


class CallObject:
    """Reads one call from its opening brace on. `state` says whether it is over, and how."""

    __slots__ = (
        "_arguments",
        "_collected",
        "_doubled",
        "_given",
        "_halts",
        "_head",
        "_key",
        "_name",
        "_sink",
        "_step",
        "_tools",
        "_value",
        "committed",
        "state",
    )

    def __init__(self, sink: CallSink, halts: Markers, tools: Sequence[Tool]) -> None:
        self.state: Literal["open", "ended", "broken"] = "open"
        self.committed = False
        """The sink has heard of the call."""
        self._sink, self._halts, self._tools = sink, halts, tools
        self._step: Step = "start"
        self._key: str | None = None
        self._name: str | None = None
        self._arguments: list[str] = []
        self._given = False
        """The arguments were read to their end."""
        self._doubled = False
        self._head: list[str] = []
        self._collected: list[str] = []
        self._value = ValueScanner(halts)

    def feed(self, text: str, at: int) -> int:
        """Read on from `at`; where it stopped. In the state "open" that is the end of `text`, or where an end begins
        that may still become a marker."""
        end = len(text)
        while at < end and self.state == "open":
            if self._step == "stream":
                at = self._stream(text, at)
            elif self._step == "collect":
                at = self._collect(text, at)
            elif self._step == "head":
                at = self._read_head(text, at)
            else:
                at = self._skip(text, at)
                if at < end:
                    if self._halts.begins(text, at):
                        return at
                    at = self._structure(text[at], at)
            if self.state == "open" and at < end and self._halts.begins(text, at):
                return at
        return at

    def finish(self, rest: str) -> bool:
        """The text ends here; `rest` is what feed() left. True when the call is cut. An uncommitted call is the
        caller's to give back."""
        if not self.committed:
            return True
        if self._given:
            self._end()
            return False
        if rest:
            self._say(rest)
        return True

    def _skip(self, text: str, at: int) -> int:
        match = SPACE.match(text, at)
        return match.end() if match else at

    def _structure(self, char: str, at: int) -> int:
        """One character between keys and values."""
        step = self._step
        if step == "start":
            return self._expect(char == "{", "key", at)
        if step == "key" and char == "{" and self._key is None:
            return at + 1
        if step == "key" and char == '"':
            self._key, self._step = None, "collect"
            self._value = ValueScanner(self._halts)
            return at
        if step == "colon":
            return self._expect(char == ":", "value", at)
        if step == "value":
            return self._begin_value(char, at)
        if char == "}":
            if self._doubled:
                self._doubled = False
            else:
                self._end()
            return at + 1
        if char == ",":
            return self._expect(True, "key", at)
        self._break()
        return at

    def _break(self) -> None:
        """This goes on as no call. Where name and arguments are whole it is one but for its last brace, and what
        follows is not part of it; where arguments have been streamed they stand as they are."""
        if self._given and self.committed:
            self._end()
            return
        self.state = "broken"
        if self.committed:
            self._sink.close(False)

    def _expect(self, right: bool, then: Step, at: int) -> int:
        if not right:
            self._break()
            return at
        self._step = then
        return at + 1

    def _begin_value(self, char: str, at: int) -> int:
        self._value = ValueScanner(self._halts)
        wanted = self._key in ARGUMENTS and not self._given
        self._step = "head" if wanted and char == "{" else "collect"
        if char in ",}:]":
            self._break()
        return at

    def _read_head(self, text: str, at: int) -> int:
        """The opening brace of the arguments up to what follows it: only a key or the closing brace make it JSON."""
        if not self._head:
            self._head.append(text[at])
            at += 1
        stop = self._skip(text, at)
        self._head.append(text[at:stop])
        if stop == len(text):
            return stop
        char = text[stop]
        if char == "{" and not self._doubled:
            self._doubled = True
            self._head = []
            return stop
        if char not in '"}':
            self._break()
            return stop
        self._step = "stream"
        if self._name is not None:
            self._commit(self._name)
        opening = "".join(self._head)
        self._value.scan(opening, 0)
        self._say(opening)
        return stop

    def _stream(self, text: str, at: int) -> int:
        """Arguments as they are written."""
        value = self._value
        piece, at = value.scan(text, at)
        if piece:
            self._say(piece)
        if value.state == "done":
            self._given, self._step = True, "tail"
        elif value.state == "halted":
            self._break()
        return at

    def _collect(self, text: str, at: int) -> int:
        """A key, or a value that is needed whole or not at all."""
        value = self._value
        piece, at = value.scan(text, at)
        self._collected.append(piece)
        if value.state == "halted":
            self._break()
        elif value.state == "done":
            whole = "".join(self._collected)
            self._collected = []
            if self._key is None:
                self._key, self._step = _text(whole) or "", "colon"
            else:
                self._step = "tail"
                self._take(self._key, whole)
        return at

    def _take(self, key: str, whole: str) -> None:
        if key == "name" and self._name is None:
            name = _text(whole)
            if not name:
                self._break()
                return
            self._name = name
        elif key in ARGUMENTS and not self._given:
            self._arguments, self._given = [whole], True
        if self._name is not None and self._given and not self.committed:
            self._commit(self._name)

    def _commit(self, name: str) -> None:
        """The call is one. Whatever of its arguments is there already goes out."""
        self.committed = True
        self._sink.open(name)
        if self._arguments:
            written = "".join(self._arguments)
            self._arguments = [_unwrapped(written, wants_object(name, self._tools))]
            self._sink.arguments(self._arguments[0])

    def _say(self, piece: str) -> None:
        self._arguments.append(piece)
        if self.committed:
            self._sink.arguments(piece)

    def _end(self) -> None:
        """The object is over: a call, if it has a name."""
        if self._name is None:
            self.state = "broken"
            return
        self.state = "ended"
        if not self.committed:
            self._arguments, self._given = ["{}"], True
            self._commit(self._name)
        self._sink.close(is_json("".join(self._arguments)))


def _text(literal: str) -> str | None:
    """The text of a JSON string, None when it is none."""
    try:
        value = json.loads(literal) if literal.startswith('"') else None
        if not isinstance(value, str):
            return None
        value.encode()
    except ValueError:
        # Also half of a surrogate pair, which no encoder downstream would take.
        return None
    return value


def _unwrapped(written: str, object_wanted: bool) -> str:
    """The arguments' JSON text where they were not written as an object."""
    if written in ("null", ""):
        return "{}"
    text = _text(written) if object_wanted else None
    if text is None:
        return written
    text = text.strip()
    if not text:
        return "{}"
    return text if text.startswith("{") and is_json(text) else written
