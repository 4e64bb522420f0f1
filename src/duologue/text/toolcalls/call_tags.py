"""The tags of a family that writes each parameter of a call between tags, and how they are found in text in pieces.

A family's file says once how its tags are written (`CallTags`); `tagged_calls.py` reads calls by them, and
`tagged_grammar.py` writes the grammar of a call from the same spellings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Literal

from duologue.text.stream.markers import Markers
from duologue.text.toolcalls import CONTROL_TOKEN
from duologue.text.toolcalls.parameter_values import parameter_json
from duologue.values.messages import Tool

LONGEST_NAME = 200
MOST_SPACE = 64
"""Characters between two tags, so that what may still become the end of a value stays short."""

SPACE = r"[ \t\r\n]"
ESCAPED_SPACE = r"(?:[ \t\r\n]|\\n)"
"""Some quantised models write a line end as a backslash and an n."""

_RUNS: dict[str, tuple[str, int, int]] = {
    "name": (r'[^<>"\n]', 1, LONGEST_NAME),
    "word": (r"[\w.:-]", 1, LONGEST_NAME),
    "bare": (r'[^<>\s\\{"]', 1, LONGEST_NAME),
    "attributes": (r"[^<>\n]", 0, LONGEST_NAME),
    "string": (r"[a-z]", 0, 10),
    "type": (r"[^<>\n]", 0, LONGEST_NAME),
    "suffix": (r"[\w.:-]", 0, 40),
    "blank": (" ", 0, 1),
    "number": ("[0-9]", 1, 10),
}
"""What stands for itself in a spelling: a character of the run, and how many."""
_NAMES = ("name", "word", "bare")
TOKEN = re.compile(rf"{CONTROL_TOKEN.pattern}|<[^<>{{}}\s]+>")
_PLACE = re.compile(r"\{(\w+)\}")


class Tag:
    """A tag with its spellings; the first that fits counts. In a spelling `{name}` is a name, `{word}` one without
    blanks, `{bare}` one that ends where a blank or a tag follows, `{attributes}` anything up to the end of the tag,
    `{string}` and `{type}` what says how a value is written, `{number}` a number that does not count, `{suffix}` a colon and a word or nothing, `{blank}` a
    blank or nothing, `{space}` any whitespace."""

    __slots__ = ("_patterns", "first_characters")

    def __init__(self, spellings: Sequence[str], space: str = SPACE) -> None:
        trimmed = list(dict.fromkeys(spelling.strip() for spelling in spellings if spelling.strip()))
        self._patterns = [(re.compile(_whole(one, space)), re.compile(_begun(one, space))) for one in trimmed]
        self.first_characters = "".join(sorted({one[0] for one in trimmed}))

    def read(self, text: str, at: int) -> re.Match[str] | Literal["unfinished"] | None:
        """The tag at `at`; "unfinished" if more text decides whether there is one."""
        for whole, begun in self._patterns:
            if match := whole.match(text, at):
                return match
            if begun.match(text, at):
                return "unfinished"
        return None


def name_in(match: re.Match[str]) -> str:
    """The name in a tag; "" if it has none."""
    found = match.groupdict().get("name")
    return found.strip() if found else ""


def _pieces(spelling: str, space: str) -> list[tuple[str, str, int, int]]:
    """Literals and runs in turn: (name or "", literal or character of the run, least, most)."""
    pieces = []
    for at, part in enumerate(_PLACE.split(spelling)):
        if at % 2 and part == "space":
            pieces.append((part, space, 0, MOST_SPACE))
        elif at % 2:
            pieces.append(("name" if part in _NAMES else part, *_RUNS[part]))
        elif part:
            pieces.append(("", part, 1, 1))
    return pieces


def _whole(spelling: str, space: str) -> str:
    parts, named = [], set()
    for name, unit, least, most in _pieces(spelling, space):
        run = f"{unit}{{{least},{most}}}"
        if not name:
            parts.append(re.escape(unit))
        elif name in named or name in ("space", "suffix", "blank"):
            parts.append(run)
        else:
            named.add(name)
            parts.append(f"(?P<{name}>{run})")
    if spelling.endswith("{bare}"):
        parts.append(r"(?=[<\s\\{])")
    return "".join(parts)


def _begun(spelling: str, space: str) -> str:
    """A pattern for the beginnings of a tag, up to the end of the text."""
    rest = NOTHING
    for name, unit, least, most in reversed(_pieces(spelling, space)):
        if name:
            half = r"\\?" if unit == ESCAPED_SPACE else ""
            rest = f"(?:{unit}{{0,{most}}}{half}\\Z|{unit}{{{least},{most}}}{rest})"
        else:
            beginnings = "|".join(re.escape(unit[:end]) for end in range(len(unit)))
            rest = f"(?:(?:{beginnings})\\Z|{re.escape(unit)}{rest})"
    return rest


NOTHING = r"(?!)"


def _as_it_is(name: str, tools: Sequence[Tool]) -> str:
    return name


class CallTags:
    """How a family writes calls: `start` and `end` around all of them (none: each call is a region of its own), `call`
    and `call_end` around one, `parameter` and `parameter_end` around a value, as its template writes them, whitespace
    included. Where `parameter` ends in a line end, one line end at each end of a value belongs to the format, if it is
    there; else nothing of the value does.

    `others`: further spellings that are read, by the name of the tag. `space`: a character between two tags. `value`
    makes JSON of a value that is read as a whole, with its schema. `quotes` may stand around a value, and are no part of
    it. `json_in_wrapper`: there may be an object as in `hermes.py` instead of a call. `body` may stand before arguments that are
    an object of JSON. `plain` says what a name in a tag means that
    may be escaped, `called` which of the offered tools a name means.
    """

    def __init__(
        self,
        *,
        call: str,
        call_end: str,
        parameter: str,
        parameter_end: str,
        start: str = "",
        end: str = "",
        others: dict[str, tuple[str, ...]] | None = None,
        space: str = SPACE,
        value: Callable[[str, object], str] = parameter_json,
        quotes: tuple[str, str] = ("", ""),
        json_in_wrapper: bool = False,
        body: str = "",
        plain: Callable[[str], str] = str,
        called: Callable[[str, Sequence[Tool]], str] = _as_it_is,
    ) -> None:
        self.written = {
            "start": start,
            "call": call,
            "parameter": parameter,
            "parameter_end": parameter_end,
            "call_end": call_end,
            "end": end,
        }
        self.value, self.quotes, self.json_in_wrapper = value, quotes, json_in_wrapper
        self.plain, self.called = plain, called
        self.body = Tag((body,), space)
        self.line_ends = parameter.endswith("\n")
        self.named_ends = "{" in parameter_end
        self._space, self._others = space, others or {}
        self._spaces = re.compile(f"{space}*")
        self._half_space = "\\" if space == ESCAPED_SPACE else ""

    def _tag(self, name: str) -> Tag:
        return Tag(self._spellings(name), self._space)

    def _spellings(self, name: str) -> tuple[str, ...]:
        return (self.written[name], *self._others.get(name, ()))

    @cached_property
    def start(self) -> Tag:
        return self._tag("start")

    @cached_property
    def end(self) -> Tag:
        return self._tag("end")

    @cached_property
    def call(self) -> Tag:
        return self._tag("call")

    @cached_property
    def call_end(self) -> Tag:
        return self._tag("call_end")

    @cached_property
    def parameter(self) -> Tag:
        return self._tag("parameter")

    @cached_property
    def parameter_end(self) -> Tag:
        return self._tag("parameter_end")

    @cached_property
    def quoted_end(self) -> Tag:
        """The end of a value in quotes."""
        return Tag(
            [f"{self.quotes[1]}{{space}}{one.strip()}" for one in self._spellings("parameter_end")],
            self._space,
        )

    @cached_property
    def starts(self) -> tuple[str, ...]:
        """The markers that open a region: the beginning of every tag that may, up to its first variable part."""
        found = [*self._spellings("start"), *self._spellings("call")]
        return tuple(dict.fromkeys(one.strip().partition("{")[0] for one in found if one))

    @cached_property
    def ends(self) -> tuple[str, ...]:
        """The markers that close one, where they are the same each time."""
        found = [one.strip() for one in self._spellings("end" if self.written["end"] else "call_end")]
        return tuple(one for one in dict.fromkeys(found) if "{" not in one)

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        """The tags and parts of tags that may be control tokens, as the family writes them."""
        return tuple(dict.fromkeys(TOKEN.findall("".join(self.written.values()))))

    @cached_property
    def closings(self) -> Markers:
        """The beginnings of the tags after the arguments of a call."""
        found = [*self._spellings("call_end"), *self._spellings("end")]
        return Markers(one.strip().partition("{")[0] for one in found if one)

    @cached_property
    def value_stops(self) -> re.Pattern[str]:
        """The characters with which the end of a value can begin."""
        found = {*self.parameter_end.first_characters, *self.call_end.first_characters}
        found |= {*self.parameter.first_characters, *self.quotes[1][:1]}
        return re.compile(f"[{re.escape(''.join(sorted(found)))}]")

    def after_space(self, text: str, at: int) -> tuple[int, bool]:
        """Where whitespace between tags ends, and whether more text decides that."""
        match = self._spaces.match(text, at)
        stop = match.end() if match else at
        rest = len(text) - stop
        return stop, rest == 0 or (rest == 1 and text[stop] == self._half_space)
