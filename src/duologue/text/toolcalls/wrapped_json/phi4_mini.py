"""Phi-4-mini and FireFunction: an array after the word `functools`, which FireFunction writes after a blank.

    functools[{"name": "f", "arguments": {"a": "x"}}]

Phi-4-mini's own tokens, `<|tool_call|>` and `<|/tool_call|>`, are read as well.
"""

from __future__ import annotations

from duologue.text.toolcalls.json_region import JsonRegion, JsonRegionFormat

FORMAT = JsonRegionFormat(
    JsonRegion(
        starts=("functools[", "<|tool_call|>"), ends=("<|/tool_call|>",), layout="array", opening="functools"
    )
)
