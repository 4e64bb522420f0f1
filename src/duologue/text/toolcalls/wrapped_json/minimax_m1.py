"""MiniMax M1: one region with a call on each line. A line that is broken goes back as text, its neighbours are calls.

<tool_calls>
{"name": "f", "arguments": {"a": "x"}}
{"name": "g", "arguments": {"n": 1}}
</tool_calls>
"""

from __future__ import annotations

from duologue.text.toolcalls.json_region import JsonRegion, JsonRegionFormat

FORMAT = JsonRegionFormat(
    JsonRegion(starts=("<tool_calls>",), ends=("</tool_calls>",), layout="lines", closing="</tool_calls>")
)
