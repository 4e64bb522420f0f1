"""Nemotron Nano 2: an array between markers.

<TOOLCALL>[{"name": "f", "arguments": {"a": "x"}}]</TOOLCALL>
"""

from __future__ import annotations

from duologue.text.toolcalls.json_region import JsonRegion, JsonRegionFormat

FORMAT = JsonRegionFormat(
    JsonRegion(starts=("<TOOLCALL>",), ends=("</TOOLCALL>",), layout="array", closing="</TOOLCALL>")
)
