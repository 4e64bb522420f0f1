"""Rules for JSON objects. Called by `schema_grammar`, which makes the rules of their values.

Listed properties come in the schema's order, each if it is required or wanted; after them those that are not listed, where the schema says
that there may be any.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from duologue.text.grammars.gbnf_terms import json_literal, literal, rule_name, times
from duologue.text.grammars.pattern_grammar import UnreadablePattern, pattern_rule

MAX_CHOICES = 500
"""Choices of an enum, or properties of an object, that are enforced one by one: the engine follows all of them at each
token. 2,000 took it 0.4 s a token."""
MAX_OTHERS = 100
"""Listed properties that others are told apart from."""
MAX_PAIRS = 2000
_PLAIN = frozenset(map(chr, range(0x20, 0x7F))) - {'"', "\\"}


class Rules(Protocol):
    """The rules so far; `loose` if they admit more than the schema."""

    loose: bool

    def add(self, name: str, rule: str) -> str: ...


class ObjectRule:
    """One object's rules. `value` makes the rule of a value's schema, and returns its name."""

    def __init__(
        self, rules: Rules, schema: Mapping[str, Any], name: str, value: Callable[[object, str], str]
    ) -> None:
        self._rules, self._schema, self._name, self._value = rules, schema, name, value

    def make(self) -> str:
        """Add the rules; returns the name of the object's."""
        if "propertyNames" in self._schema:
            self._rules.loose = True
        listed = self._listed()
        if len(listed) > MAX_CHOICES:
            return self._any()
        patterns = self._schema.get("patternProperties")
        if patterns and (listed or self._schema.get("additionalProperties", False) is not False):
            return self._any()  # one name may be meant twice
        if patterns:
            return self._by_pattern(patterns)
        return self._in_order(listed) if listed else self._open()

    def _any(self) -> str:
        self._rules.loose = True
        return "object"

    def _listed(self) -> dict[str, object]:
        """The properties that have a place, also those that are only required."""
        properties = self._schema.get("properties")
        listed = dict(properties) if isinstance(properties, Mapping) else {}
        additional = self._schema.get("additionalProperties", True)
        for name in self._required():
            listed.setdefault(name, additional)
        for name in [name for name, schema in listed.items() if schema is False]:
            if name in self._required():
                self._rules.loose = True  # there is no such object
            del listed[name]
        return listed

    def _required(self) -> list[str]:
        required = self._schema.get("required")
        return [name for name in required if isinstance(name, str)] if isinstance(required, list) else []

    def _in_order(self, listed: dict[str, object]) -> str:
        """Each property in turn; optional ones can be skipped. There are two rules for what follows a property, because the
        first one written has no comma before it."""
        required = set(self._required())
        least, most = self._counts()
        if least > len(required) or (most is not None and most < len(listed)):
            self._rules.loose = True
        first = later = '""'
        if (additional := self._schema.get("additionalProperties", False)) is not False:
            if most is not None:
                self._rules.loose = True
            pair = self._pair(self._other_name(list(listed)), additional)
            first = self._rules.add(f"{self._name}-first", f"({pair} (comma {pair})*)?")
            later = self._rules.add(f"{self._name}-later", f"(comma {pair})*")
        for key, part in reversed(list(listed.items())):
            under = f"{self._name}-{rule_name(key)}"
            value = self._value(part, under)
            pair = self._rules.add(f"{under}-pair", f"{json_literal(key)} colon {value}")
            first_rule, later_rule = f"{pair} {later}", f"comma {pair} {later}"
            if key not in required:
                first_rule, later_rule = f"{first_rule} | {first}", f"{later_rule} | {later}"
            first = self._rules.add(f"{under}-first", first_rule)
            later = self._rules.add(f"{under}-later", later_rule)
        return self._rules.add(self._name, f'"{{" space {first} space "}}"')

    def _open(self) -> str:
        additional = self._schema.get("additionalProperties", True)
        least, most = self._counts()
        if additional is False or most == 0:
            self._rules.loose |= least > 0
            return self._rules.add(self._name, '"{" space "}"')
        if (additional is True or additional == {}) and (least, most) == (0, None):
            return "object"
        return self._pairs(self._pair("string", additional))

    def _by_pattern(self, patterns: object) -> str:
        if not isinstance(patterns, Mapping) or len(patterns) != 1:
            return self._any()
        [(pattern, schema)] = patterns.items()
        try:
            rule = pattern_rule(str(pattern), in_json=True)
        except UnreadablePattern:
            return self._any()
        name = self._rules.add(f"{self._name}-name", rf'"\"" ({rule}) "\""')
        return self._pairs(self._pair(name, schema))

    def _pairs(self, pair: str) -> str:
        """Pairs of one kind, as many as there may be."""
        least, most = self._counts()
        if least > 1:
            self._rules.loose = True  # the same name may come twice
        if most == 0:
            return self._rules.add(self._name, '"{" space "}"')
        filled = f"{pair} (comma {pair}){times(max(least - 1, 0), None if most is None else most - 1)}"
        return self._rules.add(self._name, f'"{{" space {filled if least else f"({filled})?"} space "}}"')

    def _counts(self) -> tuple[int, int | None]:
        """How many properties there are; a bound that cannot be kept makes the rules loose."""
        least, most = self._schema.get("minProperties", 0), self._schema.get("maxProperties")
        whole = [
            isinstance(one, int) and 0 <= one <= MAX_PAIRS for one in (least, 0 if most is None else most)
        ]
        if not all(whole) or (most is not None and most < least):
            self._rules.loose = True
            return 0, None
        return int(least), most

    def _pair(self, name: str, schema: object) -> str:
        if (schema is True or schema == {}) and name == "string":
            return "pair"
        value = "value" if schema is True else self._value(schema, f"{self._name}-other")
        return self._rules.add(f"{self._name}-other-pair", f"{name} colon {value}")

    def _other_name(self, names: Sequence[str]) -> str:
        """The rule of names that are not these, so that none of them comes again with another shape."""
        if len(names) > MAX_OTHERS or any(set(name) - _PLAIN for name in names):
            self._rules.loose = True
            return "string"
        name = f"{self._name}-name"
        return self._rules.add(name, rf'"\"" {self._differing(names, name)}')

    def _differing(self, rests: Sequence[str], name: str) -> str:
        """The rest of a name that is none of these. Up to where it differs it has no escapes: they could spell the same."""
        begins = sorted({rest[0] for rest in rests if rest})
        if not begins:
            return self._rules.add(f"{name}-more", r'character character* "\""')
        parts = [] if "" in rests else [r'"\""']
        excluded = "".join("\\" + one if one in "]^-[" else one for one in begins)
        parts.append(rf'[^"\\\x00-\x1F{excluded}] character* "\""')
        for one in begins:
            after = [rest[1:] for rest in rests if rest.startswith(one)]
            parts.append(f"{literal(one)} {self._differing(after, name)}")
        return self._rules.add(f"{name}-at", " | ".join(parts))
