"""Translates regular expressions to GBNF: of a whole reply, or of the text inside a JSON string.

The common part of the languages' dialects is read: alternatives, groups, classes, `.`, the usual escapes, quantifiers, and `^` and
`$` at the ends. Everything else (look-around, references back, `\\b`, flags, properties of Unicode) raises `UnreadablePattern` with
a sentence: a pattern that is half kept would be a broken promise. Called by `schema_grammar` and `sessions/chat/constraint.py`. Pure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from duologue.text.grammars.grammar_bounds import excess

LAST = 0x10FFFF
MAX_PATTERN = 4096
MAX_COUNT = 1000
"""Repetitions of one part."""
MAX_SIZE = 20_000
"""Terms of a pattern, its repetitions multiplied: the engine writes them all out."""
MAX_NESTING = 32
Ranges = tuple[tuple[int, int], ...]
DIGITS: Ranges = ((0x30, 0x39),)
WORD: Ranges = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
BLANKS: Ranges = ((0x09, 0x0D), (0x20, 0x20))
LINE_ENDS: Ranges = ((0x0A, 0x0A), (0x0D, 0x0D))
_SURROGATES: Ranges = ((0xD800, 0xDFFF),)
_UNWRITTEN: Ranges = ((0x00, 0x1F), (0x22, 0x22), (0x5C, 0x5C))
"""What stands in a JSON string only as an escape."""
_ESCAPES = {0x22: '\\"', 0x5C: "\\\\", 0x0A: "\\n", 0x0D: "\\r", 0x09: "\\t"}
_CONTROLS = {"n": 0x0A, "r": 0x0D, "t": 0x09, "f": 0x0C, "v": 0x0B, "0": 0x00}
_SETS = {"d": DIGITS, "w": WORD, "s": BLANKS}
_COUNT = re.compile(r"\{(\d{1,6})(,(\d{1,6})?)?\}")
_GROUP = re.compile(r"\(\?(?::|P?<[A-Za-z_]\w*>)")


class UnreadablePattern(ValueError):
    """A pattern that cannot be kept; its text says why, after "the pattern"."""


def pattern_rule(pattern: str, *, in_json: bool = False) -> str:
    """The right side of a GBNF rule for the texts that `pattern` matches as a whole, or, `in_json`, for the JSON string's inside in which
    it is found: JSON schema's `pattern` may match anywhere. That form refers to the rule `character`. Raises UnreadablePattern."""
    if len(pattern) > MAX_PATTERN:
        raise UnreadablePattern(f"has {len(pattern):,} characters; at most {MAX_PATTERN:,} can be kept")
    rule = _Pattern(pattern, in_json).whole()
    if too_much := excess(rule):
        raise UnreadablePattern(too_much)
    return rule


