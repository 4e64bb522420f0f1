"""A reader of GBNF, as far as our grammars go: `admits(grammar, text)` tells whether the rule `root` makes a text.

Literals, classes, groups, alternatives and the repetitions * + ? {m} {m,n}. It tries every way, so grammars of tests are small.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\]|[a-zA-Z0-9-]+|\{\d+(?:,\d+)?\}|[()|*+?]|\s+')
ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}


def admits(grammar: str, text: str, root: str = "root") -> bool:
    rules = {}
    for line in grammar.splitlines():
        name, _, body = line.partition(" ::= ")
        assert name not in rules, f"two rules {name}"
        rules[name] = _parsed(body)
    return len(text) in _Matcher(rules, text).ends(("rule", root), 0)


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
            first, _, last = token[1:-1].partition(",")
            least, most = {"*": (0, None), "+": (1, None), "?": (0, 1)}.get(token) or (
                int(first),
                int(last or first),
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
