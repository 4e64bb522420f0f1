"""Translates JSON schemas to rules of a GBNF grammar, the form llama.cpp reads.

The rules admit all JSON of a schema, and perhaps more: some keywords (`not`, `contains`) are left to the validation of the value,
and what is not understood admits any value; `loose` is set in both cases. Narrower than JSON Schema are the order of properties,
which is the schema's; additional properties and items, which are admitted only where the schema says so; values of a schema without
a type, which are of the kind that it says something about; formats, some of which have other spellings; and numbers, which have no
more digits than programs keep. Schemas come from anywhere: none of them fails here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import partial

from duologue.text.grammars.gbnf_terms import json_literal, rule_name, times
from duologue.text.grammars.merged_schema import SEVERAL, SILENT, SchemaMerger, needs_merging
from duologue.text.grammars.number_grammar import LARGEST, integer_range, number_range
from duologue.text.grammars.object_grammar import MAX_CHOICES, ObjectRule
from duologue.text.grammars.pattern_grammar import UnreadablePattern, pattern_rule
from duologue.text.grammars.schema_values import KEYWORDS, choices_of, for_kind, implied_kind
from duologue.text.grammars.string_formats import FORMATS, UNCHECKED

VALUE = "value"
_PRIMITIVES: dict[str, str] = {
    "string": r'"\"" character* "\""',
    "integer": r'"-"? ("0" | [1-9] [0-9]{0,15})',
    # The largest is below 1e308: what a program reads as infinity cannot be written.
    "number": r'"-"? (("0" | [1-9] [0-9]{0,15}) ("." [0-9]{1,16})? ([eE] [-+]? exponent)?'
    r' | [1-9] ("." [0-9]{1,16})? [eE] [-+]? ("29" [0-9] | "30" [0-7]))',
    "boolean": '"true" | "false"',
    "null": '"null"',
}
_ANY: dict[str, str] = {
    # Bounded: a small model with nothing to say would write spaces until its reply is cut off.
    "space": r'"" | " " | "\n" [ \t]{0,20}',
    "colon": '":" " "?',
    "comma": '"," space',
    "character": r'[^"\\\x00-\x1F] | "\\" (["\\bfnrt/] | "u" [0-9a-fA-F]{4})',
    "exponent": r'[0-9] | [1-9] [0-9] | "1" [0-9] [0-9] | "2" [0-8] [0-9]',
    **_PRIMITIVES,
    "pair": "string colon value",
    "object": '"{" space (pair (comma pair)*)? space "}"',
    "array": '"[" space (value (comma value)*)? space "]"',
    VALUE: "object | array | string | number | boolean | null",
}
_OF_KINDS = frozenset[str]().union(*KEYWORDS.values())
_ENFORCED = SILENT | _OF_KINDS | {"type", "enum", "const", "anyOf", "oneOf", "$ref"}
"""Keywords that the rules of one kind of value look at themselves, or that require nothing."""
MAX_LENGTH = 2000
"""Characters of a string, and items of an array, that a schema may count: the engine writes each out."""
LAST_DIGITS: dict[Decimal, str] = {
    Decimal(2): '"0" | "-"? ([2468] | [1-9] [0-9]{0,14} [02468])',
    Decimal(5): '"0" | "-"? ("5" | [1-9] [0-9]{0,14} [05])',
    Decimal(10): '"0" | "-"? [1-9] [0-9]{0,14} "0"',
}
"""Whole numbers that are multiples of one whose last digit tells."""
MAX_DIGITS = 12
"""Digits behind the point of a number's bound."""
MAX_DEPTH = 32
MAX_RULES = 5000
"""A small schema may require so many combinations that the grammar would never end."""


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
        self._grammar, self._name = grammar, name
        self._resolve = partial(_resolve, whole)
        self._merger = SchemaMerger(self._resolve)
        self._reference_rules: dict[str, str] = {}

    def rule(self, schema: object, name: str, depth: int, bare: frozenset[str]) -> str:
        """The name of the rule for `schema`. `bare` are the references followed since the last bracket: following one
        of them again would create a left-recursive rule."""
        if schema is True:
            return VALUE
        if not isinstance(schema, Mapping) or depth > MAX_DEPTH or len(self._grammar.rules) > MAX_RULES:
            return self._any()
        if needs_merging(schema):
            return self._merged(schema, name, depth, bare)
        if set(schema) - _ENFORCED:
            self._grammar.loose = True
        if isinstance(reference := schema.get("$ref"), str):
            return self._any() if reference in bare else self._reference(reference, depth, bare)
        if (choices := choices_of(schema)) is not None:
            return self._choices(choices, schema, name)
        for several in ("anyOf", "oneOf"):
            if several in schema:
                return self._either(schema[several], several, name, depth, bare)
        kinds = schema.get("type")
        if isinstance(kinds, list) and kinds:
            parts = [{**for_kind(schema, str(kind)), "type": kind} for kind in kinds]
            return self._either(parts, "type", name, depth, bare)
        return self._of_kind(schema, kinds if "type" in schema else implied_kind(schema), name, depth)

    def _of_kind(self, schema: Mapping[str, object], kind: object, name: str, depth: int) -> str:
        match kind:
            case "object":
                return ObjectRule(
                    self._grammar,
                    schema,
                    name,
                    lambda part, under: self.rule(part, under, depth + 1, frozenset()),
                ).make()
            case "array":
                return self._array(schema, name, depth)
            case "string":
                return self._string(schema, name)
            case "integer" | "number":
                return self._number(schema, kind, name)
            case "boolean" | "null":
                return kind
        says = set(schema) & ({"type", "enum"} | _OF_KINDS)
        return self._any() if says else VALUE

    def _choices(self, choices: list[object], schema: Mapping[str, object], name: str) -> str:
        if not choices or len(choices) > MAX_CHOICES:
            return self._any()
        if set(schema) & _OF_KINDS:
            self._grammar.loose = True  # some of the choices may not follow it
        return self._grammar.add(name, " | ".join(json_literal(choice) for choice in choices))

    def _either(self, parts: object, how: str, name: str, depth: int, bare: frozenset[str]) -> str:
        if not isinstance(parts, list) or not 0 < len(parts) <= MAX_CHOICES:
            return self._any()
        if how == "oneOf" and not self._merger.apart(parts):
            self._grammar.loose = True
        named = [self.rule(part, f"{name}-{at}", depth + 1, bare) for at, part in enumerate(parts)]
        return self._grammar.add(name, " | ".join(named))

    def _merged(self, schema: Mapping[str, object], name: str, depth: int, bare: frozenset[str]) -> str:
        """What is said in several places."""
        found = self._merger.alternatives(schema)
        if found:
            return self._either(found, "anyOf", name, depth, bare)
        if schema.get("type") in ("string", "integer", "number", "boolean", "null", "array"):
            self._grammar.loose = True
            alone = {key: value for key, value in schema.items() if key not in (*SEVERAL, "$ref")}
            return self.rule(alone, name, depth + 1, bare)
        return self._any("object" if schema.get("type") == "object" else VALUE)

    def _any(self, rule: str = VALUE) -> str:
        """The rule for a schema that is not understood."""
        self._grammar.loose = True
        return rule

    def _reference(self, reference: str, depth: int, bare: frozenset[str]) -> str:
        if reference in self._reference_rules:
            return self._reference_rules[reference]
        target = self._resolve(reference)
        if target is None:
            return self._any()
        # Reserve the name before translating the target: it may refer to itself.
        name = self._grammar.add(f"{self._name}-{rule_name(reference)}", "")
        self._reference_rules[reference] = name
        self._grammar.rules[name] = self.rule(target, f"{name}-is", depth + 1, bare | {reference})
        return name

    def _array(self, schema: Mapping[str, object], name: str, depth: int) -> str:
        """The first items may have schemas of their own; more come only where `items` says what they are."""
        if schema.get("uniqueItems") or "contains" in schema:
            self._grammar.loose = True
        items, first = schema.get("items", True), schema.get("prefixItems", [])
        if isinstance(items, list):  # as drafts before 2020 say it
            items, first = schema.get("additionalItems", False), items
        least, most = self._lengths(schema, "minItems", "maxItems")
        if not isinstance(first, list) or len(first) > MAX_CHOICES:
            return self._any("array")
        if not first and items is True and (least, most) == (0, None):
            return "array"
        if first and "items" not in schema and least <= len(first):
            items = False
        if items is False:
            most = len(first) if most is None else min(most, len(first))
            self._grammar.loose |= least > most
        elif most is None or most > len(first):
            item = self.rule(items, f"{name}-item", depth + 1, frozenset())
        named = [
            self.rule(one, f"{name}-{at}", depth + 1, frozenset()) for at, one in enumerate(first[:most])
        ]
        if most is None or most > len(named):
            rest = times(
                max(least - max(len(named), 1), 0), None if most is None else most - max(len(named), 1)
            )
            filled = f"(comma {item}){rest}"
            if not named:
                filled = f"{item} {filled}" if least else f"({item} {filled})?"
        else:
            filled = ""
        for at in reversed(range(len(named))):
            filled = f"{'comma ' if at else ''}{named[at]} {filled}".rstrip()
            filled = filled if at < least else f"({filled})?"
        return self._grammar.add(name, f'"[" space {filled} space "]"')

    def _lengths(self, schema: Mapping[str, object], lower: str, upper: str) -> tuple[int, int | None]:
        """The bounds of a length that are enforced; others make the rules loose."""
        bounds: list[int | None] = []
        for key in (lower, upper):
            value = schema.get(key)
            if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_LENGTH:
                if key in schema:
                    self._grammar.loose = True
                value = None
            bounds.append(value)
        least, most = bounds[0] or 0, bounds[1]
        if most is not None and most < least:
            self._grammar.loose = True
            return 0, None
        return least, most

    def _string(self, schema: Mapping[str, object], name: str) -> str:
        pattern, form = schema.get("pattern"), schema.get("format")
        if pattern is None and form in FORMATS:
            pattern, form = FORMATS[str(form)], None
        if form is not None and form not in UNCHECKED:
            self._grammar.loose = True
        least, most = self._lengths(schema, "minLength", "maxLength")
        if pattern is not None:
            if least or most is not None or not isinstance(pattern, str):
                self._grammar.loose = True  # one of both can be written
            try:
                rule = pattern_rule(str(pattern), in_json=True)
            except UnreadablePattern:
                return self._any("string")
            return self._grammar.add(name, rf'"\"" ({rule}) "\""')
        if least == 0 and most is None:
            return "string"
        return self._grammar.add(name, rf'"\"" character{times(least, most)} "\""')

    def _number(self, schema: Mapping[str, object], kind: str, name: str) -> str:
        if not KEYWORDS["number"] & set(schema):
            return kind
        bounds = {key: _bound(schema, key) for key in KEYWORDS["number"] if key in schema}
        if None in bounds.values():
            return self._any(kind)
        step = bounds.pop("multipleOf", Decimal(1))
        if (
            step is None
            or step <= 0
            or (step != 1 and (kind == "number" or bounds or step not in LAST_DIGITS))
        ):
            return self._any(kind)
        low, above = _stricter(bounds.get("minimum"), bounds.get("exclusiveMinimum"), max)
        high, below = _stricter(bounds.get("maximum"), bounds.get("exclusiveMaximum"), min)
        if step != 1:
            rule = LAST_DIGITS[step]
        elif kind == "integer" or "multipleOf" in schema:
            least = None if low is None else math.floor(low) + 1 if above else math.ceil(low)
            most = None if high is None else math.ceil(high) - 1 if below else math.floor(high)
            rule = integer_range(least, most)
        else:
            rule = number_range(low, high, above=above, below=below)
        return self._grammar.add(name, rule) if rule else self._any(kind)


def _bound(schema: Mapping[str, object], key: str) -> Decimal | None:
    """A number of a schema, exactly as it was written; None if it is no number that can be written out."""
    value = schema[key]
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > LARGEST:
        return None
    number = Decimal(str(value))
    exponent = number.normalize().as_tuple().exponent
    return number if isinstance(exponent, int) and -exponent <= MAX_DIGITS else None


def _stricter(
    bound: Decimal | None, outside: Decimal | None, choose: Callable[[Decimal, Decimal], Decimal]
) -> tuple[Decimal | None, bool]:
    """The stricter one of a bound that is inside and one that is not, and whether it is the one that is not."""
    if bound is None or outside is None:
        return (outside, True) if bound is None and outside is not None else (bound, False)
    return choose(bound, outside), choose(bound, outside) == outside


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
