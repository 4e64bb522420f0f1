"""Command R7B and Command A: an array of calls with ids, which are kept.

<|START_ACTION|>[
    {"tool_call_id": "0", "tool_name": "f", "parameters": {"a": "x"}}
]<|END_ACTION|>
"""

from __future__ import annotations

from duologue.text.toolcalls.json_calls import CallKeys
from duologue.text.toolcalls.json_region import JsonRegion, JsonRegionFormat

FORMAT = JsonRegionFormat(
    JsonRegion(
        starts=("<|START_ACTION|>",),
        ends=("<|END_ACTION|>",),
        layout="array",
        keys=CallKeys(names=("tool_name", "name"), ids=("tool_call_id",)),
        call=("tool_call_id", "tool_name", "parameters"),
        closing="<|END_ACTION|>",
    )
)
