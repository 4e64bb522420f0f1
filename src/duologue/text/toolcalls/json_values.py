"""Scans one JSON value in text that arrives in pieces: finds its end and copies it as it was written.

Follows only the structure: strings, their escapes, and the depth of brackets. Digits are copied, never read; whether
the value as a whole is JSON is checked once, at its end (`is_json`). Markers stop the scan only outside strings.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Literal

import msgspec

from duologue.text.stream.markers import Markers

WHITESPACE = " \t\r\n"
STRING_STOP = re.compile(r'["\\\x00-\x1f]')
SHORT = {"\n": "\\n", "\t": "\\t", "\r": "\\r", "\b": "\\b", "\f": "\\f"}

State = Literal["more", "done", "halted"]


def is_json(text: str) -> bool:
    """Whether `text` is one JSON value, including numbers of any length."""
    try:
        msgspec.json.decode(text, type=msgspec.Raw)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return False
    return True


@cache
def _stops(first_characters: str) -> tuple[re.Pattern[str], re.Pattern[str], Callable[[str], list[str]]]:
    """The characters to look at outside strings, those that end a number or a literal, and all characters and escapes
    that count somewhere in an object or an array."""
    halts = re.escape(first_characters)
    marks = re.compile(rf'\\.|["\\{{}}\[\]\x00-\x1f{halts}]', re.DOTALL)
    return re.compile(rf'["{{}}\[\]{halts}]'), re.compile(rf"[,}}\]\s{halts}]"), marks.findall


class ValueScanner:
    """Follows one JSON value to its end.

    A control character inside a string, which JSON forbids and models write all the same (code with real line ends),
    is copied as its escape: the same value, and the client's JSON parser accepts it.
    """

    __slots__ = (
        "_begun",
        "_depth",
        "_escaped",
        "_first_characters",
        "_halts",
        "_marks",
        "_scalar",
        "_scalar_stop",
        "_string",
        "_structure",
        "state",
    )

    def __init__(self, halts: Markers) -> None:
        self.state: State = "more"
        """"done": the value ended where the scan stopped; "halted": a marker is there, outside a string."""
        self._halts, self._first_characters = halts, halts.first_characters
        self._structure, self._scalar_stop, self._marks = _stops(self._first_characters)
        self._begun = self._string = self._escaped = self._scalar = False
        self._depth = 0

    def follow(self, text: str) -> bool:
        """Take `text` as a whole where it is copied as it is and the value goes on after it. False, and nothing is taken,
        where that needs a closer look."""
        depth, string = self._depth, self._string
        if not depth or self._escaped:
            return False
        if string and STRING_STOP.search(text) is None:
            return True
        for mark in self._marks(text):
            if string:
                if mark == '"':
                    string = False
                elif mark < " " or mark == "\\":
                    return False
            elif mark == '"':
                string = True
            elif mark[0] == "\\" or mark in self._first_characters:
                return False
            elif mark in "{[":
                depth += 1
            elif mark in "}]":
                depth -= 1
                if depth == 0:
                    return False
        self._depth, self._string = depth, string
        return True

    def scan(self, text: str, at: int) -> tuple[str, int]:
        """The value's text from `at` on, and where it stops: at the end of `text` or, in the state "more", before an
        end that may still become a marker. The first call begins at the value's first character."""
        if self._string and not self._escaped and STRING_STOP.search(text, at) is None:
            return text[at:], len(text)
        copied: list[str] = []
        start, end = at, len(text)
        if not self._begun:
            at = self._begin(text, at)
        while at < end and self.state == "more":
            if self._string:
                at, control = self._in_string(text, at)
                if control:
                    copied.append(text[start : at - 1])
                    copied.append(SHORT.get(control) or f"\\u{ord(control):04x}")
                    start = at
            else:
                at, waiting = self._between(text, at)
                if waiting:
                    break
        copied.append(text[start:at])
        return "".join(copied) if len(copied) > 1 else copied[0], at

    def _begin(self, text: str, at: int) -> int:
        self._begun = True
        if text[at] == '"':
            self._string = True
        elif text[at] in "{[":
            self._depth = 1
        else:
            self._scalar = True
            return at
        return at + 1

    def _in_string(self, text: str, at: int) -> tuple[int, str]:
        """The position to continue from, and the control character just before it, if there was one."""
        if self._escaped:
            self._escaped = False
            return at + 1, ""
        match = STRING_STOP.search(text, at)
        if match is None:
            return len(text), ""
        mark = match[0]
        if mark == "\\":
            self._escaped = True
        elif mark == '"':
            self._string = False
            if self._depth == 0:
                self.state = "done"
        else:
            return match.end(), mark
        return match.end(), ""

    def _between(self, text: str, at: int) -> tuple[int, bool]:
        """Outside strings: the position to continue from, and whether to wait there because a marker may begin."""
        match = (self._scalar_stop if self._scalar else self._structure).search(text, at)
        if match is None:
            return len(text), False
        at, mark = match.start(), match[0]
        if mark in self._first_characters:
            if self._halts.at(text, at) is not None:
                self.state = "done" if self._scalar else "halted"
                return at, False
            if self._halts.begins(text, at):
                return at, True
            if self._scalar:
                return at + 1, False
        elif self._scalar:
            self.state = "done"
            return at, False
        if mark == '"':
            self._string = True
        elif mark in "{[":
            self._depth += 1
        elif mark in "}]":
            self._depth -= 1
            if self._depth == 0:
                self.state = "done"
        return at + 1, False
