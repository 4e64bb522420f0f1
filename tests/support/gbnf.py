"""A reader of GBNF, as far as our grammars go: `admits(grammar, text)` tells whether the rule `root` makes a text, `made(grammar,
generator)` makes one at random.

Literals, classes, groups, alternatives and the repetitions * + ? {m} {m,} {m,n}. `admits` tries every way, so grammars of tests are
small.
"""

from __future__ import annotations

import random
import re
from functools import cache
from typing import Any

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\]|[a-zA-Z0-9-]+|\{\d+(?:,\d*)?\}|[()|*+?]|\s+')
ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}
PALETTE = "ab z09_-.,:;=!?+*/\\\"'`<>()[]{}|&#@~^%$\n\t" + "\u00e9\u6771\U0001f701"
"""What `made` takes the characters of classes from: those that mean something somewhere, and some of other alphabets."""
DEEP, LONG = 14, 3
"""Rules within rules from which on `made` takes the shortest way, and how much more than the least it repeats."""


def admits(grammar: str, text: str, root: str = "root") -> bool:
    return len(text) in _Matcher(_rules(grammar), text).ends(("rule", root), 0)


def made(grammar: str, generator: random.Random, root: str = "root") -> str:
    return _Maker(_rules(grammar), generator).text(("rule", root), 0)


def _rules(grammar: str) -> dict[str, Any]:
    rules = {}
    for line in grammar.splitlines():
        name, _, body = line.partition(" ::= ")
        assert name not in rules, f"two rules {name}"
        rules[name] = _parsed(body)
    return rules


def _parsed(body: str) -> Any:
    tokens, at = [], 0
    while at < len(body):
        match = TOKEN.match(body, at)
        assert match, f"not understood: {body[at:]}"
        tokens += [match[0]] if match[0].strip() else []
        at = match.end()
    expression, rest = _alternatives(tokens)
    assert not rest, f"not closed: {body}"
    return expression


def _alternatives(tokens: list[str]) -> tuple[Any, list[str]]:
    found = []
    while True:
        sequence, tokens = _sequence(tokens)
        found.append(sequence)
        if not tokens or tokens[0] != "|":
            return ("or", tuple(found)), tokens
        tokens = tokens[1:]


def _sequence(tokens: list[str]) -> tuple[Any, list[str]]:
    items: list[Any] = []
    while tokens and tokens[0] not in ("|", ")"):
        token, tokens = tokens[0], tokens[1:]
        if token == "(":
            item, tokens = _alternatives(tokens)
            assert tokens[0] == ")"
            tokens = tokens[1:]
        elif token[0] == '"':
            item = ("text", re.sub(r"\\(.)", lambda match: ESCAPES.get(match[1], match[1]), token[1:-1]))
        elif token[0] == "[":
            item = ("one", token)
        elif token in "*+?" or token[0] == "{":
            first, comma, last = token[1:-1].partition(",")
            least, most = {"*": (0, None), "+": (1, None), "?": (0, 1)}.get(token) or (
                int(first),
                int(last) if last else None if comma else int(first),
            )
            item = ("many", items.pop(), least, most)
        else:
            item = ("rule", token)
        items.append(item)
    return ("and", tuple(items)), tokens


class _Matcher:
    def __init__(self, rules: dict[str, Any], text: str) -> None:
        self._rules, self._text = rules, text
        self.ends = cache(self._ends)

    def _ends(self, expression: Any, at: int) -> frozenset[int]:
        match expression:
            case ("rule", name):
                return self.ends(self._rules[name], at)
            case ("text", literal):
                return frozenset({at + len(literal)} if self._text.startswith(literal, at) else ())
            case ("one", characters):
                return frozenset({at + 1} if re.compile(characters).match(self._text, at) else ())
            case ("or", choices):
                return frozenset().union(*(self.ends(choice, at) for choice in choices))
            case ("and", items):
                places = frozenset({at})
                for item in items:
                    places = frozenset().union(*(self.ends(item, place) for place in places))
                return places
            case ("many", item, least, most):
                return self._repeated(item, at, least, most)
        raise AssertionError(expression)

    def _repeated(self, item: Any, at: int, least: int, most: int | None) -> frozenset[int]:
        found: set[int] = set()
        places, count = frozenset({at}), 0
        while places and (most is None or count <= most):
            if count >= least:
                if places <= found:
                    break
                found |= places
            places = frozenset().union(*(self.ends(item, place) for place in places))
            count += 1
        return frozenset(found)


class _Maker:
    def __init__(self, rules: dict[str, Any], generator: random.Random) -> None:
        self._rules, self._generator = rules, generator
        self._depths = dict.fromkeys(rules, DEEP * DEEP)
        """How many rules within rules the shortest text of each rule needs."""
        while (shorter := {name: 1 + self._depth(body) for name, body in rules.items()}) != self._depths:
            self._depths = shorter

    def text(self, expression: Any, depth: int) -> str:
        match expression:
            case ("rule", name):
                return self.text(self._rules[name], depth + 1)
            case ("text", literal):
                return str(literal)
            case ("one", characters):
                allowed = [one for one in PALETTE if re.match(characters, one)]
                return self._generator.choice(
                    allowed or [one for one in map(chr, range(128)) if re.match(characters, one)]
                )
            case ("or", choices):
                if depth > DEEP:
                    return self.text(min(choices, key=self._depth), depth)
                return self.text(self._generator.choice(choices), depth)
            case ("and", items):
                return "".join(self.text(item, depth) for item in items)
            case ("many", item, least, most):
                more = 0 if depth > DEEP else self._generator.randint(0, LONG)
                times = least + more if most is None else min(most, least + more)
                return "".join(self.text(item, depth) for _ in range(times))
        raise AssertionError(expression)

    def _depth(self, expression: Any) -> int:
        match expression:
            case ("rule", name):
                return self._depths[name]
            case ("or", choices):
                return min(map(self._depth, choices))
            case ("and", items):
                return max(map(self._depth, items), default=0)
            case ("many", item, least, _):
                return self._depth(item) if least else 0
        return 0
