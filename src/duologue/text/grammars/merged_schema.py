"""Schemas that say something in several places at once (`allOf`, `anyOf` or `$ref` with more beside it), as alternatives that each say all of
it in one place. Called by `schema_grammar`, whose rules are made of one place at a time.

What cannot be put together exactly is None: the schema is then not held by our rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from duologue.text.grammars.schema_values import choices_of, json_text, kinds_of, same_type

Schema = Mapping[str, Any]
Resolve = Callable[[str], object]
"""The target of a `$ref`; None if there is none."""

SILENT = frozenset(
    (
        "$defs",
        "definitions",
        "$schema",
        "$id",
        "$comment",
        "title",
        "description",
        "default",
        "examples",
        "deprecated",
    )
) | {"readOnly", "writeOnly", "contentMediaType", "contentEncoding"}
"""Keywords that require nothing."""
SEVERAL = ("anyOf", "oneOf", "allOf")
MAX_ALTERNATIVES = 64
MAX_DEPTH = 12
MAX_STEPS = 50_000
"""About as many thousandths of a millisecond, each a property or a choice that is looked at; the engine's other chats wait meanwhile."""
_LONG = ("properties", "required", "enum")
_HIGHEST = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
_LOWEST = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")
_TYPES = ("object", "array", "string", "number", "boolean", "null", "integer")


def needs_merging(schema: Schema) -> bool:
    """Whether the schema says something in more than one place."""
    places = [name for name in (*SEVERAL, "$ref") if name in schema]
    return "allOf" in places or len(places) > 1 or bool(places and set(schema) - SILENT - set(places))


class SchemaMerger:
    """Puts the parts of one whole schema together. It gives up after MAX_STEPS: parts may refer to each other in circles."""

    def __init__(self, resolve: Resolve) -> None:
        self._resolve = resolve
        self._steps = 0

    def alternatives(self, schema: object, depth: int = 0) -> list[Schema] | None:
        """Schemas in one place, any of which a value may follow; None if that cannot be said exactly."""
        spent = self._spent(1)
        if schema is True:
            return [{}]
        if schema is False:
            return []
        if not isinstance(schema, Mapping) or depth > MAX_DEPTH or spent:
            return None
        found: list[Schema] = [
            {name: value for name, value in schema.items() if name not in (*SEVERAL, "$ref")}
        ]
        for group in self._groups(schema, depth + 1):
            if group is None or len(group) * len(found) > MAX_ALTERNATIVES:
                return None
            if self._spent(sum(map(_size, (*found, *group))) * max(len(found), len(group))):
                return None
            merged = [_merged(one, other) for one in found for other in group]
            if None in merged:
                return None
            found = [one for one in merged if one is not None]
        if "oneOf" in schema and not (len(found) == len(schema["oneOf"]) and self.apart(found)):
            return None
        return found

    def _spent(self, steps: int) -> bool:
        """Count these steps; whether they are too many by now."""
        self._steps += steps
        return self._steps > MAX_STEPS

    def _groups(self, schema: Schema, depth: int) -> Iterator[list[Schema] | None]:
        """What has to be put together: one alternative of each group."""
        if "$ref" in schema:
            target = self._resolve(schema["$ref"]) if isinstance(schema["$ref"], str) else None
            yield None if target is None else self.alternatives(target, depth)
        for name in SEVERAL:
            if name not in schema:
                continue
            if not isinstance(parts := schema[name], list) or not parts:
                yield None
                return
            each = [self.alternatives(part, depth) for part in parts]
            if name == "allOf":
                yield from each
            else:
                yield None if None in each else [one for group in each for one in group or ()]

    def apart(self, schemas: Sequence[object]) -> bool:
        """Whether no value that is written by the rule of one schema follows another one of them."""
        if len(schemas) > MAX_ALTERNATIVES:
            return False
        pairs = ((one, other) for at, one in enumerate(schemas) for other in schemas[at + 1 :])
        return all(self._apart(one, other, 0) for one, other in pairs)

    def _apart(self, one: object, other: object, depth: int) -> bool:
        first, second = self.alternatives(one, MAX_DEPTH - 3), self.alternatives(other, MAX_DEPTH - 3)
        if first is None or second is None or depth > 3:
            return False
        return all(self._two_apart(a, b, depth) for a in first for b in second)

    def _two_apart(self, one: Schema, other: Schema, depth: int) -> bool:
        common = kinds_of(one) & kinds_of(other)
        if not common:
            return True
        mine, theirs = choices_of(one), choices_of(other)
        if self._spent(_size(one) + _size(other)):
            return False
        if mine is not None and theirs is not None:
            return not {json_text(value) for value in mine} & {json_text(value) for value in theirs}
        if common != {"object"}:
            return False
        return self._never(one, other, depth) and self._never(other, one, depth)

    def _never(self, written: Schema, other: Schema, depth: int) -> bool:
        """Whether no object that is written by the rule of one schema follows the other. Unlisted properties are written only where
        the schema says that there may be some."""
        mine, theirs = (schema.get("properties", {}) for schema in (written, other))
        if not isinstance(mine, Mapping) or not isinstance(theirs, Mapping):
            return False
        needed, wanted = set(_names(written)), set(_names(other))
        if mine and written.get("additionalProperties", False) is False and wanted - set(mine) - needed:
            return True
        closed = other.get("additionalProperties") is False and "patternProperties" not in other
        if closed and needed - set(theirs):
            return True
        both = (needed | wanted) & set(mine) & set(theirs)
        return any(self._apart(mine[name], theirs[name], depth + 1) for name in both)


