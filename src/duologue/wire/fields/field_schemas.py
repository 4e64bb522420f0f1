"""Rules of fields that types cannot say, as JSON schemas for the API's description: fields that are refused unless they ask for nothing,
and bodies that need one of several fields. Used by the bodies of `wire`.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, JsonValue, WithJsonSchema
from pydantic.config import JsonDict

NOTHING: JsonDict = {
    "anyOf": [
        {"type": "null"},
        {"type": "array", "items": {"type": "string"}, "maxItems": 0},
        {"type": "integer", "minimum": 0, "maximum": 0},
    ]
}
"""What a field that cannot be kept may have."""
Nothing = Annotated[JsonValue, WithJsonSchema(NOTHING)]

SomeText = Annotated[str, WithJsonSchema({"type": "string", "minLength": 1})]
"""A text that means nothing where it is empty."""


def unkept(instead: str) -> BeforeValidator:
    """A field that is refused unless it asks for nothing: a zero, an empty list. `instead` says what to send."""

    def refuse(value: object) -> object:
        if value:
            raise ValueError(f"cannot be kept by this server; {instead}")
        return None

    return BeforeValidator(refuse, json_schema_input_type=Nothing)


def needs_one_of(*names: str) -> JsonDict:
    """Of a body that needs a value in at least one of these fields: an addition to its schema. It is a negation, because generators of
    clients read alternatives of whole objects as types without the object's fields."""
    nothing: dict[str, Any] = {name: {"type": "null"} for name in names}
    return {"not": {"properties": nothing}}


def exactly_one(**types: str) -> JsonDict:
    """Of a body that needs a value in one of two fields, and takes it in one only. `types`: their JSON types."""
    none: dict[str, Any] = {name: {"type": "null"} for name in types}
    both: dict[str, Any] = {name: {"type": kind} for name, kind in types.items()}
    return {"not": {"anyOf": [{"properties": none}, {"properties": both, "required": list(types)}]}}


def without_null(schema: JsonDict) -> None:
    """Of a field that may be absent and is not null, whose type says null for its absence."""
    kinds = schema.pop("anyOf", None)
    schema.pop("default", None)
    assert isinstance(kinds, list)
    for kind in kinds:
        if isinstance(kind, dict) and kind.get("type") != "null":
            schema.update(kind)


NAME: JsonDict = {"type": "string", "minLength": 1, "maxLength": 256}


def named(where: str = "name") -> JsonDict:
    """An object with a name in the field `where`."""
    return {"type": "object", "properties": {where: NAME}, "required": [where]}


def _typed(kind: str, value: JsonDict) -> JsonDict:
    """An object of a type, with `value` under the type's name."""
    properties: JsonDict = {"type": {"type": "string", "enum": [kind]}, kind: value}
    return {"type": "object", "properties": properties, "required": ["type", kind]}


_OFFERED: JsonDict = {"type": "object", "properties": {"function": named()}, "required": ["function"]}
_SOME: JsonDict = {
    "type": "object",
    "properties": {
        "mode": {"type": "string", "enum": ["auto", "required"]},
        "tools": {"type": "array", "items": _OFFERED, "minItems": 1},
    },
    "required": ["mode", "tools"],
}
CHOSEN_TOOLS: JsonDict = {"anyOf": [_typed("function", named()), _typed("allowed_tools", _SOME)]}
"""A choice of one tool, or of some."""
CHOSEN_ITEMS: JsonDict = {
    "type": "object",
    "properties": {"type": {"type": "string", "enum": ["function", "custom"]}, "name": NAME},
    "required": ["type", "name"],
}
"""The choice of one tool, as the Responses API has it; that of some is written as in CHOSEN_TOOLS too."""
