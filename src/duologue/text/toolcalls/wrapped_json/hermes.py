"""Hermes and Qwen: JSON between `<tool_call>` and `</tool_call>`, a region for each call.

    <tool_call>
    {"name": "f", "arguments": {"a": "x"}}
    </tool_call>

Qwen models may call from within their reasoning, which ends there.
"""

from __future__ import annotations

from collections.abc import Sequence

from duologue.text.toolcalls import ToolCallSink
from duologue.text.toolcalls.json_region import JsonRegion, JsonRegionFormat, JsonRegionScanner
from duologue.values.messages import Tool

REGION = JsonRegion(starts=("<tool_call>",), ends=("</tool_call>",), closing="</tool_call>")
FORMAT = JsonRegionFormat(REGION, in_reasoning=True)


class HermesScanner(JsonRegionScanner):
    """One region, also for formats that read JSON in this wrapper as well as their own."""

    def __init__(self, start: str, sink: ToolCallSink, tools: Sequence[Tool]) -> None:
        super().__init__(REGION, start, sink, tools)
