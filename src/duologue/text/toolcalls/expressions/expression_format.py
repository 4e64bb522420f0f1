"""What the formats of this package have in common: their scanner, and the grammar of a call in their form.

Arguments of a grammar stand in the order of the schema. Texts and truth values may be written as the family writes them;
lists and objects are JSON, which every scanner reads as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from duologue.text.grammars.gbnf_terms import literal
from duologue.text.grammars.object_grammar import MAX_CHOICES
from duologue.text.grammars.schema_grammar import JsonGrammar
from duologue.text.toolcalls import ToolCallScanner, ToolCallSink, ToolFormat
from duologue.text.toolcalls.expressions.call_regions import PREFIX, CallRegion, RegionScanner
from duologue.text.toolcalls.parameter_values import types_of
from duologue.values.messages import Tool

_SEPARATOR = '"," " "?'


class ExpressionFormat(ToolFormat):
    """A family that writes `region`. `bare`: it also writes lists of calls without markers, or nothing else."""

    def __init__(self, region: CallRegion, *, bare: bool = False, listed: bool = True) -> None:
        self.region = region
        self.starts = (region.start,) if region.start else ()
        self.ends = (region.end,) if region.end else ()
        self.line_starts = ("[",) if bare else ()
        self.inner = tuple(quote for quote in region.dialect.quotes if quote.startswith("<"))
        self._listed = listed

    def scanner(self, start: str, sink: ToolCallSink, tools: Sequence[Tool]) -> ToolCallScanner:
        return RegionScanner(self.region, start, sink, tools)

    def calls(self, tools: Sequence[Tool], grammar: JsonGrammar, shaped: bool) -> str:
        calls = " | ".join(self._call(tool, grammar, shaped) for tool in tools)
        inside = f"({calls})"
        if self._listed:
            inside = f'"[" {inside} "]"'
        elif not self.region.dialect.braces:
            inside = f'"\\n"? {inside} "\\n"?'
        around = [literal(marker) for marker in (self.region.start, self.region.end) if marker]
        return grammar.add("region", " ".join([*around[:1], inside, *around[1:]]))

    def _call(self, tool: Tool, grammar: JsonGrammar, shaped: bool) -> str:
        before, after = (
            (f"{PREFIX}{tool.name}{{", "}") if self.region.dialect.braces else (f"{tool.name}(", ")")
        )
        return grammar.add(
            "call", f"{literal(before)} {self._arguments(tool, grammar, shaped)} {literal(after)}"
        )

    def _arguments(self, tool: Tool, grammar: JsonGrammar, shaped: bool) -> str:
        """The arguments of a tool in the order of its schema; any, where it does not list them. There are two rules for what
        follows one, because the first one written has no comma before it."""
        properties = tool.parameters.get("properties")
        if not shaped or not isinstance(properties, Mapping) or not 0 < len(properties) <= MAX_CHOICES:
            if tool.parameters.get("additionalProperties") is False:
                return '""'
            pair = f"[a-zA-Z_] [a-zA-Z0-9_]* {literal(self._assign)} value"
            return f"({pair} ({_SEPARATOR} {pair})*)?"
        required = tool.parameters.get("required")
        first = later = '""'
        for key, schema in reversed(list(properties.items())):
            value = self._value(tool, schema, grammar)
            pair = grammar.add("argument-pair", f"{literal(f'{key}{self._assign}')} {value}")
            first_rule, later_rule = f"{pair} {later}", f"{_SEPARATOR} {pair} {later}"
            if not (isinstance(required, list) and key in required):
                first_rule, later_rule = f"{first_rule} | {first}", f"{later_rule} | {later}"
            first = grammar.add("argument-first", first_rule)
            later = grammar.add("argument-later", later_rule)
        return first

    @property
    def _assign(self) -> str:
        return ":" if self.region.dialect.braces else "="

    def _value(self, tool: Tool, schema: object, grammar: JsonGrammar) -> str:
        types = types_of(schema)
        if types == {"string"}:
            choices = schema.get("enum") if isinstance(schema, Mapping) else None
            if isinstance(choices, list):
                return f"({' | '.join(self._quoted(str(choice)) for choice in choices)})"
            return self._text(grammar)
        if types == {"boolean"} and not self.region.dialect.braces:
            return '("True" | "False" | "true" | "false")'
        shared = {key: tool.parameters[key] for key in ("$defs", "definitions") if key in tool.parameters}
        return grammar.schema({**schema, **shared} if isinstance(schema, Mapping) else schema, "argument")

    def _quoted(self, text: str) -> str:
        quotes = self.region.dialect.quotes
        if self.region.dialect.braces:
            return literal(f"{quotes[0]}{text}{quotes[0]}")
        escaped = text.replace("\\", "\\\\").replace("\n", "\\n")
        forms = [f'"{escaped.replace(chr(34), chr(92) + chr(34))}"', "'" + escaped.replace("'", "\\'") + "'"]
        return " | ".join(map(literal, forms))

    def _text(self, grammar: JsonGrammar) -> str:
        """Any text between quotation marks."""
        if "text" in grammar.rules:
            return "text"
        if self.region.dialect.braces:
            quote = literal(self.region.dialect.quotes[0])
            # Marks of several characters begin with `<`: one of those is text unless the next character goes on with it.
            after = self.region.dialect.quotes[0][1]
            return grammar.add("text", f'{quote} ([^<] | "<" [^<{after}])* {quote}')
        single = '"\'" ([^\'\\\\\\x00-\\x1F] | "\\\\" [^\\x00-\\x1F])* "\'"'
        return grammar.add("text", f"string | {single}")
