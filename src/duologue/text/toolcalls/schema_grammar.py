"""JSON schemas as rules of a grammar in GBNF, the form llama.cpp reads.

Pure. The rules admit all JSON of a schema, and perhaps more: what says nothing about shape (`pattern`, `minLength`, `not`)
is left to whoever checks the value, and what is not understood admits any value; `loose` tells that there was such a thing.
Narrower than JSON Schema are the order of properties, which is the schema's, those that it does not list, which come only
where it says so, and numbers, which have no more digits than programs keep. Schemas come from anywhere: none of them fails
here. Knows no call and no engine.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

VALUE = "value"
_PRIMITIVES: dict[str, str] = {
    "string": r'"\"" character* "\""',
    "integer": r'"-"? ("0" | [1-9] [0-9]{0,15})',
    "number": r'"-"? ("0" | [1-9] [0-9]{0,15}) ("." [0-9]{1,16})? ([eE] [-+]? [0-9]{1,3})?',
    "boolean": '"true" | "false"',
    "null": '"null"',
}
_ANY: dict[str, str] = {
    # Bounded: a small model that has nothing to say would write blanks until its reply ends.
    "space": r'"" | " " | "\n" [ \t]{0,20}',
    "colon": '":" " "?',
    "comma": '"," space',
    "character": r'[^"\\\x00-\x1F] | "\\" (["\\bfnrt/] | "u" [0-9a-fA-F]{4})',
    **_PRIMITIVES,
    "pair": "string colon value",
    "object": '"{" space (pair (comma pair)*)? space "}"',
    "array": '"[" space (value (comma value)*)? space "]"',
    VALUE: "object | array | string | number | boolean | null",
}
_HELD = frozenset(
    ("type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf", "$ref")
) | {*("$defs", "definitions", "$schema", "title", "description", "default", "examples")}
"""Keywords that the rules hold to, or that ask for nothing."""
_DEEPEST = 32
MOST_RULES = 5000
"""A small schema may ask for the same in so many combinations that nobody can write them down."""
_UNSAFE = re.compile(r"[^a-zA-Z0-9]+")


def literal(text: str) -> str:
    """A text as GBNF writes it."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    return f'"{escaped}"'


class JsonGrammar:
    """Rules by their names, collected as schemas are asked for."""

    def __init__(self) -> None:
        self.rules: dict[str, str] = dict(_ANY)
        self._taken: dict[str, int] = {}
        self.loose = False
        """More is admitted than some schema does."""

    def __str__(self) -> str:
        return "".join(f"{name} ::= {rule}\n" for name, rule in self.rules.items())

    def add(self, name: str, rule: str) -> str:
        """Add a rule; the name it got, `name` or one like it that was free."""
        free = name
        while free in self.rules:
            self._taken[name] = self._taken.get(name, 1) + 1
            free = f"{name}-{self._taken[name]}"
        self.rules[free] = rule
        return free

    def schema(self, schema: object, name: str) -> str:
        """The rule of a schema's values, called `name` or nearly so."""
        return _Schema(self, schema, name).rule(schema, name, 0, frozenset())


