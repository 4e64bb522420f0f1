"""The grammar of a call with each parameter between tags, as its family's chat template writes it.

`tagged_calls.py` adds it for the families whose calls it reads.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from duologue.text.grammars.gbnf_terms import literal
from duologue.text.grammars.object_grammar import MAX_CHOICES
from duologue.text.grammars.schema_grammar import JsonGrammar
from duologue.text.toolcalls.parameter_values import types_of
from duologue.values.messages import Tool

NAME = re.compile(r"\{(?:name|word|bare)\}")
UNSAFE = re.compile("[^a-zA-Z0-9]+")
PLACE = re.compile(r"(\{(?:type|number)\})")
TEXT = frozenset(("string",))
ANY_NAME = "[a-zA-Z0-9_.-]+"


def tagged_call(written: Mapping[str, str], tools: Sequence[Tool], grammar: JsonGrammar, shaped: bool) -> str:
    """Add the rule of one call of these tools, in tags `written` so (`CallTags.written`); returns its name."""
    writer = _Writer(written, grammar)
    calls = [grammar.add("call", writer.call(tool, shaped)) for tool in tools]
    start, end = written["start"], written["end"]
    around = (literal(start) if start else "", f"({' | '.join(calls)})", literal(end.strip()) if end else "")
    return grammar.add("region", " ".join(part for part in around if part))


class _Writer:
    """Writes the rules of a family's calls."""

    def __init__(self, written: Mapping[str, str], grammar: JsonGrammar) -> None:
        self._written, self._grammar = written, grammar

    def call(self, tool: Tool, shaped: bool) -> str:
        written = self._written
        begin = _opening(NAME.sub(lambda _: tool.name, written["call"]))
        # Without a wrapper what follows a call is not part of it.
        end = written["call_end"] if written["end"] else written["call_end"].rstrip()
        properties = tool.parameters.get("properties")
        if shaped and isinstance(properties, Mapping) and 0 < len(properties) <= MAX_CHOICES:
            return f"{begin} {self._listed(tool, properties)} {literal(end)}"
        if tool.parameters.get("additionalProperties") is False or properties == {}:
            return f"{begin} {literal(end)}"
        if NAME.search(written["parameter_end"]):
            # No rule can say that a closing tag repeats a name: anything may stand in the call.
            return f"{begin} {self._until(end, 'any')}"
        before, after = map(_opening, NAME.split(written["parameter"]))
        return f"{begin} ({before} {ANY_NAME} {after} {self._text('')})* {literal(end)}"

    def _listed(self, tool: Tool, properties: Mapping[str, object]) -> str:
        """The parameters of a tool, in the order of its schema."""
        required = tool.parameters.get("required")
        rules = []
        for key, schema in properties.items():
            rule = self._grammar.add("parameter", self._parameter(tool, str(key), schema))
            rules.append(rule if isinstance(required, list) and key in required else f"{rule}?")
        return " ".join(rules)

    def _parameter(self, tool: Tool, key: str, schema: object) -> str:
        types = types_of(schema)
        stated = TEXT if not types or "string" in types else types
        begin = _opening(NAME.sub(lambda _: key, self._written["parameter"]), stated)
        return f"{begin} {self._value(tool, key, schema, types)}"

    def _value(self, tool: Tool, key: str, schema: object, types: frozenset[str]) -> str:
        """A value with its closing tag."""
        end = literal(self._end(key))
        if not types or "string" in types:
            choices = schema.get("enum") if isinstance(schema, Mapping) else None
            if isinstance(choices, list) and types == {"string"}:
                return f"({' | '.join(literal(str(choice)) for choice in choices)}) {end}"
            return self._text(key)
        shared = {key: tool.parameters[key] for key in ("$defs", "definitions") if key in tool.parameters}
        rule = self._grammar.schema(
            {**schema, **shared} if isinstance(schema, Mapping) else schema, "argument"
        )
        return f"{rule} {end}"

    def _end(self, key: str) -> str:
        return NAME.sub(lambda _: key, self._written["parameter_end"])

    def _text(self, key: str) -> str:
        """Any text up to the first closing tag of a parameter, and that."""
        named = NAME.search(self._written["parameter_end"])
        return self._until(self._end(key), f"text-{UNSAFE.sub('-', key)}" if named else "text")

    def _until(self, end: str, name: str) -> str:
        """Any text up to the first `end`, and that: a rule for each number of its characters seen."""
        marker = end.strip()
        after = literal(end[len(end.rstrip()) :])
        if f"{name}-0" in self._grammar.rules:
            return f"{name}-0"
        for seen in range(len(marker)):
            choices = []
            steps = {character: _seen(marker, marker[:seen] + character) for character in marker}
            for character, then in steps.items():
                if then:
                    following = f"{name}-{then}" if then < len(marker) else after
                    choices.append(f"{literal(character)} {following}")
            others = "".join(_escaped(character) for character, then in steps.items() if then)
            choices.append(f"[^{others}] {name}-0")
            self._grammar.rules[f"{name}-{seen}"] = " | ".join(choices)
        return f"{name}-0"


def _opening(spelling: str, types: frozenset[str] = TEXT) -> str:
    """A tag, which may say how its value is written or which of these types it has."""
    spelling = spelling.replace("{string}", "true" if types == TEXT else "false")
    kinds = {"number" if kind == "integer" else kind for kind in types}
    places = {"{type}": f"({' | '.join(map(literal, sorted(kinds)))})", "{number}": "[0-9]{1,3}"}
    return " ".join(places.get(part) or literal(part) for part in PLACE.split(spelling) if part)


def _seen(marker: str, text: str) -> int:
    """How much of a marker has been seen after this text."""
    return next(size for size in range(len(text), -1, -1) if text.endswith(marker[:size]))


def _escaped(character: str) -> str:
    return "\\" + character if character in "]^-\\[" else character
