"""Turns the arguments of one call expression into JSON while they are written.

`('Oslo', days=3, tags=['a'])` and `{city:<|"|>Oslo<|"|>,days:3}` become `{"city": "Oslo", "days": 3, …}`; what an
expression may look like besides is its `ExpressionDialect`. `call_regions.py` reads the name and makes one of these for each call.

The call is opened in the sink when the first value begins or the arguments end. Before that nothing was emitted and
the text can still be returned; after that, what was emitted stands.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Literal

from msgspec import Struct

from duologue.text.toolcalls import ToolCallSink
from duologue.text.toolcalls.expressions.scalars import escape_json, number_json, scalar_json, text_json
from duologue.text.toolcalls.json_values import is_json
from duologue.text.toolcalls.parameter_values import parameters_of, types_of
from duologue.values.messages import Tool

LONGEST_KEY = 200
MOST_SPACE = 64
"""Characters that are looked at behind a quotation mark to see whether it ends the string."""
DEEPEST = 200

SPACE = re.compile(r"[ \t\r\n]*")
WORD = re.compile(rf"\w{{0,{LONGEST_KEY}}}")
SCALAR = re.compile(r"[\w.+-]*")
BARE = re.compile(r"[^,{}\[\]<]*")
BARE_KEY = re.compile(rf'[^:,{{}}\[\]<"]{{0,{LONGEST_KEY}}}')
BEHIND = re.compile(rf"[ \t\r\n]{{0,{MOST_SPACE}}}")
CLOSERS = {"[": "]", "(": ")", "{": "}"}

Phase = Literal["argument", "key", "colon", "value", "element", "string", "scalar", "after"]
Step = tuple[int, bool]
"""Where to go on, and whether to wait there for more text."""


class ExpressionDialect(Struct, frozen=True):
    """How expressions of a family look. `braces`: the arguments stand in braces, with bare keys and colons, and bare words
    are texts; else in brackets as in Python. `quotes`: the marks around texts, longer ones first."""

    braces: bool = False
    quotes: tuple[str, ...] = ("'''", '"""', "'", '"')


PYTHON = ExpressionDialect()


