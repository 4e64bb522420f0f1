"""Converts MCP results to conversation content: text is truncated; images, audio and files are stored.

Reads the SDK's blocks by their fields, without importing the SDK.
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
"""Maximum characters of text in one result; a model's context holds less."""
BLOCKS = 64


async def convert_result(result: Any, server: str, keep: Keep) -> ToolOutcome:
    """Convert the result of a tool call, blocks in order. An empty result becomes a placeholder text."""
    contents = await convert_blocks(result.content, server, keep)
    structured = result.structured_content
    if structured is not None and not contents:
        contents = [TextContent(json.dumps(structured, ensure_ascii=False))]
    if not contents:
        contents = [TextContent("The tool failed and gave no reason." if result.is_error else "(no output)")]
    return ToolOutcome(truncate_contents(contents), failed=bool(result.is_error))


async def convert_blocks(blocks: Sequence[Any], server: str, keep: Keep) -> list[Content]:
    """Convert blocks to content. A block that cannot be stored becomes a note."""
    contents: list[Content] = []
    for block in blocks[:BLOCKS]:
        contents.append(await _convert_block(block, server, keep))
    if len(blocks) > BLOCKS:
        contents.append(TextContent(f"[{len(blocks) - BLOCKS} more parts of the result were omitted.]"))
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
            return TextContent(f"[A part of type {kind} was omitted.]")


async def convert_resource(contents: Any, server: str, keep: Keep, name: str = "") -> Content:
    """Convert the contents of a resource: its text (truncated), or its bytes stored as a file."""
    uri, mime = str(contents.uri), contents.mime_type or ""
    name = name or uri.rstrip("/").rpartition("/")[2] or uri
    text = getattr(contents, "text", None)
    if text is not None:
        return ResourceContent(server=server, uri=uri, name=name, mime=mime, text=truncate(text))
    content = await _keep_file(contents.blob, name, mime or "application/octet-stream", keep)
    # Images and audio keep their own content type: a multimodal model gets them as such.
    blob = getattr(content, "blob", "")
    if not blob or mime.startswith(("image/", "audio/")):
        return content
    return ResourceContent(server=server, uri=uri, name=name, mime=mime, blob=blob)


async def _keep_file(data: str, name: str, mime: str, keep: Keep) -> Content:
    try:
        decoded = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return TextContent(f"[A file of type {mime} was omitted: its data is not valid base64.]")
    if "." not in name:
        name += mimetypes.guess_extension(mime) or ""
    try:
        return await keep(decoded, name, mime)
    except Problem as problem:
        return TextContent(f"[A file of type {mime} could not be stored: {problem.message}]")


def truncate(text: str, room: int = TEXT) -> str:
    """At most `room` characters of `text`, followed by a note of what is missing."""
    if len(text) <= room:
        return text
    return f"{text[:room]}\n[Truncated: {len(text) - room:,} of {len(text):,} characters omitted.]"


def truncate_contents(contents: Sequence[Content]) -> tuple[Content, ...]:
    """Limit the total text of `contents` to `TEXT` characters."""
    room = TEXT
    shown: list[Content] = []
    for content in contents:
        if isinstance(content, TextContent):
            shown.append(TextContent(truncate(content.text, room)))
            room = max(room - len(content.text), 0)
        else:
            shown.append(content)
    return tuple(shown)
