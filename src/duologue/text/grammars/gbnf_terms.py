"""Small parts of GBNF: texts as literals, names of rules, how often a term stands. Called by the writers of grammars."""

from __future__ import annotations

import json
import re

_UNSAFE = re.compile(r"[^a-zA-Z0-9]+")


def literal(text: str) -> str:
    """A text as a GBNF literal."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    return f'"{escaped}"'


def json_literal(value: object) -> str:
    """A value's JSON as a GBNF literal."""
    return literal(json.dumps(value, ensure_ascii=False))


def rule_name(name: str) -> str:
    """A name as part of a rule's name."""
    return _UNSAFE.sub("-", name).strip("-") or "it"


def times(least: int, most: int | None) -> str:
    """How often the term before it stands."""
    if most is None and least > 0:
        return f"{{{least},}}"
    return "*" if most is None else f"{{{least},{most}}}"
