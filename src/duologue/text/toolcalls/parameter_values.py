"""Arguments that models write as plain text, one parameter at a time, as JSON: what the schema of a parameter says about it.

Used by formats that write no JSON (`tagged_calls.py`). A text parameter can be passed on while it is written, since whatever it is,
it is a string; any other has to be read as a whole.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from duologue.text.toolcalls.json_values import is_json
from duologue.values.messages import Tool

_WORDS = {"true": "true", "false": "false", "null": "null", "none": "null"}
"""Templates that print values as Python does teach models to write `True` and `None`."""
_DEEPEST = 8


def parameters_of(name: str, tools: Sequence[Tool]) -> Mapping[str, object]:
    """The schemas of a tool's parameters, by name; none for an unknown tool."""
    tool = next((tool for tool in tools if tool.name == name), None)
    properties = tool.parameters.get("properties") if tool is not None else None
    return properties if isinstance(properties, Mapping) else {}


def types_of(schema: object, depth: int = 0) -> frozenset[str]:
    """The JSON types that a schema names; empty if it names none, or is too deep."""
    if not isinstance(schema, Mapping) or depth > _DEEPEST:
        return frozenset()
    kinds = schema.get("type")
    if isinstance(kinds, str):
        return frozenset((kinds,))
    if isinstance(kinds, list):
        return frozenset(kind for kind in kinds if isinstance(kind, str))
    choices = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if isinstance(choices, list) and choices:
        return frozenset(_type_of(json.dumps(choice)) for choice in choices)
    for several in ("anyOf", "oneOf"):
        if isinstance(parts := schema.get(several), list) and parts:
            found = [types_of(part, depth + 1) for part in parts]
            return frozenset().union(*found) if all(found) else frozenset()
    return frozenset()


def is_text(key: str, parameters: Mapping[str, object]) -> bool:
    """Whether a parameter is a string whatever is written. So is one that the tool does not have."""
    return key not in parameters or types_of(parameters[key]) == {"string"}


def parameter_json(text: str, schema: object) -> str:
    """A parameter as JSON: what is written if that is JSON of a type of the schema (of any type, if it names none), and else a
    string."""
    bare = text.strip()
    written = _WORDS.get(bare.lower(), bare)
    if not is_json(written):
        return json.dumps(text, ensure_ascii=False)
    kind = _type_of(written)
    named = types_of(schema)
    fits = not named or kind in named or (kind == "integer" and "number" in named)
    return written if fits or "string" not in named else json.dumps(text, ensure_ascii=False)


def _type_of(written: str) -> str:
    """The type of a JSON text."""
    kind = {"{": "object", "[": "array", '"': "string", "t": "boolean", "f": "boolean", "n": "null"}.get(
        written[0]
    )
    return kind or ("integer" if written.lstrip("-").isdigit() else "number")
