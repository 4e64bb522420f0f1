"""Apertus: an array of objects whose key is the tool's name. The model calls within its deliberation.

<|tools_prefix|>[{"f": {"a": "x"}}, {"g": {"n": 1}}]<|tools_suffix|>
"""

from __future__ import annotations

from duologue.text.toolcalls.json_calls import CallKeys
from duologue.text.toolcalls.json_region import JsonRegion, JsonRegionFormat

FORMAT = JsonRegionFormat(
    JsonRegion(
        starts=("<|tools_prefix|>",),
        ends=("<|tools_suffix|>",),
        layout="array",
        keys=CallKeys(named=True),
        closing="<|tools_suffix|>",
    ),
    in_reasoning=True,
)
