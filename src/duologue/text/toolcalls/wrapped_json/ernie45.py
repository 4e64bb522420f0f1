"""ERNIE 4.5: a region for each call, as `hermes.py`, after the thought.

    <tool_call>
    {"name": "f", "arguments": {"a": "x"}}
    </tool_call>

Its answers stand between `<response>` and `</response>` (`output/reasoning_tags.py`).
"""

from __future__ import annotations

from duologue.text.toolcalls.json_region import JsonRegionFormat
from duologue.text.toolcalls.wrapped_json.hermes import REGION

FORMAT = JsonRegionFormat(REGION)
