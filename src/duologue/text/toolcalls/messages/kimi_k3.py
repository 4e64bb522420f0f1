"""Kimi K3: tags of control tokens around the thought, the answer and the calls.

    <|open|>think<|sep|>Need f.<|close|>think<|sep|><|open|>response<|sep|>I will look.<|close|>response<|sep|>
    <|open|>tools<|sep|><|open|>call tool="f" index="1"<|sep|>
    <|open|>argument key="a" type="string"<|sep|>x<|close|>argument<|sep|>
    <|close|>call<|sep|><|close|>tools<|sep|><|close|>message<|sep|><|end_of_msg|>

(in one line). The prompt ends in `<|open|>think<|sep|>`, or in `<|open|>response<|sep|>` without thinking. An object of JSON
between `<|open|>json type="object"<|sep|>` and `<|close|>json<|sep|>` may stand for the arguments. In attributes `&` and `"` are
written as in HTML; values are not escaped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from duologue.text.grammars.gbnf_terms import literal
from duologue.text.grammars.schema_grammar import JsonGrammar
from duologue.text.stream.markers import Markers
from duologue.text.toolcalls import ToolCallScanner, ToolCallSink, ToolFormat
from duologue.text.toolcalls.call_tags import CallTags
from duologue.text.toolcalls.messages.message_scanner import MessageKind, MessageScanner
from duologue.text.toolcalls.tagged_calls import TaggedCallScanner
from duologue.text.toolcalls.tagged_grammar import tagged_call
from duologue.values.messages import Tool

OPEN, CLOSE, SEP, END = "<|open|>", "<|close|>", "<|sep|>", "<|end_of_msg|>"
RESPONSE_OPEN, RESPONSE_CLOSE = f"{OPEN}response{SEP}", f"{CLOSE}response{SEP}"
TOOLS = f"{OPEN}tools{SEP}"

TAG = re.compile(r"<\|(open|close)\|>([a-z]*)( .*)?", re.DOTALL)
TEXTS = frozenset(("message", "response"))
CALLS = frozenset(("tools", "call", "argument", "json"))


def plain_attribute(written: str) -> str:
    """What an attribute says."""
    return written.replace("&quot;", '"').replace("&amp;", "&")


TAGS = CallTags(
    start=TOOLS,
    call=f'{OPEN}call tool="{{name}}" index="{{number}}"{SEP}',
    parameter=f'{OPEN}argument key="{{name}}" type="{{type}}"{SEP}',
    parameter_end=f"{CLOSE}argument{SEP}",
    call_end=f"{CLOSE}call{SEP}",
    end=f"{CLOSE}tools{SEP}",
    others={
        "call": (f'{OPEN}call tool="{{name}}"{{attributes}}{SEP}',),
        "parameter": (f'{OPEN}argument key="{{name}}"{{attributes}}{SEP}',),
        "call_end": (f"{CLOSE}json{SEP}{{space}}{CLOSE}call{SEP}",),
    },
    body=f"{OPEN}json{{attributes}}{SEP}",
    plain=plain_attribute,
)


class KimiK3(ToolFormat):
    """The format."""

    starts = (OPEN, CLOSE)
    ends = (END,)
    inner = (SEP,)
    in_reasoning = True
    quotable = False
    frames = True

    @property
    def trigger(self) -> str:
        return TOOLS

    def scanner(self, start: str, sink: ToolCallSink, tools: Sequence[Tool]) -> ToolCallScanner:
        return KimiK3Scanner(start, sink, tools)

    def calls(self, tools: Sequence[Tool], grammar: JsonGrammar, shaped: bool) -> str:
        return self._message(self._call(tools, grammar, shaped), grammar)

    def several_calls(self, tools: Sequence[Tool], grammar: JsonGrammar, shaped: bool) -> str:
        return self._message(f"{self._call(tools, grammar, shaped)}+", grammar)

    def _call(self, tools: Sequence[Tool], grammar: JsonGrammar, shaped: bool) -> str:
        return tagged_call({**TAGS.written, "start": "", "end": ""}, tools, grammar, shaped)

    def _message(self, calls: str, grammar: JsonGrammar) -> str:
        """All calls in one block, after an empty answer, which the prompt may have opened."""
        response = f"({literal(RESPONSE_OPEN)}? {literal(RESPONSE_CLOSE)})?"
        block = f"{literal(TOOLS)} {calls} {literal(TAGS.written['end'])}"
        return grammar.add("message", f"{response} {block}")


FORMAT = KimiK3()


class KimiK3Scanner(MessageScanner):
    """One tag, and what is in it if that is calls."""

    markers = Markers((OPEN, CLOSE, SEP, END))

    def kind(self, header: str, marker: str) -> MessageKind | None:
        tag = TAG.fullmatch(header)
        if marker != SEP:
            begun = not header if marker in (OPEN, CLOSE) else not marker and tag is not None
            return None if begun else "text"
        if tag is None:
            return "text"
        if tag[2] == "think":
            return "reasoning" if tag[1] == "open" else "content"
        if tag[2] in TEXTS:
            return "content"
        if tag[2] not in CALLS or not self._tools:
            return "text"
        if tag[1] == "close":
            return "content"
        return "calls" if tag[2] in ("tools", "call") else "text"

    def finish(self) -> bool:
        """A tag is several tokens, and one that was cut off is no text."""
        tag = TAG.fullmatch(self._header) if self._calls is None else None
        if tag is not None and tag[2] and any(name.startswith(tag[2]) for name in ("think", *TEXTS, *CALLS)):
            return False
        return super().finish()

    def calls(self, header: str) -> ToolCallScanner:
        return TaggedCallScanner(TAGS, header, self._sink, self._tools)