def _size(schema: Schema) -> int:
    """Properties and choices that have to be looked at."""
    return 1 + sum(len(schema[name]) for name in _LONG if isinstance(schema.get(name), Mapping | list))


def _merged(one: Schema, other: Schema) -> Schema | None:
    """What both say; None if that cannot be said exactly, or if there is no such value. Both are in one place."""
    made = dict(one)
    for name, value in other.items():
        if name not in made or made[name] == value:
            made[name] = value
        elif name in SILENT or name in ("properties", "required", "additionalProperties"):
            continue
        elif (both := _both(name, made[name], value)) is None:
            return None
        else:
            made[name] = both
    if "properties" in made or "additionalProperties" in made:
        return _merged_objects(one, other, made)
    if "required" in made:
        made["required"] = _both_required(one, other)
    return made


def _both(name: str, one: object, other: object) -> object | None:
    """What both values of a keyword say."""
    if name == "type":
        types = [kind for kind in _TYPES if same_type(one, kind) and same_type(other, kind)]
        types = [kind for kind in types if kind != "integer" or "number" not in types]
        return (types[0] if len(types) == 1 else types) or None
    if name == "enum" and isinstance(one, list) and isinstance(other, list):
        theirs = {json_text(choice) for choice in other}
        return [choice for choice in one if json_text(choice) in theirs] or None
    if name in _HIGHEST + _LOWEST and isinstance(one, int | float) and isinstance(other, int | float):
        return max(one, other) if name in _HIGHEST else min(one, other)
    return {"allOf": [one, other]} if name == "items" else None


def _both_required(one: Schema, other: Schema) -> list[str]:
    return list(dict.fromkeys((*_names(one), *_names(other))))


def _names(schema: Schema) -> list[str]:
    required = schema.get("required", [])
    return [name for name in required if isinstance(name, str)] if isinstance(required, list) else []


def _merged_objects(one: Schema, other: Schema, made: dict[str, Any]) -> Schema | None:
    """The properties of both. Where one of them says what others may be, it says so about the other's."""
    if "patternProperties" in made:
        return None
    both = [part.get("properties", {}) for part in (one, other)]
    if not all(isinstance(part, Mapping) for part in both):
        return None
    rest = [part.get("additionalProperties", True) for part in (one, other)]
    required = _both_required(one, other)
    properties: dict[str, object] = {}
    for name in (*both[0], *(name for name in both[1] if name not in both[0])):
        said = [part.get(name, more) for part, more in zip(both, rest, strict=True)]
        if False not in said:
            properties[name] = _all(said)
        elif name in required:
            return None
    if "additionalProperties" in made:
        made["additionalProperties"] = False if False in rest else _all(rest)
    made["properties"], made["required"] = properties, required
    return made


def _all(said: list[Any]) -> object:
    said = [schema for schema in said if schema is not True]
    if not said:
        return True
    return said[0] if len(said) == 1 or said[0] == said[1] else {"allOf": said}
