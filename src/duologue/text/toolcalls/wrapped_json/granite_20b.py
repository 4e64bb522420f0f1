"""Granite 20B for function calling: each call after a marker, without one that closes it.

<function_call> {"name": "f", "arguments": {"a": "x"}}
"""

from __future__ import annotations

from duologue.text.toolcalls.json_region import JsonRegion, JsonRegionFormat

FORMAT = JsonRegionFormat(
    JsonRegion(starts=("<function_call>",), ends=("</function_call>",), opening="<function_call>")
)