class ArgumentsScanner:
    """Reads from after the opening bracket to after the closing one. `state` tells whether and how it ended."""

    def __init__(
        self, dialect: ExpressionDialect, name: str, sink: ToolCallSink, tools: Sequence[Tool]
    ) -> None:
        self.state: Literal["open", "ended", "broken"] = "open"
        self.committed = False
        """The call was opened in the sink."""
        self._dialect, self._name, self._sink = dialect, name, sink
        self._known = parameters_of(name, tools)
        self._frames = ["{" if dialect.braces else "call"]
        self._filled = [False]
        """For each frame, whether it has something in it, so that the next needs a comma."""
        self._phase: Phase = "key" if dialect.braces else "argument"
        self._written: list[str] = ["{"]
        self._positional = 0
        self._quote = ""
        self._is_key = False
        """The string or scalar that is read is a key."""
        self._key: str | None = None
        """The parameter whose value is read."""
        self._collected: list[str] = []
        """Pieces of a scalar, or of a key."""
        self._steps: dict[Phase, Callable[[str, int], Step]] = {
            "argument": self._read_argument,
            "key": self._read_key,
            "colon": self._read_colon,
            "value": self._read_value,
            "element": self._read_element,
            "string": self._read_string,
            "scalar": self._read_scalar,
            "after": self._read_after,
        }

    @property
    def unfinished(self) -> Sequence[str]:
        """What was read of a key or of a value that is needed as a whole."""
        return (
            self._collected if self._phase == "scalar" or (self._phase == "string" and self._is_key) else ()
        )

    def feed(self, text: str, at: int) -> int:
        """Read from `at`; returns where it stopped. In the state "open" the rest from there has to come again, with more
        text behind it."""
        while self.state == "open":
            if self._phase not in ("string", "scalar"):
                at = _after_space(text, at)
            if at == len(text):
                break
            at, waiting = self._steps[self._phase](text, at)
            if waiting:
                break
        return at

    # ---- structure

    def _read_argument(self, text: str, at: int) -> Step:
        """A keyword with its value, a value alone, or the end."""
        if text[at] == ")":
            return self._close_frame(at)
        match = WORD.match(text, at)
        word = match[0] if match else ""
        stop = _after_space(text, at + len(word))
        if word and stop == len(text) and len(word) < LONGEST_KEY and stop - at < LONGEST_KEY + MOST_SPACE:
            return at, True
        if word and text[stop : stop + 1] == "=":
            self._separate()
            self._begin_parameter(word)
            self._phase = "value"
            return stop + 1, False
        if self._positional >= len(self._known):
            return self._break(at)
        if not self._starts_value(text, at):
            return at, True
        self._separate()
        self._begin_parameter(list(self._known)[self._positional])
        self._positional += 1
        self._phase = "value"
        return at, False

    def _starts_value(self, text: str, at: int) -> bool:
        """Whether the beginning of a value is there as far as it is needed to read it in one step."""
        return not any(
            len(quote) > len(text) - at and quote.startswith(text[at:]) for quote in self._dialect.quotes
        )

    def _begin_parameter(self, key: str) -> None:
        self._key = key
        self._write(f"{json.dumps(key, ensure_ascii=False)}: ")

    def _read_key(self, text: str, at: int) -> Step:
        if text[at] == "}":
            return self._close_frame(at)
        begun = self._begin_string(text, at, key=True)
        if begun is not None:
            return begun
        if not self._dialect.braces:
            self._separate()
            self._is_key, self._collected, self._phase = True, [], "scalar"
            return at, False
        match = BARE_KEY.match(text, at)
        key = match[0] if match else ""
        if at + len(key) == len(text) and len(key) < LONGEST_KEY:
            return at, True
        if not key.strip() or text[at + len(key)] != ":":
            return self._break(at)
        self._separate()
        if len(self._frames) == 1:
            self._begin_parameter(key.strip())
        else:
            self._write(f"{json.dumps(key.strip(), ensure_ascii=False)}: ")
        self._phase = "value"
        return at + len(key) + 1, False

    def _read_colon(self, text: str, at: int) -> Step:
        if text[at] != ":":
            return self._break(at)
        self._write(": ")
        self._phase = "value"
        return at + 1, False

    def _read_element(self, text: str, at: int) -> Step:
        if text[at] == CLOSERS[self._frames[-1]]:
            return self._close_frame(at)
        if not self._starts_value(text, at):
            return at, True
        self._separate()
        self._phase = "value"
        return at, False

    def _read_value(self, text: str, at: int) -> Step:
        begun = self._begin_string(text, at, key=False)
        if begun is not None:
            return begun
        char = text[at]
        if char in "[{" or (char == "(" and not self._dialect.braces):
            if len(self._frames) > DEEPEST:
                return self._break(at)
            self._commit()
            self._frames.append(char)
            self._filled.append(False)
            self._write("{" if char == "{" else "[")
            self._phase = "key" if char == "{" else "element"
            return at + 1, False
        self._is_key, self._collected, self._phase = False, [], "scalar"
        return at, False

    def _read_after(self, text: str, at: int) -> Step:
        """After a value: another one, or the end of what it is in."""
        frame = self._frames[-1]
        if text[at] == ",":
            self._phase = "argument" if frame == "call" else "key" if frame == "{" else "element"
            return at + 1, False
        if text[at] == (")" if frame == "call" else CLOSERS[frame]):
            return self._close_frame(at)
        return self._break(at)

    def _close_frame(self, at: int) -> Step:
        frame = self._frames.pop()
        self._filled.pop()
        self._phase = "after"
        if self._frames:
            self._write("}" if frame == "{" else "]")
            return at + 1, False
        self._commit()
        self._write("}")
        self.state = "ended"
        self._sink.close(is_json("".join(self._written)))
        return at + 1, False

    def _separate(self) -> None:
        if self._filled[-1]:
            self._write(", ")
        self._filled[-1] = True

    # ---- strings

    def _begin_string(self, text: str, at: int, *, key: bool) -> Step | None:
        """Begin a string if there is one; None if not."""
        if not self._starts_value(text, at):
            return at, True
        quote = next((quote for quote in self._dialect.quotes if text.startswith(quote, at)), "")
        if not quote:
            return None
        if key:
            self._separate()
        else:
            self._commit()
        self._quote, self._is_key, self._collected, self._phase = quote, key, [], "string"
        self._write('"')
        return at + len(quote), False

    def _read_string(self, text: str, at: int) -> Step:
        quote = self._quote
        stops, start = _string_stops(quote), at
        while True:
            match = stops.search(text, at)
            if match is None:
                self._write_text(text[start:])
                return len(text), False
            mark = match.start()
            if match[0] == "\\":
                self._write_text(text[start:mark])
                found = escape_json(text, mark)
                if found == "more":
                    return mark, True
                self._write_piece(found[0])
                start = at = found[1]
                continue
            closes = self._closes(text, mark)
            if closes is None:
                self._write_text(text[start:mark])
                return mark, True
            if closes:
                self._write_text(text[start:mark])
                self._end_string()
                return mark + len(quote), False
            at = mark + 1

    def _closes(self, text: str, mark: int) -> bool | None:
        """Whether the string ends at `mark`; None if the end of the text does not tell yet. Templates that write texts without
        escapes teach models to do so: a mark with a word behind it is part of the text."""
        quote = self._quote
        if not text.startswith(quote, mark):
            return None if quote.startswith(text[mark:]) else False
        if quote in ("'''", '"""'):
            return True
        match = BEHIND.match(text, mark + len(quote))
        stop = match.end() if match else mark + len(quote)
        if stop == len(text) and stop - mark < MOST_SPACE:
            return None
        return not (text[stop : stop + 1].isalnum() or text[stop : stop + 1] == "_")

    def _write_text(self, text: str) -> None:
        if text:
            self._write_piece(text_json(text))

    def _write_piece(self, piece: str) -> None:
        if self._is_key:
            self._collected.append(piece)
        self._write(piece)

    def _end_string(self) -> None:
        self._write('"')
        self._phase = "after"
        if self._is_key:
            self._phase = "colon"
            if len(self._frames) == 1:
                self._key = "".join(self._collected)

    # ---- words and numbers

    def _read_scalar(self, text: str, at: int) -> Step:
        match = (BARE if self._dialect.braces else SCALAR).match(text, at)
        stop = match.end() if match else at
        self._collected.append(text[at:stop])
        if stop == len(text):
            return stop, False
        whole = "".join(self._collected)
        written = self._scalar(whole.strip() if self._dialect.braces else whole)
        if written is None:
            return self._break(stop)
        if self._is_key:
            self._write(json.dumps(whole, ensure_ascii=False))
            self._phase = "colon"
            return stop, False
        self._commit()
        self._write(written)
        self._phase = "after"
        return stop, False

    def _scalar(self, text: str) -> str | None:
        """A word or a number as JSON. A number is a text where the tool takes nothing else."""
        schema = self._known.get(self._key or "") if len(self._frames) == 1 else None
        wants_text = types_of(schema) == {"string"}
        quoted = json.dumps(text, ensure_ascii=False)
        if self._dialect.braces:
            return quoted if wants_text else scalar_json(text) or (quoted if text else None)
        return quoted if wants_text and number_json(text) else scalar_json(text)

    # ---- output

    def _write(self, piece: str) -> None:
        self._written.append(piece)
        if self.committed:
            self._sink.arguments(piece)

    def _commit(self) -> None:
        """It is a call: open it and emit the arguments so far."""
        if not self.committed:
            self.committed = True
            self._sink.open(self._name)
            self._sink.arguments("".join(self._written))

    def _break(self, at: int) -> Step:
        """What follows does not continue the call; what was emitted of it stands."""
        self.state = "broken"
        if self.committed:
            self._sink.close(False)
        return at, True


@cache
def _string_stops(quote: str) -> re.Pattern[str]:
    """Where a string is looked at: its quotation mark and, where there are escapes, backslashes."""
    return re.compile(rf"[{quote[0]}\\\\]" if quote[0] in "'\"" else re.escape(quote[0]))


def _after_space(text: str, at: int) -> int:
    match = SPACE.match(text, at)
    return match.end() if match else at
