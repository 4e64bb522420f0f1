"""What a server gave back, as content of a conversation: text bounded, pictures, sound and files kept.

Takes the SDK's blocks by their fields. Knows no connection.
"""

from __future__ import annotations

import base64
import binascii
import json
import mimetypes
from collections.abc import Sequence
from typing import Any

from duologue.errors import Problem
from duologue.tools.values import Keep, ToolOutcome
from duologue.values.conversations import Content, ResourceContent, TextContent

TEXT = 100_000
"""Characters of text one result may bring; a model's context holds less."""
BLOCKS = 64


async def convert_result(result: Any, server: str, keep: Keep) -> ToolOutcome:
    """A tool's result: every block in order. `isError` is honoured; an empty result says that it is empty."""
    contents = await convert_blocks(result.content, server, keep)
    structured = result.structured_content
    if structured is not None and not contents:
        contents = [TextContent(json.dumps(structured, ensure_ascii=False))]
    if not contents:
        contents = [TextContent("The tool failed and gave no reason." if result.is_error else "(no output)")]
    return ToolOutcome(truncate_contents(contents), failed=bool(result.is_error))


async def convert_blocks(blocks: Sequence[Any], server: str, keep: Keep) -> list[Content]:
    """Blocks as content. One that cannot be kept becomes a note saying so."""
    contents: list[Content] = []
    for block in blocks[:BLOCKS]:
        contents.append(await _convert_block(block, server, keep))
    if len(blocks) > BLOCKS:
        contents.append(TextContent(f"[{len(blocks) - BLOCKS} more parts of the result are left out.]"))
    return contents


async def _convert_block(block: Any, server: str, keep: Keep) -> Content:
    match block.type:
        case "text":
            return TextContent(block.text)
        case "image" | "audio":
            return await _keep_file(block.data, block.type, block.mime_type, keep)
        case "resource_link":
            words = [f"[Resource {block.title or block.name}: {block.uri}"]
            if block.mime_type:
                words.append(f", {block.mime_type}")
            if block.description:
                words.append(f", {block.description}")
            return TextContent("".join(words) + "]")
        case "resource":
            return await convert_resource(block.resource, server, keep)
        case kind:
            return TextContent(f"[A part of the kind {kind} is left out.]")


async def convert_resource(contents: Any, server: str, keep: Keep, name: str = "") -> Content:
    """A resource's contents as they were read: its text, or what was kept of its bytes."""
    uri, mime = str(contents.uri), contents.mime_type or ""
    name = name or uri.rstrip("/").rpartition("/")[2] or uri
    text = getattr(contents, "text", None)
    if text is not None:
        return ResourceContent(server=server, uri=uri, name=name, mime=mime, text=truncate(text))
    content = await _keep_file(contents.blob, name, mime or "application/octet-stream", keep)
    # A picture stays a picture, so that a model that can see gets to see it.
    blob = getattr(content, "blob", "")
    if not blob or mime.startswith(("image/", "audio/")):
        return content
    return ResourceContent(server=server, uri=uri, name=name, mime=mime, blob=blob)


async def _keep_file(data: str, name: str, mime: str, keep: Keep) -> Content:
    try:
        decoded = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return TextContent(f"[A file of the kind {mime} came damaged and is left out.]")
    if "." not in name:
        name += mimetypes.guess_extension(mime) or ""
    try:
        return await keep(decoded, name, mime)
    except Problem as problem:
        return TextContent(f"[A file of the kind {mime} could not be kept: {problem.message}]")


def truncate(text: str, room: int = TEXT) -> str:
    """At most `room` characters of `text`, with a note of what is missing."""
    if len(text) <= room:
        return text
    return f"{text[:room]}\n[Cut here: {len(text) - room:,} of {len(text):,} characters are left out.]"


def truncate_contents(contents: Sequence[Content]) -> tuple[Content, ...]:
    """The same content with no more text than one result may bring."""
    room = TEXT
    shown: list[Content] = []
    for content in contents:
        if isinstance(content, TextContent):
            shown.append(TextContent(truncate(content.text, room)))
            room = max(room - len(content.text), 0)
        else:
            shown.append(content)
    return tuple(shown)
