"""GigaChat 3: one call in a message of the role `function call`, which follows the answer's.

    function call<|role_sep|>
    {"name": "f", "arguments": {"a": "x"}}<|message_sep|>

Some checkpoints write the token `<|function_call|>` instead of the role.
"""

from __future__ import annotations

from duologue.text.toolcalls.json_region import JsonRegion, JsonRegionFormat

FORMAT = JsonRegionFormat(
    JsonRegion(starts=("function call<|role_sep|>", "<|function_call|>"), ends=("<|message_sep|>",))
)
