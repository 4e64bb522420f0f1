"""Hunyuan A13B: an array between markers.

<tool_calls>[{"name": "f", "arguments": {"a": "x"}}]</tool_calls>
"""

from __future__ import annotations

from duologue.text.toolcalls.json_region import JsonRegion, JsonRegionFormat

FORMAT = JsonRegionFormat(
    JsonRegion(starts=("<tool_calls>",), ends=("</tool_calls>",), layout="array", closing="</tool_calls>")
)
