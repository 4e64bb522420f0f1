"""LongCat Flash: a region for each call, with markers of its own.

<longcat_tool_call>
{"name": "f", "arguments": {"a": "x"}}
</longcat_tool_call>
"""

from __future__ import annotations

from duologue.text.toolcalls.json_region import JsonRegion, JsonRegionFormat

FORMAT = JsonRegionFormat(
    JsonRegion(
        starts=("<longcat_tool_call>",), ends=("</longcat_tool_call>",), closing="</longcat_tool_call>"
    )
)
