"""A tiny grammar for wordings: `{a|b}` chooses, `[c]` is optional, both nest; `$name` is a slot."""

import re
from functools import cache
from random import Random

Node = str | tuple[str, list["Node"]]


def say(random: Random, pattern: str, **fills: object) -> str:
    """Draws one wording of the pattern."""
    text = _tidy(_draw(random, _parse(pattern)))
    for name in sorted(fills, key=len, reverse=True):
        text = text.replace(f"${name}", str(fills[name]))
    return text.strip()


def pick(random: Random, patterns: list[str], **fills: object) -> str:
    """Draws one of the patterns, then one of its wordings."""
    return say(random, random.choice(patterns), **fills)


def capital(text: str) -> str:
    """The text with its first letter in upper case."""
    return text[:1].upper() + text[1:]


@cache
def _parse(pattern: str) -> Node:
    node, end = _sequence(pattern, 0, "")
    if end != len(pattern):
        raise ValueError(f"unbalanced pattern: {pattern!r}")
    return node


def _sequence(pattern: str, start: int, stops: str) -> tuple[Node, int]:
    parts: list[Node] = []
    index = start
    while index < len(pattern) and pattern[index] not in stops:
        character = pattern[index]
        if character in "{[":
            node, index = _choice(pattern, index + 1, "}" if character == "{" else "]")
            parts.append(("maybe" if character == "[" else "all", [node]))
            continue
        if parts and isinstance(parts[-1], str):
            parts[-1] += character
        else:
            parts.append(character)
        index += 1
    return ("all", parts), index


def _choice(pattern: str, start: int, close: str) -> tuple[Node, int]:
    options: list[Node] = []
    index = start
    while True:
        node, index = _sequence(pattern, index, "|" + close)
        options.append(node)
        if index >= len(pattern):
            raise ValueError(f"missing {close} in {pattern!r}")
        index += 1
        if pattern[index - 1] == close:
            return ("one", options), index


def _tidy(text: str) -> str:
    text = re.sub(r" +([,.!?;]|'s\b)", r"\1", text)
    return re.sub(r" {2,}", " ", text)


def _draw(random: Random, node: Node) -> str:
    if isinstance(node, str):
        return node
    kind, children = node
    if kind == "one":
        return _draw(random, random.choice(children))
    if kind == "maybe" and random.random() < 0.5:
        return ""
    return "".join(_draw(random, child) for child in children)
