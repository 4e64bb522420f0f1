"""Granite 3: an array after a marker, without one that closes it.

    <|tool_call|>[{"name": "f", "arguments": {"a": "x"}}]

Later versions write `<tool_call>` before the same array, Granite 4 what `hermes.py` reads; both are read here as well.
"""

from __future__ import annotations

from duologue.text.toolcalls.json_region import JsonRegion, JsonRegionFormat

FORMAT = JsonRegionFormat(
    JsonRegion(
        starts=("<|tool_call|>", "<tool_call>"), ends=("<|/tool_call|>", "</tool_call>"), layout="array"
    )
)
