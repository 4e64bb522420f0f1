"""Mistral from version 11 of its tokenizer on (Small 3.2, Devstral, Magistral, Ministral 3, Large 3).

    [TOOL_CALLS]f[ARGS]{"a": "x"}[TOOL_CALLS]g[ARGS]{"n": 1}

`[CALL_ID]` and an id may stand after the name. The end of the JSON ends a call. `[ARGS]` may be missing. What older versions
write is read too: an array of objects after the marker (`mistral_array.py`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from duologue.text.grammars.gbnf_terms import literal
from duologue.text.stream.held_text import HeldText, held_text
from duologue.text.toolcalls import ToolCallScanner, ToolCallSink
from duologue.text.toolcalls.named_json.named_calls import (
    Named,
    NamedCallFormat,
    NamedCalls,
    NamedCallScanner,
)
from duologue.text.toolcalls.wrapped_json.mistral_array import FORMAT as ARRAY
from duologue.values.messages import Tool

START, CALL_ID, ARGS = "[TOOL_CALLS]", "[CALL_ID]", "[ARGS]"
HEADER = re.compile(r"([^\s<>\[\]{}\"]+)\s*(?:\[CALL_ID\]\s*(\w*))?")


def named(header: str, tools: Sequence[Tool]) -> Named | None:
    """The name, and the id after it."""
    match = HEADER.fullmatch(header)
    return (match[1], match[2] or None) if match else None


class Mistral(NamedCallFormat):
    """The format."""

    def scanner(self, start: str, sink: ToolCallSink, tools: Sequence[Tool]) -> ToolCallScanner:
        return MistralScanner(self.written, start, sink, tools)


class MistralScanner:
    """One region: an array of calls, or one call with its name first."""

    def __init__(self, written: NamedCalls, start: str, sink: ToolCallSink, tools: Sequence[Tool]) -> None:
        self._start = start
        self._array = ARRAY.scanner(start, sink, tools)
        self._call = NamedCallScanner(written, start, sink, tools)
        self._scanner: ToolCallScanner | None = None
        self._space = ""

    @property
    def unclosed(self) -> bool:
        return self._scanner is not None and self._scanner.unclosed

    @property
    def pending(self) -> HeldText | None:
        """What is held back."""
        if self._scanner is None:
            return held_text([self._start, self._space], "a call if a name or JSON follows")
        return self._scanner.pending

    def feed(self, text: str) -> str | None:
        if self._scanner is None:
            text = self._space + text
            if not text.strip():
                self._space = text
                return None
            self._scanner = self._array if text.lstrip()[0] in "[{" else self._call
        return self._scanner.feed(text)

    def finish(self) -> bool:
        if self._scanner is None:
            self._scanner = self._call
            self._scanner.feed(self._space)
        return self._scanner.finish()


FORMAT = Mistral(
    NamedCalls(
        calls=(START,),
        separators=(ARGS, "{"),
        inner=(CALL_ID,),
        named=named,
        before=literal(START),
        after=literal(ARGS),
    )
)