class _Pattern:
    """A recursive descent through one pattern; every method returns GBNF."""

    def __init__(self, pattern: str, in_json: bool) -> None:
        self._text, self._in_json = pattern, in_json
        self._at = 0
        self._depth = 0
        self._size = 0

    def whole(self) -> str:
        """The alternatives. Each has anchors of its own; where the pattern may match anywhere, a missing one admits any text."""
        rule = self._either(top=True)
        if self._at < len(self._text):
            raise UnreadablePattern("closes a group that is not open")
        return rule

    def _either(self, *, top: bool) -> str:
        parts = [self._sequence(top=top)]
        while self._peek() == "|":
            self._at += 1
            parts.append(self._sequence(top=top))
        return " | ".join(parts)

    def _sequence(self, *, top: bool) -> str:
        terms: list[str] = []
        begins = ends = False
        if top and self._peek() == "^":
            self._at, begins = self._at + 1, True
        while (next_ := self._peek()) not in ("", "|", ")"):
            if next_ == "$" and top and self._text[self._at + 1 : self._at + 2] in ("", "|"):
                self._at, ends = self._at + 1, True
                break
            if next_ in "^$":
                raise UnreadablePattern(f"has {next_} inside; it is kept only at the ends")
            terms.append(self._repeated())
        if top and self._in_json:
            terms = [*([] if begins else ["character*"]), *terms, *([] if ends else ["character*"])]
        return " ".join(terms) or '""'

    def _repeated(self) -> str:
        before = self._size
        term = self._term()
        least, most = self._count()
        if (least, most) == (1, 1):
            return term
        top = most if most is not None else max(least, 1)
        if top > MAX_COUNT:
            raise UnreadablePattern(f"repeats something more than {MAX_COUNT:,} times")
        self._grow((self._size - before) * max(top - 1, 0))
        if self._peek() == "?":
            self._at += 1  # a lazy quantifier matches the same texts
        elif self._peek() in ("+", "*", "{"):
            raise UnreadablePattern("has one quantifier after another")
        if most is None:
            return f"{term}*" if least == 0 else f"{term}+" if least == 1 else f"{term}{{{least}}} {term}*"
        return f"{term}?" if (least, most) == (0, 1) else f"{term}{{{least},{most}}}"

    def _count(self) -> tuple[int, int | None]:
        simple = {"*": (0, None), "+": (1, None), "?": (0, 1)}
        if (next_ := self._peek()) and next_ in simple:
            self._at += 1
            return simple[next_]
        match = _COUNT.match(self._text, self._at)
        if match is None:
            return 1, 1
        self._at = match.end()
        least = int(match[1])
        most = least if match[2] is None else None if match[3] is None else int(match[3])
        if most is not None and most < least:
            raise UnreadablePattern(f"has a count from {least} to {most}")
        return least, most

    def _term(self) -> str:
        self._grow(1)
        character = self._text[self._at]
        if character == "(":
            return self._group()
        self._at += 1
        if character == "[":
            return self._set(self._class())
        if character == ".":
            return self._set(_without(LINE_ENDS))
        if character == "\\":
            return self._set(self._escape())
        if character in "*+?":
            raise UnreadablePattern(f"has {character} after nothing")
        return self._set(_one(ord(character)))

    def _group(self) -> str:
        opening = _GROUP.match(self._text, self._at)
        if opening is None and self._text.startswith("(?", self._at):
            raise UnreadablePattern(
                f"has {self._text[self._at : self._at + 4]!r}: look-around and flags cannot be kept"
            )
        self._at = opening.end() if opening else self._at + 1
        self._depth += 1
        if self._depth > MAX_NESTING:
            raise UnreadablePattern(f"nests more than {MAX_NESTING} groups")
        inner = self._either(top=False)
        if self._peek() != ")":
            raise UnreadablePattern("opens a group that is not closed")
        self._at += 1
        self._depth -= 1
        return f"({inner})"

    def _class(self) -> Ranges:
        negated = self._peek() == "^"
        self._at += negated
        ranges: list[tuple[int, int]] = []
        first = True
        while (character := self._peek()) != "]" or first:
            first = False
            low = self._member()
            if (
                self._peek() == "-"
                and self._text[self._at + 1 : self._at + 2] not in ("]", "")
                and _is_one(low)
            ):
                self._at += 1
                high = self._member()
                if not _is_one(high) or high[0][0] < low[0][0]:
                    raise UnreadablePattern("has a range in a class that does not go up")
                low = ((low[0][0], high[0][0]),)
            ranges += low
            character = self._peek()
            if not character:
                raise UnreadablePattern("opens a class that is not closed")
        self._at += 1
        joined = _joined(ranges)
        return _without(joined) if negated else joined

    def _member(self) -> Ranges:
        character = self._peek()
        if not character:
            raise UnreadablePattern("opens a class that is not closed")
        if character == "[" and self._text[self._at + 1 : self._at + 2] == ":":
            raise UnreadablePattern("has a named class like [:alpha:]")
        self._at += 1
        return self._escape(in_class=True) if character == "\\" else _one(ord(character))

    def _escape(self, *, in_class: bool = False) -> Ranges:
        name = self._peek()
        self._at += 1
        if name.lower() in _SETS and name:
            set_ = _SETS[name.lower()]
            return set_ if name.islower() else _without(set_)
        if name in _CONTROLS:
            return _one(_CONTROLS[name])
        if name in ("x", "u"):
            digits = self._text[self._at : self._at + (2 if name == "x" else 4)]
            if len(digits) == (2 if name == "x" else 4) and all(
                one in "0123456789abcdefABCDEF" for one in digits
            ):
                self._at += len(digits)
                return _one(int(digits, 16))
        if name == "b" and in_class:
            return _one(0x08)
        if name and not name.isalnum():
            return _one(ord(name))
        raise UnreadablePattern(f"has \\{name}, which cannot be kept")

    def _set(self, ranges: Ranges) -> str:
        """One character of these."""
        ranges = _minus(ranges, _SURROGATES)
        choices = []
        if self._in_json:
            choices = [
                _quoted(text)
                for code, text in _ESCAPES.items()
                if any(low <= code <= high for low, high in ranges)
            ]
            ranges = _minus(ranges, _UNWRITTEN)
        if ranges:
            choices.insert(0, f"[{''.join(_range(*range_) for range_ in ranges)}]")
        if not choices:
            raise UnreadablePattern("has a class without a character that can be written")
        return choices[0] if len(choices) == 1 else f"({' | '.join(choices)})"

    def _grow(self, by: int) -> None:
        self._size += by
        if self._size > MAX_SIZE:
            raise UnreadablePattern("is too large with its repetitions written out")

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]


def _one(code: int) -> Ranges:
    return ((code, code),)


def _is_one(ranges: Ranges) -> bool:
    return len(ranges) == 1 and ranges[0][0] == ranges[0][1]


def _joined(ranges: Iterable[tuple[int, int]]) -> Ranges:
    joined: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if joined and low <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(high, joined[-1][1]))
        else:
            joined.append((low, high))
    return tuple(joined)


def _without(ranges: Ranges) -> Ranges:
    """Every character but these."""
    rest, at = [], 0
    for low, high in ranges:
        if at < low:
            rest.append((at, low - 1))
        at = high + 1
    return (*rest, (at, LAST)) if at <= LAST else tuple(rest)


def _minus(ranges: Ranges, others: Ranges) -> Ranges:
    return _without(_joined((*_without(ranges), *others)))


def _range(low: int, high: int) -> str:
    return _character(low) if low == high else f"{_character(low)}-{_character(high)}"


def _character(code: int) -> str:
    if 0x20 <= code < 0x7F and chr(code).isalnum():
        return chr(code)
    if code <= 0xFF:
        return f"\\x{code:02X}"
    return f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"


def _quoted(text: str) -> str:
    """A text of quotes, backslashes and letters as a GBNF literal."""
    return json.dumps(text)
