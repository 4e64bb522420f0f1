"""Llama 3.1 to 4: a bare object at the beginning of a line, of a tool that is offered, or any after `<|python_tag|>`.

    {"name": "f", "parameters": {"a": "x"}}
    <|python_tag|>{"name": "f", "parameters": {"a": "x"}}; {"name": "g", "parameters": {"n": 1}}
    <|python_tag|>brave_search.call(query="x")

The last are tools that were built in at training. Other Python after the marker is content.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from duologue.text.stream.held_text import HeldText, held_text
from duologue.text.toolcalls import ToolCallScanner, ToolCallSink
from duologue.text.toolcalls.json_region import JsonRegion, JsonRegionFormat, JsonRegionScanner
from duologue.text.toolcalls.parameter_values import parameter_json
from duologue.values.messages import Tool

REGION = JsonRegion(
    starts=("<|python_tag|>", "<|python_start|>"),
    ends=("<|python_end|>",),
    line_starts=("{",),
    layout="semicolons",
    call=("name", "parameters"),
    optional=True,
)
LONGEST = 1000
"""Characters of a call of a built-in tool, which is read as a whole."""
CALL = ".call("
NAME = re.compile(r"[A-Za-z_]\w*")
VALUE = r'"(?:[^"\\]|\\.)*"|[\w.+-]+'
PAIR = rf"\w+\s*=\s*(?:{VALUE})"
ARGUMENTS = re.compile(rf"\s*(?:{PAIR}(?:\s*,\s*{PAIR})*)?\s*\)", re.DOTALL)
EACH = re.compile(rf"(\w+)\s*=\s*({VALUE})", re.DOTALL)


class Llama3Json(JsonRegionFormat):
    """The format."""

    def scanner(self, start: str, sink: ToolCallSink, tools: Sequence[Tool]) -> ToolCallScanner:
        if start in self.region.starts:
            return PythonTagScanner(start, sink, tools)
        return super().scanner(start, sink, tools)


FORMAT = Llama3Json(REGION)


class PythonTagScanner:
    """One region after `<|python_tag|>`: JSON, or a call of a built-in tool."""

    def __init__(self, start: str, sink: ToolCallSink, tools: Sequence[Tool]) -> None:
        self._start, self._sink, self._tools = start, sink, tools
        self._json: JsonRegionScanner | None = None
        self._read = ""
        self._prose = False

    @property
    def unclosed(self) -> bool:
        return self._json.unclosed if self._json is not None else self._prose

    @property
    def pending(self) -> HeldText | None:
        """What is held back."""
        if self._json is not None:
            return self._json.pending
        return held_text([self._start, self._read], "a call if JSON or a call of a built-in tool follows")

    def feed(self, text: str) -> str | None:
        if self._json is not None:
            return self._json.feed(text)
        self._read += text
        read = self._read.lstrip()
        if read[:1] in ("", "{", "["):
            if not read:
                return None
            self._json = JsonRegionScanner(REGION, self._start, self._sink, self._tools)
            return self._json.feed(self._read)
        return self._read_call(len(self._read) - len(read))

    def finish(self) -> bool:
        if self._json is not None:
            return self._json.finish()
        self._sink.reject(self._start + self._read, 0)
        return CALL in self._read

    def _read_call(self, at: int) -> str | None:
        name = NAME.match(self._read, at)
        call = self._read[name.end() : name.end() + len(CALL)] if name is not None else None
        if name is not None and call == CALL:
            arguments = ARGUMENTS.match(self._read, name.end() + len(CALL))
            if arguments is not None and arguments.end() <= LONGEST:
                self._emit(name[0], arguments[0])
                return self._read[arguments.end() :].removeprefix("\n")
        if call is not None and CALL.startswith(call) and len(self._read) <= LONGEST:
            return None
        self._prose = True
        self._sink.reject(self._start, 0)
        return self._read

    def _emit(self, name: str, arguments: str) -> None:
        pairs = [f"{json.dumps(key)}: {_value(value)}" for key, value in EACH.findall(arguments)]
        self._sink.open(name)
        self._sink.arguments(f"{{{', '.join(pairs)}}}")
        self._sink.close(True)


def _value(written: str) -> str:
    """A value of Python as JSON."""
    if written[0] != '"':
        return parameter_json(written, {})
    try:
        return json.dumps(json.loads(written, strict=False), ensure_ascii=False)
    except ValueError:
        return json.dumps(written[1:-1], ensure_ascii=False)
