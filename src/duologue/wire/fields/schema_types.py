"""The types that JSON schemas of clients may name, in formats and in tools.

A wrong one is a mistake, and what it should constrain would be free, so it is refused. Used by `constraints` and `validation`.
"""

from __future__ import annotations

from typing import Any

TYPES = ("object", "array", "string", "number", "integer", "boolean", "null")
_ONE = ("items", "additionalProperties", "contains", "not", "propertyNames", "if", "then", "else")
_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_NAMED = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")


def known_types(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema, if each `type` in it is one of JSON schema's. Raises ValueError that says where it is not."""
    waiting: list[tuple[str, Any]] = [("", schema)]
    while waiting:
        at, part = waiting.pop()
        if not isinstance(part, dict):
            continue
        kinds = part.get("type")
        for kind in kinds if isinstance(kinds, list) else [] if kinds is None else [kinds]:
            if kind not in TYPES:
                where = f" at {at[:100]}" if at else ""
                raise ValueError(f"has the type {str(kind)[:64]!r}{where}; types are {', '.join(TYPES)}")
        before = f"{at}." if at else ""
        waiting += [(f"{before}{name}", part[name]) for name in _ONE if name in part]
        for name in _LISTS:
            if isinstance(parts := part.get(name), list):
                waiting += [(f"{before}{name}[{index}]", one) for index, one in enumerate(parts)]
        for name in _NAMED:
            if isinstance(named := part.get(name), dict):
                waiting += [(f"{before}{name}.{key[:64]}", one) for key, one in named.items()]
    return schema
