"""InternLM 2, 2.5 and Intern-S1: a region for each call.

<|action_start|><|plugin|>
{"name": "f", "parameters": {"a": "x"}}<|action_end|>
"""

from __future__ import annotations

from duologue.text.toolcalls.json_region import JsonRegion, JsonRegionFormat

FORMAT = JsonRegionFormat(
    JsonRegion(
        starts=("<|action_start|><|plugin|>", "<|action_start|> <|plugin|>"),
        ends=("<|action_end|>",),
        call=("name", "parameters"),
        closing="<|action_end|>",
    )
)
