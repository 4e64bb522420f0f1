"""Kinds of values and what a schema says about them: types, the keywords of each kind, the values of `enum` and `const`.

Called by `schema_grammar` and `merged_schema`. Pure.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

TYPES = ("object", "array", "string", "number", "boolean", "null")
KEYWORDS: dict[str, frozenset[str]] = {
    "string": frozenset(("pattern", "format", "minLength", "maxLength")),
    "number": frozenset(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")),
    "array": frozenset(
        ("items", "prefixItems", "additionalItems", "minItems", "maxItems", "uniqueItems", "contains")
    ),
    "object": frozenset(
        (
            "properties",
            "required",
            "additionalProperties",
            "patternProperties",
            "minProperties",
            "maxProperties",
        )
    )
    | {"propertyNames"},
}
"""The keywords that say something about one kind of value alone."""


def same_type(types: object, kind: str) -> bool:
    """Whether values of this kind are of one of these types; whole numbers are numbers."""
    listed = types if isinstance(types, list) else [types]
    return kind in listed or (kind == "integer" and "number" in listed)


def kinds_of(schema: Mapping[str, Any]) -> set[str]:
    """The kinds of value that a schema may allow; whole numbers are numbers."""
    if (choices := choices_of(schema)) is not None:
        return {kind_of(value) for value in choices}
    if "type" not in schema:
        return set(TYPES)
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return {"number" if kind == "integer" else str(kind) for kind in types}


def kind_of(value: object) -> str:
    """The kind of a value of JSON."""
    if isinstance(value, bool):
        return "boolean"
    if value is None:
        return "null"
    if isinstance(value, int | float):
        return "number"
    return "string" if isinstance(value, str) else "array" if isinstance(value, list) else "object"


def json_text(value: object) -> str:
    """A text that is equal for values that JSON schema calls equal: 1 and 1.0 are, 1 and true are not."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return json.dumps(value, sort_keys=True)


def choices_of(schema: Mapping[str, Any]) -> list[object] | None:
    """The values of `const` and `enum` that are of the schema's type; None without either."""
    listed = schema.get("enum")
    if "const" in schema:
        choices: list[object] = [schema["const"]]
        if isinstance(listed, list) and json_text(schema["const"]) not in map(json_text, listed):
            choices = []
    elif isinstance(listed, list) and listed:
        choices = listed
    else:
        return None
    return [value for value in choices if "type" not in schema or _is_of(value, schema["type"])]


def _is_of(value: object, types: object) -> bool:
    kind = kind_of(value)
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    return same_type(types, "integer" if kind == "number" and whole else kind)


def for_kind(schema: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """The schema without the keywords that are about other kinds of value."""
    mine = "number" if kind == "integer" else kind
    others = frozenset[str]().union(*(names for name, names in KEYWORDS.items() if name != mine))
    return {name: value for name, value in schema.items() if name not in others}


def implied_kind(schema: Mapping[str, Any]) -> str | None:
    """The one kind that a schema without a type says something about; None for none or several."""
    kinds = [kind for kind, names in KEYWORDS.items() if names & set(schema)]
    return kinds[0] if len(kinds) == 1 else None
