"""Inkling: every block begins with its author and what it holds.

    <|message_model|><|content_thinking|>Need f.<|end_message|>
    <|message_model|><|content_text|>I will look.<|end_message|>
    <|message_model|>f<|content_invoke_tool_json|>{"name":"f","args":{"a":"x"}}<|end_message|>

(in one line), in any order, and `<|content_model_end_sampling|>` at the end. The prompt ends in `<|message_model|>`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from duologue.text.grammars.gbnf_terms import literal
from duologue.text.grammars.schema_grammar import JsonGrammar
from duologue.text.stream.markers import Markers
from duologue.text.toolcalls import ToolCallScanner, ToolCallSink, ToolFormat
from duologue.text.toolcalls.json_calls import CallKeys
from duologue.text.toolcalls.json_region import JsonRegion, JsonRegionFormat, JsonRegionScanner
from duologue.text.toolcalls.messages.message_scanner import MessageKind, MessageScanner
from duologue.values.messages import Tool

MESSAGE = "<|message_model|>"
THINKING, TEXT, INVOKE = "<|content_thinking|>", "<|content_text|>", "<|content_invoke_tool_json|>"
END, END_SAMPLING = "<|end_message|>", "<|content_model_end_sampling|>"
STARTS = (MESSAGE, THINKING, TEXT, INVOKE)

NAME = re.compile(rf"(?:{re.escape(MESSAGE)})*[\w.:/-]{{0,200}}")
"""A header: its author, which for a call is the name of the tool."""

REGION = JsonRegion(
    starts=STARTS,
    ends=(END, END_SAMPLING),
    keys=CallKeys(arguments=("args", "arguments", "parameters")),
    call=("name", "args"),
)


class Inkling(ToolFormat):
    """The format."""

    starts, ends = REGION.starts, REGION.ends
    in_reasoning = True
    quotable = False
    frames = True
    opening = MESSAGE

    @property
    def trigger(self) -> str:
        return INVOKE

    def scanner(self, start: str, sink: ToolCallSink, tools: Sequence[Tool]) -> ToolCallScanner:
        return InklingScanner(start, sink, tools)

    def calls(self, tools: Sequence[Tool], grammar: JsonGrammar, shaped: bool) -> str:
        named = self._named(self._invoked(tools, grammar, shaped), grammar)
        return grammar.add("region", f"{literal(MESSAGE)}? {named}")

    def several_calls(self, tools: Sequence[Tool], grammar: JsonGrammar, shaped: bool) -> str:
        named = self._named(self._invoked(tools, grammar, shaped), grammar)
        return grammar.add("calls", f"{literal(MESSAGE)}? {named} ({literal(MESSAGE)} {named})*")

    def triggered_calls(
        self, tools: Sequence[Tool], grammar: JsonGrammar, shaped: bool, several: bool
    ) -> str:
        invoked = self._invoked(tools, grammar, shaped)
        more = f" ({literal(MESSAGE)} {self._named(invoked, grammar)})*" if several else ""
        return grammar.add("calls", f"({' | '.join(invoked.values())}){more}")

    def _invoked(self, tools: Sequence[Tool], grammar: JsonGrammar, shaped: bool) -> dict[str, str]:
        """The rule of a call of each tool, without its name before."""
        return {
            tool.name: grammar.add(
                "invoked",
                f"{literal(INVOKE)} space {JsonRegionFormat(REGION).call_of(tool, grammar, shaped)} space {literal(END)}",
            )
            for tool in tools
        }

    def _named(self, invoked: dict[str, str], grammar: JsonGrammar) -> str:
        """A call with its name."""
        return grammar.add("named", " | ".join(f"{literal(name)} {call}" for name, call in invoked.items()))


FORMAT = Inkling()


class InklingScanner(MessageScanner):
    """One block."""

    markers = Markers((*STARTS, *REGION.ends))

    def kind(self, header: str, marker: str) -> MessageKind | None:
        if marker not in STARTS:
            return "text" if marker or NAME.fullmatch(header) is None else None
        if marker == THINKING:
            return "reasoning"
        if marker == TEXT:
            return "content"
        if marker == INVOKE:
            return "calls" if self._tools else "text"
        return None if header.removesuffix(MESSAGE) == "" else "text"

    def calls(self, header: str) -> ToolCallScanner:
        return JsonRegionScanner(REGION, header, self._sink, self._tools)
