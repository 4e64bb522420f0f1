"""Merges lists of which each gateway has a part. Pure; `forwarding` asks the gateways.

A gateway lists what is in its memory and what is in the database, so what is stored is in every part.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

_read = msgspec.json.Decoder(dict[str, Any]).decode


def gathered(name: str, own: bytes, others: Iterable[bytes]) -> bytes:
    """The JSON of this gateway's list `name`, merged with those of the other gateways, oldest first. A part that is not such a list is skipped."""
    answer = _read(own)
    entries = {entry["id"]: entry for entry in answer[name]}
    for part in others:
        for entry in _entries(name, part):
            entries.setdefault(entry["id"], entry)
    ordered = sorted(entries.values(), key=lambda entry: (entry.get("created", 0), entry["id"]))
    return msgspec.json.encode(answer | {name: ordered})


def _entries(name: str, part: bytes) -> list[dict[str, Any]]:
    """Of a gateway of another version they may be anything."""
    try:
        found = _read(part).get(name)
    except msgspec.MsgspecError:
        return []
    return (
        [entry for entry in found if isinstance(entry, dict) and "id" in entry]
        if isinstance(found, list)
        else []
    )
