"""DeepSeek V4: as V3.2, in a wrapper called `tool_calls`."""

from __future__ import annotations

from duologue.text.toolcalls.elements.deepseek_v32 import dsml

FORMAT = dsml("tool_calls")
