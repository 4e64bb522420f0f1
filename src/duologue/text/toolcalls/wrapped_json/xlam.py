"""xLAM: a bare array at the beginning of a line, of tools that are offered.

    [{"name": "f", "arguments": {"a": "x"}}, {"name": "g", "arguments": {"n": 1}}]

The models also write it in a fence, after `[TOOL_CALLS]` or in `<tool_call>`.
"""

from __future__ import annotations

from duologue.text.toolcalls.json_region import JsonRegion, JsonRegionFormat

FORMAT = JsonRegionFormat(
    JsonRegion(
        starts=("[TOOL_CALLS]", "<tool_call>"),
        ends=("</tool_call>",),
        line_starts=("[", "{", "```json"),
        layout="array",
        optional=True,
    )
)
