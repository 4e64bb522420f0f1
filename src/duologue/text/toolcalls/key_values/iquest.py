"""IQuest-Q1: as GLM-4.7, in `<iquest_tool_call>`."""

from __future__ import annotations

from duologue.text.toolcalls.key_values.glm45 import keys_and_values

FORMAT = keys_and_values("iquest_tool_call", "")