class _Schema:
    """One schema on its way into the rules. Its references are looked up in itself."""

    def __init__(self, grammar: JsonGrammar, whole: object, name: str) -> None:
        self._grammar, self._whole, self._name = grammar, whole, name
        self._referred: dict[str, str] = {}

    def rule(self, schema: object, name: str, depth: int, bare: frozenset[str]) -> str:
        """`bare` are the references that were followed since the last bracket: one of them again would be a rule that
        begins with itself."""
        if schema is True:
            return VALUE
        if not isinstance(schema, Mapping) or depth > _DEEPEST or len(self._grammar.rules) > MOST_RULES:
            return self._any()
        if set(schema) - _HELD:
            self._grammar.loose = True
        if isinstance(reference := schema.get("$ref"), str):
            return self._any() if reference in bare else self._reference(reference, depth, bare)
        if "const" in schema:
            return self._grammar.add(name, literal(_written(schema["const"])))
        if isinstance(choices := schema.get("enum"), list) and choices:
            return self._grammar.add(name, " | ".join(literal(_written(choice)) for choice in choices))
        kinds = schema.get("type")
        if isinstance(kinds, list) and kinds:
            named = [
                self.rule({**schema, "type": kind}, f"{name}-{_safe(str(kind))}", depth + 1, bare)
                for kind in kinds
            ]
            return self._grammar.add(name, " | ".join(named))
        if kinds == "object" or (kinds is None and isinstance(schema.get("properties"), Mapping)):
            return self._object(schema, name, depth)
        for several in ("anyOf", "oneOf"):
            if isinstance(parts := schema.get(several), list) and parts:
                named = [self.rule(part, f"{name}-{at}", depth + 1, bare) for at, part in enumerate(parts)]
                return self._grammar.add(name, " | ".join(named))
        if isinstance(parts := schema.get("allOf"), list) and len(parts) == 1:
            return self.rule(parts[0], name, depth + 1, bare)
        if kinds == "array":
            return self._array(schema, name, depth)
        if isinstance(kinds, str) and kinds in _PRIMITIVES:
            return kinds
        return self._any() if {"type", "items", "required", "anyOf"} & set(schema) else VALUE

    def _any(self, rule: str = VALUE) -> str:
        """What stands for a schema that is not understood."""
        self._grammar.loose = True
        return rule

    def _reference(self, reference: str, depth: int, bare: frozenset[str]) -> str:
        if reference in self._referred:
            return self._referred[reference]
        found = _pointed(self._whole, reference)
        if found is None:
            return self._any()
        # A name of its own before what is in it is looked at: it may refer to itself.
        name = self._grammar.add(f"{self._name}-{_safe(reference)}", "")
        self._referred[reference] = name
        self._grammar.rules[name] = self.rule(found, f"{name}-is", depth + 1, bare | {reference})
        return name

    def _array(self, schema: Mapping[str, object], name: str, depth: int) -> str:
        if "items" not in schema or "prefixItems" in schema:
            return "array"
        item = self.rule(schema["items"], f"{name}-item", depth + 1, frozenset())
        least = schema.get("minItems")
        filled = f"{item} (comma {item})*"
        if not (isinstance(least, int) and least > 0):
            filled = f"({filled})?"
        return self._grammar.add(name, f'"[" space {filled} space "]"')

    def _object(self, schema: Mapping[str, object], name: str, depth: int) -> str:
        """Each property in its turn: one that need not be there may be stepped over. There are two rules for what follows
        it, as the first that is written has no comma before it."""
        properties = schema.get("properties")
        if any(key in schema for key in ("anyOf", "oneOf", "allOf", "patternProperties")):
            return self._any("object")  # they may bring properties of their own
        if not isinstance(properties, Mapping) or not properties:
            return self._free(schema, name, depth)
        required = schema.get("required")
        needed = {key for key in required if isinstance(key, str)} if isinstance(required, list) else set()
        if needed - set(properties):
            self._grammar.loose = True
        further = schema.get("additionalProperties", False)
        first = later = '""'
        if further is not False:
            self._grammar.loose = True  # one of the listed may come again, with another shape
            pair = self._further(further, name, depth)
            first = self._grammar.add(f"{name}-first", f"({pair} (comma {pair})*)?")
            later = self._grammar.add(f"{name}-later", f"(comma {pair})*")
        for key, part in reversed(list(properties.items())):
            under = f"{name}-{_safe(str(key))}"
            value = self.rule(part, under, depth + 1, frozenset())
            pair = self._grammar.add(f"{under}-pair", f"{literal(_written(key))} colon {value}")
            begun, going = f"{pair} {later}", f"comma {pair} {later}"
            if key not in needed:
                begun, going = f"{begun} | {first}", f"{going} | {later}"
            first = self._grammar.add(f"{under}-first", begun)
            later = self._grammar.add(f"{under}-later", going)
        return self._grammar.add(name, f'"{{" space {first} space "}}"')

    def _free(self, schema: Mapping[str, object], name: str, depth: int) -> str:
        further = schema.get("additionalProperties", True)
        if schema.get("required"):
            self._grammar.loose = True
        if further is False:
            return self._grammar.add(name, '"{" space "}"')
        if not isinstance(further, Mapping) or not further:
            return "object"
        pair = self._further(further, name, depth)
        return self._grammar.add(name, f'"{{" space ({pair} (comma {pair})*)? space "}}"')

    def _further(self, further: object, name: str, depth: int) -> str:
        if not isinstance(further, Mapping) or not further:
            return "pair"
        value = self.rule(further, f"{name}-other", depth + 1, frozenset())
        return self._grammar.add(f"{name}-other-pair", f"string colon {value}")


def _pointed(whole: object, reference: str) -> object | None:
    """What a reference within the schema points to (RFC 6901)."""
    if not reference.startswith("#"):
        return None
    found = whole
    for step in filter(None, reference[1:].split("/")):
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(found, Mapping) and name in found:
            found = found[name]
        elif isinstance(found, Sequence) and name.isdecimal() and int(name) < len(found):
            found = found[int(name)]
        else:
            return None
    return found


def _written(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _safe(name: str) -> str:
    return _UNSAFE.sub("-", name).strip("-") or "it"
