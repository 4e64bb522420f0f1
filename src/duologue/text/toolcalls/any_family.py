"""Reads the calls of whichever family wrote them, by the marker that begins the first: for text of a model whose template nobody knows.

`engines/openai_remote` uses it where a server returns raw text. Only families with a marker that no other text has are recognised;
those that begin with a bare `{` or `[`, or with plain words, have to be named. Where families share a marker, what follows it decides.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from duologue.text.grammars.schema_grammar import JsonGrammar
from duologue.text.stream.held_text import HeldText, held_text
from duologue.text.toolcalls import ToolCallScanner, ToolCallSink, ToolFormat
from duologue.text.toolcalls.catalogue import tool_format
from duologue.values.messages import Tool

FAMILIES = (
    "granite",
    "granite_20b",
    "nemotron_nano",
    "internlm",
    "apertus",
    "command",
    "llama3_json",
    "kimi_k2",
    "deepseek_v3",
    "seed_oss",
    "minimax_m3",
    "minimax_m2",
    "deepseek_v41",
    "dots",
    "iquest",
    "gigachat35",
    "kimi_k3",
    "inkling",
    "k2_horizon",
    "hunyuan_hy3",
    "gemma4",
    "functiongemma",
    "lfm2",
    "olmo3",
    "longcat",
    "mistral",
)
"""The first of these that has a marker reads it, unless it is in SHARED."""
JSON, TAG, BARE = r"\s*[\[{]", r"\s*<", r"\s*[^\s\[{<]"
SHARED: dict[str, tuple[tuple[str, str], ...]] = {
    "<tool_call>": ((JSON, "hermes"), (BARE, "glm45"), (TAG, "qwen3_xml")),
    "<tool_calls>": ((TAG, "hunyuan_hy3"), (JSON, "jamba"), (BARE, "jamba")),
    "<longcat_tool_call>": ((BARE, "longcat_keys"), (JSON, "longcat"), (TAG, "longcat")),
    "<function=": ((r"[^\s<>{}]+>\s*\{", "functionary_v31"), (r"[^>]*([\s<{}]|>\s*[^\s{])", "qwen3_xml")),
    "<|python_start|>": ((r"\s*\[", "llama4_pythonic"), (r"\s*[^\s\[]", "llama3_json")),
}
"""By marker: the families whose calls begin with it, each with what follows the marker there. The last one reads a region that ends
before that can be told."""
LONGEST = 256
"""Characters that are looked at to tell them apart."""


class AnyFamily(ToolFormat):
    """Every family with markers of its own. It only reads: no grammar is written for it."""

    in_reasoning = True

    def __init__(self) -> None:
        self._readers: dict[str, ToolFormat] = {}
        ends: dict[str, None] = {}
        for name in FAMILIES:
            format = tool_format(name)
            for start in format.starts:
                self._readers.setdefault(start, format)
            ends |= dict.fromkeys(format.ends)
        self.starts = tuple(dict.fromkeys((*self._readers, *SHARED)))
        self.ends = tuple(end for end in ends if end not in self.starts)

    def scanner(self, start: str, sink: ToolCallSink, tools: Sequence[Tool]) -> ToolCallScanner:
        if start in SHARED:
            return SharedMarkerScanner(start, sink, tools)
        return self._readers[start].scanner(start, sink, tools)

    def calls(self, tools: Sequence[Tool], grammar: JsonGrammar, shaped: bool) -> str:
        raise NotImplementedError("a grammar needs the family")


class SharedMarkerScanner:
    """A region whose marker several families use: held back until what follows tells them apart."""

    def __init__(self, start: str, sink: ToolCallSink, tools: Sequence[Tool]) -> None:
        self._start, self._sink, self._tools = start, sink, tools
        self._read = ""
        self._scanner: ToolCallScanner | None = None

    @property
    def unclosed(self) -> bool:
        return self._scanner is not None and self._scanner.unclosed

    @property
    def pending(self) -> HeldText | None:
        """What is held back."""
        if self._scanner is None:
            return held_text([self._start, self._read], "what follows tells the family")
        return self._scanner.pending

    def feed(self, text: str) -> str | None:
        if self._scanner is not None:
            return self._scanner.feed(text)
        self._read += text
        beginning = self._read[:LONGEST]
        families = SHARED[self._start]
        name = next((name for pattern, name in families if re.match(pattern, beginning)), "")
        if not name and len(beginning) < LONGEST:
            return None
        return self._decided(name or families[-1][1]).feed(self._read)

    def finish(self) -> bool:
        scanner = self._scanner
        if scanner is None:
            scanner = self._decided(SHARED[self._start][-1][1])
            rest = scanner.feed(self._read) if self._read else None
            if rest is not None:
                if rest:
                    self._sink.reject(rest, len(self._start) + len(self._read) - len(rest))
                return False
        return scanner.finish()

    def _decided(self, name: str) -> ToolCallScanner:
        self._scanner = tool_format(name).scanner(self._start, self._sink, self._tools)
        return self._scanner


@cache
def any_family() -> AnyFamily:
    """The format; made once, since it loads the files of all families (0.1 s)."""
    return AnyFamily()
