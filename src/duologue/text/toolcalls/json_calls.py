"""Reads one call written as a JSON object, `{"name": "f", "arguments": {…}}`, in text that arrives in pieces.

Shared by every format that wraps such objects. Accepts: the name first or last; arguments as an object (streamed as
they come), as a JSON string (unwrapped once if the tool takes an object), missing, empty or null (`{}`); braces
doubled as in a format string (`{{…}}`); a missing outer brace; name and arguments one level down (`{"function": {…}}`);
with `CallKeys.named`, the name as the key of the arguments. Other keys are skipped.

The call is opened in the sink when its name is known and its arguments look like JSON. Before that nothing was
emitted and the text can still be returned; after that, what was streamed stands. The wrapper passes the markers at
which to stop.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from duologue.text.stream.held_text import HeldText, held_text
from duologue.text.stream.markers import Markers
from duologue.text.toolcalls import ToolCallSink
from duologue.text.toolcalls.json_values import ValueScanner, is_json
from duologue.values.messages import Tool

SPACE = re.compile(r"[ \t\r\n]*")
ID_WAIT = 1000
"""Characters of arguments that are held back until the call's id, where a family writes it last. A longer call is passed on as
it is written, under an id of ours."""

FUNCTION = "function"

Step = Literal["start", "key", "colon", "value", "head", "stream", "collect", "tail"]


class CallKeys(Struct, frozen=True):
    """The keys of a call. `named`: a call may be `{"f": {…}}`. `ids`: keys of an id, which counts if it has the form `id_form`;
    `id_last`: it follows the arguments. `offered`: only calls of tools that are offered, written with these keys alone: what
    else begins with a brace is not a call, which is known at its first key."""

    names: tuple[str, ...] = ("name",)
    arguments: tuple[str, ...] = ("arguments", "parameters")
    ids: tuple[str, ...] = ()
    id_form: str = r"\S{1,64}"
    id_last: bool = False
    named: bool = False
    offered: bool = False

    @property
    def known(self) -> tuple[str, ...]:
        """Every key that may be in a call."""
        return (*self.names, *self.arguments, *self.ids, *("type", FUNCTION, "id", "index"))


USUAL_KEYS = CallKeys()


def wants_object(name: str, tools: Sequence[Tool]) -> bool:
    """Whether the tool's schema takes an object. Assumed for an unknown tool."""
    tool = next((tool for tool in tools if tool.name == name), None)
    return tool is None or tool.parameters.get("type", "object") == "object"


