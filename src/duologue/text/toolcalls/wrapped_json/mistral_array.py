"""Mistral until version 7 of its tokenizer: an array after a marker, with ids of nine characters, which are kept.

    [TOOL_CALLS] [{"name": "f", "arguments": {"a": "x"}, "id": "abc123xyz"}]

The id follows the arguments, so these are held back for it, up to `ID_WAIT` characters (`json_calls.py`).
"""

from __future__ import annotations

from duologue.text.toolcalls.json_calls import CallKeys
from duologue.text.toolcalls.json_region import JsonRegion, JsonRegionFormat

FORMAT = JsonRegionFormat(
    JsonRegion(
        starts=("[TOOL_CALLS]",),
        layout="array",
        keys=CallKeys(ids=("id",), id_form="[a-zA-Z0-9]{9}", id_last=True),
        call=("name", "arguments", "id"),
    )
)
