"""Translates JSON schemas to rules of a GBNF grammar, the form llama.cpp reads.

The rules admit all JSON of a schema, and perhaps more: keywords that say nothing about shape (`pattern`, `minLength`,
`not`) are left to the validation of the value, and what is not understood admits any value; `loose` is set in both
cases. Narrower than JSON Schema are the order of properties, which is the schema's; additional properties, which are
admitted only where the schema says so; and numbers, which have no more digits than programs keep. Schemas come from
anywhere: none of them fails here.
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
    # Bounded: a small model with nothing to say would write spaces until its reply is cut off.
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
_ENFORCED = frozenset(
    ("type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf", "$ref")
) | {*("$defs", "definitions", "$schema", "title", "description", "default", "examples")}
"""Keywords that the rules enforce, or that require nothing."""
MAX_DEPTH = 32
MAX_RULES = 5000
"""A small schema may require so many combinations that the grammar would never end."""
MAX_CHOICES = 500
"""Choices of an enum, or properties of an object, that are enforced one by one: the engine follows all of them at each
token. 2,000 took it 0.4 s a token."""
_UNSAFE = re.compile(r"[^a-zA-Z0-9]+")


def literal(text: str) -> str:
    """A text as a GBNF literal."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    return f'"{escaped}"'


class JsonGrammar:
    """Rules by name, collected as schemas are added."""

    def __init__(self) -> None:
        self.rules: dict[str, str] = dict(_ANY)
        self._taken: dict[str, int] = {}
        self.loose = False
        """The rules admit more than some schema does."""

    def __str__(self) -> str:
        return "".join(f"{name} ::= {rule}\n" for name, rule in self.rules.items())

    def add(self, name: str, rule: str) -> str:
        """Add a rule; returns the name it got, which is `name` or a free variant of it."""
        free = name
        while free in self.rules:
            self._taken[name] = self._taken.get(name, 1) + 1
            free = f"{name}-{self._taken[name]}"
        self.rules[free] = rule
        return free

    def schema(self, schema: object, name: str) -> str:
        """Add the rule of a schema's values; returns its name, which is `name` or similar."""
        return _Schema(self, schema, name).rule(schema, name, 0, frozenset())


class _Schema:
    """The translation of one schema. References are resolved within it."""

    def __init__(self, grammar: JsonGrammar, whole: object, name: str) -> None:
        self._grammar, self._whole, self._name = grammar, whole, name
        self._reference_rules: dict[str, str] = {}

    def rule(self, schema: object, name: str, depth: int, bare: frozenset[str]) -> str:
        """The name of the rule for `schema`. `bare` are the references followed since the last bracket: following one
        of them again would create a left-recursive rule."""
        if schema is True:
            return VALUE
        if not isinstance(schema, Mapping) or depth > MAX_DEPTH or len(self._grammar.rules) > MAX_RULES:
            return self._any()
        if set(schema) - _ENFORCED:
            self._grammar.loose = True
        if isinstance(reference := schema.get("$ref"), str):
            return self._any() if reference in bare else self._reference(reference, depth, bare)
        if "const" in schema:
            return self._grammar.add(name, literal(_json(schema["const"])))
        if isinstance(choices := schema.get("enum"), list) and choices:
            if len(choices) > MAX_CHOICES:
                return self._any()
            return self._grammar.add(name, " | ".join(literal(_json(choice)) for choice in choices))
        kinds = schema.get("type")
        if isinstance(kinds, list) and kinds:
            named = [
                self.rule({**schema, "type": kind}, f"{name}-{_rule_name(str(kind))}", depth + 1, bare)
                for kind in kinds
            ]
            return self._grammar.add(name, " | ".join(named))
        if kinds == "object" or (kinds is None and isinstance(schema.get("properties"), Mapping)):
            return self._object(schema, name, depth)
        for several in ("anyOf", "oneOf"):
            if isinstance(parts := schema.get(several), list) and parts:
                if len(parts) > MAX_CHOICES:
                    return self._any()
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
        """The rule for a schema that is not understood."""
        self._grammar.loose = True
        return rule

    def _reference(self, reference: str, depth: int, bare: frozenset[str]) -> str:
        if reference in self._reference_rules:
            return self._reference_rules[reference]
        target = _resolve(self._whole, reference)
        if target is None:
            return self._any()
        # Reserve the name before translating the target: it may refer to itself.
        name = self._grammar.add(f"{self._name}-{_rule_name(reference)}", "")
        self._reference_rules[reference] = name
        self._grammar.rules[name] = self.rule(target, f"{name}-is", depth + 1, bare | {reference})
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
        """Each property in turn; optional ones can be skipped. There are two rules for what follows a property,
        because the first one written has no comma before it."""
        properties = schema.get("properties")
        if any(key in schema for key in ("anyOf", "oneOf", "allOf", "patternProperties")):
            return self._any("object")  # they may add properties
        if isinstance(properties, Mapping) and len(properties) > MAX_CHOICES:
            return self._any("object")
        if not isinstance(properties, Mapping) or not properties:
            return self._open_object(schema, name, depth)
        required = schema.get("required")
        required_names = (
            {key for key in required if isinstance(key, str)} if isinstance(required, list) else set()
        )
        if required_names - set(properties):
            self._grammar.loose = True
        additional = schema.get("additionalProperties", False)
        first = later = '""'
        if additional is not False:
            self._grammar.loose = True  # a listed property may occur again with another shape
            pair = self._additional_pair(additional, name, depth)
            first = self._grammar.add(f"{name}-first", f"({pair} (comma {pair})*)?")
            later = self._grammar.add(f"{name}-later", f"(comma {pair})*")
        for key, part in reversed(list(properties.items())):
            under = f"{name}-{_rule_name(str(key))}"
            value = self.rule(part, under, depth + 1, frozenset())
            pair = self._grammar.add(f"{under}-pair", f"{literal(_json(key))} colon {value}")
            first_rule, later_rule = f"{pair} {later}", f"comma {pair} {later}"
            if key not in required_names:
                first_rule, later_rule = f"{first_rule} | {first}", f"{later_rule} | {later}"
            first = self._grammar.add(f"{under}-first", first_rule)
            later = self._grammar.add(f"{under}-later", later_rule)
        return self._grammar.add(name, f'"{{" space {first} space "}}"')

    def _open_object(self, schema: Mapping[str, object], name: str, depth: int) -> str:
        additional = schema.get("additionalProperties", True)
        if schema.get("required"):
            self._grammar.loose = True
        if additional is False:
            return self._grammar.add(name, '"{" space "}"')
        if not isinstance(additional, Mapping) or not additional:
            return "object"
        pair = self._additional_pair(additional, name, depth)
        return self._grammar.add(name, f'"{{" space ({pair} (comma {pair})*)? space "}}"')

    def _additional_pair(self, additional: object, name: str, depth: int) -> str:
        if not isinstance(additional, Mapping) or not additional:
            return "pair"
        value = self.rule(additional, f"{name}-other", depth + 1, frozenset())
        return self._grammar.add(f"{name}-other-pair", f"string colon {value}")


def _resolve(whole: object, reference: str) -> object | None:
    """The target of a reference within the schema (RFC 6901)."""
    if not reference.startswith("#"):
        return None
    target = whole
    for step in filter(None, reference[1:].split("/")):
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(target, Mapping) and name in target:
            target = target[name]
        elif isinstance(target, Sequence) and name.isdecimal() and int(name) < len(target):
            target = target[int(name)]
        else:
            return None
    return target


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _rule_name(name: str) -> str:
    return _UNSAFE.sub("-", name).strip("-") or "it"