class ToolCallObject:
    """Reads one call from its opening brace on. `state` tells whether and how it ended."""

    __slots__ = (
        "_arguments",
        "_arguments_read",
        "_collected",
        "_doubled",
        "_halts",
        "_head",
        "_id",
        "_key",
        "_keys",
        "_name",
        "_sink",
        "_step",
        "_tools",
        "_value",
        "_waits_for_id",
        "committed",
        "state",
    )

    def __init__(
        self, sink: ToolCallSink, halts: Markers, tools: Sequence[Tool], keys: CallKeys = USUAL_KEYS
    ) -> None:
        self.state: Literal["open", "ended", "broken"] = "open"
        self.committed = False
        """The call was opened in the sink."""
        self._sink, self._halts, self._tools, self._keys = sink, halts, tools, keys
        self._step: Step = "start"
        self._key: str | None = None
        self._name: str | None = None
        self._id: str | None = None
        self._waits_for_id = keys.id_last
        self._arguments: list[str] = []
        self._arguments_read = False
        """The arguments were read to their end."""
        self._doubled = False
        self._head: list[str] = []
        self._collected: list[str] = []
        self._value = ValueScanner(halts)

    @property
    def waits_for(self) -> str:
        """Why an object that is not a call yet is held back."""
        return "a call once its name and the beginning of its arguments are read"

    @property
    def pending(self) -> HeldText | None:
        """What is held back inside a call that was opened."""
        return held_text(self._collected, "inside a call: a key or a value that is read to its end")

    def feed(self, text: str, at: int) -> int:
        """Read from `at`; returns where it stopped. In the state "open" that is the end of `text`, or where an end
        begins that may still become a marker."""
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

    def take(self, text: str) -> bool:
        """Take `text` as a whole as a piece of the arguments, as it is, without telling the sink. False, and nothing is
        taken, where it has to be read."""
        if (
            self._step != "stream"
            or not self.committed
            or self.state != "open"
            or not self._value.follow(text)
        ):
            return False
        self._arguments.append(text)
        return True

    def finish(self, rest: str) -> bool:
        """The text ends here; `rest` is what feed() left. True if the call is cut off. The caller returns the text of
        an uncommitted call."""
        if self._name is not None and not self.committed and self._step == "stream":
            self._commit(self._name)
        if self._arguments_read and self._name is not None:
            self._end()
            return False
        if not self.committed:
            return True
        if rest:
            self._add_arguments(rest)
        return True

    def _skip(self, text: str, at: int) -> int:
        match = SPACE.match(text, at)
        return match.end() if match else at

    def _structure(self, char: str, at: int) -> int:
        """Read one character between keys and values."""
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
        """What follows does not continue the call. If name and arguments are complete, it is a call that only lacks
        its last brace, and what follows is not part of it; arguments that were streamed stand as they are."""
        if self._arguments_read and self._name is not None:
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
        if char == "{" and self._key == FUNCTION and self._name is None and not self._doubled:
            self._key, self._step, self._doubled = None, "key", True
            return at + 1
        self._value = ValueScanner(self._halts)
        if self._is_name(self._key) and char not in ",}:]":
            self._take_name(self._key or "")
            self._key = self._keys.arguments[0]
        is_arguments = self._key in self._keys.arguments and not self._arguments_read
        self._step = "head" if is_arguments and char == "{" else "collect"
        if char in ",}:]":
            self._break()
        return at

    def _read_head(self, text: str, at: int) -> int:
        """Read the opening brace of the arguments up to what follows it: only a key or the closing brace makes it
        JSON."""
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
        if self._name is not None and not self._waits_for_id:
            self._commit(self._name)
        opening = "".join(self._head)
        self._value.scan(opening, 0)
        self._add_arguments(opening)
        return stop

    def _stream(self, text: str, at: int) -> int:
        """Pass on arguments as they are written."""
        value = self._value
        piece, at = value.scan(text, at)
        if piece:
            self._add_arguments(piece)
        if value.state == "done":
            self._arguments_read, self._step = True, "tail"
        elif value.state == "halted":
            self._break()
        return at

    def _collect(self, text: str, at: int) -> int:
        """Read a key, or a value that is needed as a whole."""
        value = self._value
        piece, at = value.scan(text, at)
        self._collected.append(piece)
        if value.state == "halted":
            self._break()
        elif value.state == "done":
            whole = "".join(self._collected)
            self._collected = []
            if self._key is None:
                self._key, self._step = _string_value(whole) or "", "colon"
                if self._keys.offered and not (self._key in self._keys.known or self._is_name(self._key)):
                    self._break()
            else:
                self._step = "tail"
                self._take(self._key, whole)
        return at

    def _take(self, key: str, whole: str) -> None:
        if key in self._keys.names and self._name is None:
            self._take_name(_string_value(whole) or "")
        elif key in self._keys.arguments and not self._arguments_read:
            self._arguments, self._arguments_read = [whole], True
        elif key in self._keys.ids and self._id is None:
            found = _string_value(whole)
            if found is not None and re.fullmatch(self._keys.id_form, found):
                self._id, self._waits_for_id = found, False
        ready = self._name is not None and self._arguments_read and not self._waits_for_id
        if self._name is not None and ready and not self.committed and self.state == "open":
            self._commit(self._name)

    def _take_name(self, name: str) -> None:
        if not name or (self._keys.offered and not self._offers(name)):
            self._break()
        else:
            self._name = name

    def _is_name(self, key: str | None) -> bool:
        """Whether a key is the name of the call."""
        if not self._keys.named or self._name is not None or not key:
            return False
        return self._offers(key) or key not in self._keys.known

    def _offers(self, name: str) -> bool:
        return any(tool.name == name for tool in self._tools)

    def _commit(self, name: str) -> None:
        """It is a call: open it and emit the arguments so far."""
        self.committed = True
        self._sink.open(name, self._id)
        if self._arguments:
            source = "".join(self._arguments)
            self._arguments = [_unwrap(source, wants_object(name, self._tools))]
            self._sink.arguments(self._arguments[0])

    def _add_arguments(self, piece: str) -> None:
        self._arguments.append(piece)
        if self.committed:
            self._sink.arguments(piece)
        elif self._name is not None and self._waits_for_id and sum(map(len, self._arguments)) > ID_WAIT:
            self._commit(self._name)

    def _end(self) -> None:
        """The object is over: a call, if it has a name."""
        if self._name is None:
            self.state = "broken"
            return
        self.state = "ended"
        if not self.committed:
            if not self._arguments_read:
                self._arguments, self._arguments_read = ["{}"], True
            self._commit(self._name)
        self._sink.close(is_json("".join(self._arguments)))


def _string_value(literal: str) -> str | None:
    """The text of a JSON string; None if it is not one."""
    try:
        value = json.loads(literal) if literal.startswith('"') else None
        if not isinstance(value, str):
            return None
        value.encode()
    except ValueError:
        # Also half of a surrogate pair, which no encoder downstream would take.
        return None
    return value


def _unwrap(source: str, takes_object: bool) -> str:
    """The arguments' JSON text where they were not written as an object."""
    if source in ("null", ""):
        return "{}"
    text = _string_value(source) if takes_object else None
    if text is None:
        return source
    text = text.strip()
    if not text:
        return "{}"
    return text if text.startswith("{") and is_json(text) else source
