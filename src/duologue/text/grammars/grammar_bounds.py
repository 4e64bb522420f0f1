"""What a caller's grammar or pattern may cost the engine: bounds that are checked before it compiles one.

`engines/llama` checks every grammar of a caller by it, `pattern_grammar` every pattern. The engine compiles grammars on the loop that
serves all slots, and at each token follows every way in which the text may go on. `((("a" | "b"){0,10}){0,10}){0,10}` has thousands of
millions of ways to begin, and stopped all chats for minutes. They are counted here, in time that grows with the grammar's length. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from duologue.errors import BadRequest

MAX_WAYS = 1000
"""Ways in which a text may begin, or go on, at any place of a grammar; each costs time at each token. 2,000 alternatives of
one word took 0.4 s a token."""
MAX_SKIPS = 64
"""Ways to begin, at one place, after leaving out something optional. Unlike alternatives, they often go on with the same character, so
that each leads to all others again: `("a"?){0,200} "b"` took 2 s a token."""
MAX_TERMS = 20_000
"""Words, names, brackets and signs of a grammar."""
MAX_NESTING = 64
"""Brackets in brackets."""
MAX_REPEATS = 2000
SATURATED = 1 << 40
"""Counts stop here; there is no need to know how far beyond the bound they are."""
_TOKEN = re.compile(
    r"""(?P<blank>[ \t\r\n]+|\#[^\n]*)
    |(?P<rule>[A-Za-z0-9_-]+)\s*::=
    |(?P<name>[A-Za-z0-9_-]+)
    |(?P<text>"(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\]|\.|<\[?[^>\n]*>|!)
    |(?P<open>\()|(?P<close>\))|(?P<either>\|)
    |(?P<repeat>[*+?]|\{\s*\d*\s*(?:,\s*\d*\s*)?\})""",
    re.VERBOSE | re.DOTALL,
)


class Ways(Struct, frozen=True):
    """`starts`: ways to come to a first character. `empty`: ways to be nothing at all. `skips`: those of `starts` that leave out
    something before."""

    starts: int
    empty: int
    skips: int = 0

    def then(self, other: Ways) -> Ways:
        """This, and the other one after it."""
        after = self.empty * (other.starts if self.starts else other.skips)
        return Ways(
            _capped(self.starts + self.empty * other.starts),
            _capped(self.empty * other.empty),
            _capped(self.skips + after),
        )

    def either(self, other: Ways) -> Ways:
        # Alternatives begin with different characters as a rule, so their skips do not add up.
        return Ways(
            _capped(self.starts + other.starts),
            _capped(self.empty + other.empty),
            max(self.skips, other.skips),
        )

    def repeated(self, least: int, most: int | None) -> Ways:
        """This so many times; None: without end. The engine writes `x{0,n}` as `(x (x ...)?)?`."""
        optional = Ways(0, 1)
        # Endless repetition comes back to one rule, which the engine enters once at each place.
        rest = Ways(self.starts, 1, self.skips) if most is None else optional
        for _ in range((most or least) - least if most is not None else 0):
            rest = optional.either(self.then(rest))
            if rest.starts >= SATURATED or self.empty == 0:
                break
        for _ in range(least):
            rest = self.then(rest)
            if self.empty == 0:
                break
        return rest


TEXT = Ways(1, 0)
NOTHING = Ways(0, 1)


def check_grammar(grammar: str) -> None:
    """Raises BadRequest for a grammar that would keep the engine busy. What is no GBNF is left to the engine to refuse."""
    try:
        _check(grammar)
    except _TooCostly as error:
        raise BadRequest(f"The grammar {error}.", param="response_format") from None


def excess(rule: str) -> str:
    """What the right side of one rule has too much of; "" if nothing. It goes on after "the pattern"."""
    try:
        _check(f"it ::= {rule}")
    except _TooCostly as error:
        return str(error).replace(" in the rule 'it'", "")
    return ""


class _TooCostly(Exception):
    """Its text says what there is too much of, after "the grammar"."""


def _check(grammar: str) -> None:
    bodies = _bodies(grammar)
    counted: dict[str, Ways] = {}
    for name in _in_order(bodies):
        body = _Body(counted)
        counted[name] = body.ways(bodies[name])
        if body.peak > MAX_WAYS:
            raise _TooCostly(
                f"has more than {MAX_WAYS:,} ways to go on in the rule {name[:64]!r}; write fewer alternatives there, and no "
                "repetition of what may be empty"
            )
        if body.peak_skips > MAX_SKIPS:
            raise _TooCostly(
                f"has more than {MAX_SKIPS} optional parts one after another in the rule {name[:64]!r}; write fewer, or "
                "repeat with * what may be left out"
            )


def _bodies(grammar: str) -> dict[str, list[tuple[str, str]]]:
    """The tokens of each rule."""
    bodies: dict[str, list[tuple[str, str]]] = {}
    body: list[tuple[str, str]] = []
    at = nesting = terms = 0
    while at < len(grammar):
        match = _TOKEN.match(grammar, at)
        if match is None:
            break  # no GBNF
        at, kind = match.end(), match.lastgroup or ""
        nesting += (kind == "open") - (kind == "close")
        if nesting > MAX_NESTING:
            raise _TooCostly(f"nests more than {MAX_NESTING} brackets")
        if kind == "rule":
            body = bodies.setdefault(match["rule"], [])
        elif kind != "blank":
            body.append((kind, match[0]))
            terms += 1
            if terms > MAX_TERMS:
                raise _TooCostly(f"has more than {MAX_TERMS:,} terms; write a shorter one")
    return bodies


def _in_order(bodies: dict[str, list[tuple[str, str]]]) -> Iterator[str]:
    """The rules, each after those it refers to, as far as they do not refer to each other."""
    done: set[str] = set()
    for first in bodies:
        # Depth first, with a stack of its own: thousands of rules may refer each to the next.
        stack = [(first, _references(bodies[first]))] if first not in done else []
        done.add(first)
        while stack:
            name, references = stack[-1]
            reference = next((one for one in references if one in bodies and one not in done), None)
            if reference is None:
                stack.pop()
                yield name
            else:
                done.add(reference)
                stack.append((reference, _references(bodies[reference])))


def _references(body: list[tuple[str, str]]) -> Iterator[str]:
    return (text for kind, text in body if kind == "name")


class _Body:
    """Counts the ways of one rule. `peak` is the most at any place of it, and `peak_skips` the most skips: each rest of a sequence is one."""

    def __init__(self, counted: dict[str, Ways]) -> None:
        self._counted = counted
        self.peak = self.peak_skips = 0

    def ways(self, body: list[tuple[str, str]]) -> Ways:
        """A rule that is not counted yet refers back to this one, behind a character or not at all."""
        outer: list[tuple[Ways | None, list[Ways]]] = []
        total: Ways | None = None
        sequence: list[Ways] = []
        for kind, text in body:
            if kind == "either":
                total, sequence = self._joined(total, sequence), []
            elif kind == "open":
                outer.append((total, sequence))
                total, sequence = None, []
            elif kind == "close":
                inner = self._joined(total, sequence)
                total, sequence = outer.pop() if outer else (None, [])
                sequence.append(inner)
            elif kind == "repeat":
                if sequence:
                    sequence.append(sequence.pop().repeated(*_bounds(text)))
            else:
                one = self._counted.get(text, TEXT) if kind == "name" else NOTHING if text == '""' else TEXT
                sequence.append(one)
        return self._joined(total, sequence)

    def _joined(self, total: Ways | None, sequence: list[Ways]) -> Ways:
        """The alternatives so far, and this one."""
        rest = NOTHING
        for one in reversed(sequence):
            rest = one.then(rest)
            self._note(one)
            self._note(rest)
        joined = rest if total is None else total.either(rest)
        self._note(joined)
        return joined

    def _note(self, ways: Ways) -> None:
        self.peak = max(self.peak, ways.starts, ways.empty)
        self.peak_skips = max(self.peak_skips, ways.skips)


def _bounds(text: str) -> tuple[int, int | None]:
    if text in "*+?":
        return {"*": (0, None), "+": (1, None), "?": (0, 1)}[text]
    least, comma, most = (part.strip() for part in text[1:-1].partition(","))
    low = _number(least)
    high = (_number(most) if most else None) if comma else low
    if high is not None and high < low:
        high = low
    return low, high


def _number(text: str) -> int:
    if len(text) > 9 or int(text or "0") > MAX_REPEATS:
        raise _TooCostly(f"repeats something more than {MAX_REPEATS:,} times")
    return int(text or "0")


def _capped(count: int) -> int:
    return min(count, SATURATED)
