"""Items as they are stored and listed: with an id and a status each, and their media by reference.

A stored item has `duologue-blob:HASH:PREFIX` where its media were: the file's hash, and what stood before the base64. Used by
`gateway.responses`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from duologue.wire.responses.item_bodies import AnyItem, MessageItem

MARK = "duologue-blob:"
PREFIXES = {
    "message": "msg",
    "function_call": "fc",
    "function_call_output": "fco",
    "custom_tool_call": "ctc",
    "custom_tool_call_output": "ctco",
    "reasoning": "rs",
}
_MEDIA_FIELDS = {"input_image": "image_url", "input_file": "file_data", "input_video": "video_url"}


class InlineMedia(Struct, frozen=True):
    """A file within an item: where it is (the part's number and the field), what precedes its base64, and the base64."""

    part: int
    field: str
    prefix: str
    data: str


def recorded(items: Sequence[AnyItem], stem: str, after: int = 0) -> list[dict[str, Any]]:
    """Items with ids. `stem` makes new ids unique, counted from `after`; ids that clients sent are kept."""
    records = []
    for index, item in enumerate(items):
        fields = item.model_dump(exclude_none=True)
        fields["id"] = item.id or f"{PREFIXES[fields['type']]}_{stem}i{after + index}"
        if isinstance(item, MessageItem):
            kind = "output_text" if item.role == "assistant" else "input_text"
            fields["content"] = [_named(part, kind) for part in fields["content"]]
        if fields["type"] != "reasoning":
            fields["status"] = item_status(fields)
        records.append(fields)
    return records


def item_status(fields: Mapping[str, Any]) -> str:
    status = fields.get("status")
    return status if status in ("completed", "incomplete") else "completed"


def _named(part: dict[str, Any], kind: str) -> dict[str, Any]:
    """A text part under its role's name, with the fields that an output's has."""
    if part["type"] not in ("input_text", "output_text", "text"):
        return part
    named = part | {"type": kind}
    return {"annotations": []} | named if kind == "output_text" else named


def inline_media(item: Mapping[str, Any]) -> list[InlineMedia]:
    """The files within an item that was not stored yet. Addresses stay what they are."""
    found = []
    for index, part in enumerate(_parts(item)):
        text, field = _medium(part)
        if not text or text[:8].lower().startswith(("http://", "https://")):
            continue
        prefix, comma, data = text.partition(",") if text.startswith("data:") else ("", "", text)
        found.append(InlineMedia(index, field, prefix + comma, data))
    return found


def with_files(item: Mapping[str, Any], files: Sequence[tuple[InlineMedia, str]]) -> dict[str, Any]:
    """The item with references in place of its media: each with the hash of its file."""
    return _replaced(
        item, {(media.part, media.field): f"{MARK}{hash}:{media.prefix}" for media, hash in files}
    )


def stored_files(item: Mapping[str, Any]) -> list[tuple[int, str, str, str]]:
    """The files that a stored item refers to: part, field, hash, and what precedes the base64."""
    found = []
    for index, part in enumerate(_parts(item)):
        text, field = _medium(part)
        if text.startswith(MARK):
            hash, _, prefix = text.removeprefix(MARK).partition(":")
            found.append((index, field, hash, prefix))
    return found


def with_media(item: Mapping[str, Any], media: Mapping[tuple[int, str], str]) -> dict[str, Any]:
    """A stored item with its media: the texts by part and field."""
    return _replaced(item, media)


def listed(item: Mapping[str, Any]) -> dict[str, Any]:
    """A stored item as lists show it: without its media, unless they were asked for."""
    return _replaced(item, {(part, field): None for part, field, _, _ in stored_files(item)})


def item_list(items: Sequence[Mapping[str, Any]], *, more: bool) -> dict[str, Any]:
    """A page as OpenAI's lists have it."""
    return {
        "object": "list",
        "data": list(items),
        "first_id": items[0]["id"] if items else None,
        "last_id": items[-1]["id"] if items else None,
        "has_more": more,
    }


def _parts(item: Mapping[str, Any]) -> list[dict[str, Any]]:
    parts = item.get("content" if item.get("type") == "message" else "output")
    return parts if isinstance(parts, list) else []


def _medium(part: Mapping[str, Any]) -> tuple[str, str]:
    """The text of a part's media and the field it is in; empty where it has none."""
    if part.get("type") == "input_audio":
        return str(part["input_audio"].get("data", "")), "input_audio"
    field = _MEDIA_FIELDS.get(str(part.get("type")), "")
    return str(part.get(field) or ""), field


def _replaced(item: Mapping[str, Any], values: Mapping[tuple[int, str], str | None]) -> dict[str, Any]:
    if not values:
        return dict(item)
    parts = [dict(part) for part in _parts(item)]
    for (index, field), value in values.items():
        if field == "input_audio":
            parts[index][field] = {**parts[index][field], "data": value}
        else:
            parts[index][field] = value
    name = "content" if item.get("type") == "message" else "output"
    return {**item, name: parts}
