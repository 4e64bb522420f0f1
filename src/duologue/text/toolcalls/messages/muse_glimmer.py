"""Muse Glimmer: every message says whom it is for, a call with an element for each parameter among them.

    <|start|>assistant to=self<|message|>Need f.<|eom|>
    <|start|>assistant to=user<|message|>I will look.<|eom|>
    <|start|>assistant to=f<|message|><atem:function_calls>
    <atem:invoke name="f">
    <atem:parameter name="a">x</atem:parameter>
    </atem:invoke>
    </atem:function_calls><|eot|>

(messages follow each other in one line). The prompt ends in `<|start|>assistant`. Only a message to a tool calls: elements in a
thought or an answer are quoted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from duologue.text.grammars.gbnf_terms import literal
from duologue.text.grammars.schema_grammar import JsonGrammar
from duologue.text.stream.held_text import HeldText, may_become
from duologue.text.stream.markers import Markers
from duologue.text.toolcalls import ToolCallScanner, ToolCallSink, ToolFormat
from duologue.text.toolcalls.call_tags import CallTags
from duologue.text.toolcalls.messages.message_scanner import MessageKind, MessageScanner
from duologue.text.toolcalls.tagged_calls import TaggedCallScanner
from duologue.text.toolcalls.tagged_grammar import tagged_call
from duologue.values.messages import Tool

START, MESSAGE, EOM, EOT = "<|start|>", "<|message|>", "<|eom|>", "<|eot|>"
ASSISTANT = f"{START}assistant"
RECIPIENT = re.compile(r"\bto=(\S+)")
HEADER = re.compile(rf"{re.escape(START)}\s*\w{{0,20}}(?:\s+(?:t(?:o(?:=\S*)?)?)?\s*)?")
"""A header, or the beginning of one."""


def single_name(name: str, tools: Sequence[Tool]) -> str:
    """The tool that a name means: models repeat the name as its own namespace (`f.f`), since prompts offer `f.*`."""
    space, _, rest = name.partition(".")
    offered = {tool.name for tool in tools}
    return space if space == rest and name not in offered and space in offered else name


TAGS = CallTags(
    start="<atem:function_calls>\n",
    call='<atem:invoke name="{name}">\n',
    parameter='<atem:parameter name="{name}">',
    parameter_end="</atem:parameter>\n",
    call_end="</atem:invoke>\n",
    end="</atem:function_calls>",
    called=single_name,
)


class MuseGlimmer(ToolFormat):
    """The format."""

    starts = (START,)
    ends = (EOM, EOT)
    in_reasoning = True
    quotable = False
    frames = True
    opening = ASSISTANT
    inner = (MESSAGE,)

    @property
    def trigger(self) -> str:
        return TAGS.starts[0]

    def scanner(self, start: str, sink: ToolCallSink, tools: Sequence[Tool]) -> ToolCallScanner:
        return MuseGlimmerScanner(start, sink, tools)

    def calls(self, tools: Sequence[Tool], grammar: JsonGrammar, shaped: bool) -> str:
        headed = self._headed(self._written(tools, grammar, shaped), grammar)
        return grammar.add("message", f"{literal(ASSISTANT)}? {headed}")

    def several_calls(self, tools: Sequence[Tool], grammar: JsonGrammar, shaped: bool) -> str:
        headed = self._headed(self._written(tools, grammar, shaped), grammar)
        return grammar.add("calls", f"{literal(ASSISTANT)}? {headed} ({literal(EOM + ASSISTANT)} {headed})*")

    def triggered_calls(
        self, tools: Sequence[Tool], grammar: JsonGrammar, shaped: bool, several: bool
    ) -> str:
        calls = self._written(tools, grammar, shaped)
        more = f" ({literal(EOM + ASSISTANT)} {self._headed(calls, grammar)})*" if several else ""
        return grammar.add("calls", f"({' | '.join(calls.values())}){more}")

    def _written(self, tools: Sequence[Tool], grammar: JsonGrammar, shaped: bool) -> dict[str, str]:
        """The rule of a call of each tool."""
        return {tool.name: tagged_call(TAGS.written, [tool], grammar, shaped) for tool in tools}

    def _headed(self, calls: dict[str, str], grammar: JsonGrammar) -> str:
        """A call with its recipient."""
        headed = " | ".join(f"{literal(f' to={name}{MESSAGE}')} {call}" for name, call in calls.items())
        return grammar.add("headed", headed)


FORMAT = MuseGlimmer()


class MuseGlimmerScanner(MessageScanner):
    """One message."""

    markers = Markers((START, MESSAGE, EOM, EOT))

    def kind(self, header: str, marker: str) -> MessageKind | None:
        if marker != MESSAGE:
            begun = not header if marker == START else not marker and HEADER.fullmatch(header)
            return None if begun else "text"
        recipient = RECIPIENT.search(header)
        if recipient is None or recipient[1] == "user":
            return "content"
        if recipient[1] == "self":
            return "reasoning"
        return "calls" if self._tools else "text"

    def calls(self, header: str) -> ToolCallScanner:
        return MessageToTool(len(header), self._sink, self._tools)


class MessageToTool:
    """The text of a message to a tool, which begins at `at` of the region: its calls, or content if it has none."""

    def __init__(self, at: int, sink: ToolCallSink, tools: Sequence[Tool]) -> None:
        self._at, self._sink, self._tools = at, sink, tools
        self._markers = Markers(TAGS.starts)
        self._pending = ""
        self._calls: TaggedCallScanner | None = None

    @property
    def unclosed(self) -> bool:
        return self._calls is not None and self._calls.unclosed

    @property
    def pending(self) -> HeldText | None:
        """What is held back."""
        return may_become(self._pending.lstrip(), TAGS.starts) if self._calls is None else self._calls.pending

    def feed(self, text: str) -> str | None:
        if self._calls is not None:
            return self._calls.feed(text)
        text, self._pending = self._pending + text, ""
        space = len(text) - len(text.lstrip())
        if marker := self._markers.at(text, space):
            self._calls = TaggedCallScanner(TAGS, marker, self._sink, self._tools, self._at + space)
            return self._calls.feed(text[space + len(marker) :])
        if space == len(text) or self._markers.begins(text, space):
            self._pending = text
            return None
        self._sink.enter("content")
        return text

    def finish(self) -> bool:
        if self._calls is not None:
            return self._calls.finish()
        self._sink.reject(self._pending, self._at)
        return False
