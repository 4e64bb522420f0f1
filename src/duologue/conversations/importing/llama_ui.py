"""Conversations of llama.cpp's own page: its JSON lines, and the JSON of its earlier versions.

A conversation is a header with messages, in one object or in one line each. The tree has a hidden root row, which is dropped;
`toolCalls` is a list in the JSON lines and a string of JSON elsewhere; files are inside the rows.
"""

from __future__ import annotations

from collections.abc import Iterator

from duologue.conversations.importing.json_readers import (
    Record,
    count,
    each,
    lines,
    number,
    parsed,
    record,
    records,
    text,
    time,
    title,
)
from duologue.conversations.importing.tree_repair import ImportedNode, build_tree
from duologue.conversations.importing.values import (
    ImportedConversation,
    ImportedFiles,
    ImportEntry,
    ImportProblem,
    derived_id,
    missing_file,
    quoted_title,
)
from duologue.errors import BadRequest
from duologue.values.conversations import (
    Content,
    Conversation,
    GenerationOptions,
    ResourceContent,
    StoredMessage,
    StoredToolCall,
    TextContent,
    ToolCallRecord,
)
from duologue.values.events import Timings, Usage
from duologue.values.messages import Role
from duologue.wire.media_parts import from_base64, from_data_url

SOURCE = "llama-ui"
ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
}
_WRAPPERS = ("conv", "conversation", "message", "data")


def is_whole(value: Record) -> bool:
    """Whether an object is a conversation with its messages."""
    return isinstance(value.get("conv"), dict) and isinstance(value.get("messages"), list)


def is_header(value: Record) -> bool:
    """Whether an object is a conversation without its messages."""
    return "id" in value and ("currNode" in value or "lastModified" in value)


def is_message(value: Record) -> bool:
    return "role" in value and "convId" in value


def is_line(value: object) -> bool:
    """Whether a line of JSON is of this format."""
    entry = record(value)
    return is_whole(entry) or any(is_header(inner) or is_message(inner) for inner in _inside(entry))


def from_value(value: object, user: str) -> Iterator[ImportEntry]:
    """The conversations of one JSON value: an object with `conv` and `messages`, or a list of them."""
    for entry in map(record, each(value)):
        yield from _conversation(record(entry.get("conv")), entry.get("messages"), user)


def from_lines(data: bytes, user: str) -> Iterator[ImportEntry]:
    """The conversations of JSON lines. The lines of a conversation may be anywhere in the file."""
    headers: dict[str, Record] = {}
    messages: dict[str, list[Record]] = {}
    last = ""
    for line_number, line in lines(data):
        try:
            value = record(parsed(line))
        except ValueError as error:
            yield ImportProblem(f"Line {line_number} is damaged and was left out: {error}.")
            continue
        if is_whole(value):
            yield from from_value(value, user)
            continue
        for inner in _inside(value):
            if is_message(inner):
                messages.setdefault(text(inner["convId"]), []).append(inner)
            elif is_header(inner):
                last = text(inner["id"])
                headers[last] = inner
            elif last and text(inner.get("role")) in ROLES:
                messages.setdefault(last, []).append(inner)
            else:
                continue
            break
        else:
            yield ImportProblem(
                f"Line {line_number} is neither a conversation nor a message, and was left out."
            )
    for key in dict.fromkeys((*headers, *messages)):
        yield from _conversation(headers.get(key, {"id": key}), messages.get(key, []), user)


def _inside(value: Record) -> list[Record]:
    """An object, and the objects wrapped in it."""
    return [value, *(value[name] for name in _WRAPPERS if isinstance(value.get(name), dict))]


def _conversation(header: Record, messages: object, user: str) -> Iterator[ImportEntry]:
    key, name = text(header.get("id")), title(header.get("name"))
    if not key:
        yield ImportProblem(f"{quoted_title(name)} has no id and was left out.")
        return
    id = derived_id(user, SOURCE, key)
    files = ImportedFiles()
    problems: list[str] = []
    nodes = []
    for message in records(messages):
        try:
            nodes.append(_node(message, files, problems))
        except ValueError as error:
            problems.append(f"a message was left out: {error}.")
    tree = build_tree(user, id, nodes, text(header.get("currNode")) or None)
    moments = [row.created for row in tree.rows if row.created]
    updated = time(header.get("lastModified")) or max(moments, default=0)
    forked = text(header.get("forkedFromConversationId"))
    thinking = header.get("thinkingEnabled")
    yield ImportedConversation(
        Conversation(
            id,
            title=name,
            title_source="user" if name else "first",
            created=min(moments, default=updated),
            updated=updated,
            leaf=tree.leaf,
            pinned=header.get("pinned") is True,
            forked_from=derived_id(user, SOURCE, forked) if forked else None,
            options=GenerationOptions(thinking=thinking if isinstance(thinking, bool) else None),
        ),
        tree.rows,
        files.files,
        problems=tuple(f"{quoted_title(name)}: {problem}" for problem in (*problems, *tree.problems)),
    )


def _node(message: Record, files: ImportedFiles, problems: list[str]) -> ImportedNode:
    """Raises ValueError that says what is wrong."""
    key = text(message.get("id"))
    if not key:
        raise ValueError("it has no id")
    parent = text(message.get("parent"))
    # The first versions used numbers as ids, and -1 as the parent of the first message.
    above = None if parent in ("", "-1") or parent == key else parent
    if message.get("type") == "root":
        return ImportedNode(key, above, None)
    role = ROLES.get(text(message.get("role")))
    if role is None:
        raise ValueError(f"its role is unknown: {text(message.get('role'))!r}")
    message_text = text(message.get("content"))
    content: list[Content] = [TextContent(message_text)] if message_text else []
    for extra in records(message.get("extra")):
        content.append(_extra(extra, files, problems))
    calls = _calls(message.get("toolCalls"), key) if role == "assistant" else ()
    timings = record(message.get("timings"))
    tool_call_id = text(message.get("toolCallId")) if role == "tool" else ""
    return ImportedNode(
        key,
        above,
        StoredMessage(
            "",
            "",
            None,
            role,
            tuple(content),
            created=time(message.get("timestamp")),
            reasoning=text(message.get("reasoningContent") or message.get("thinking")),
            tool_calls=calls,
            tool_call_id=tool_call_id,
            call=ToolCallRecord("", state="done") if role == "tool" else None,
            model=text(message.get("model")),
            usage=_usage(timings) if timings and role == "assistant" else None,
            timings=_timings(timings) if timings and role == "assistant" else None,
        ),
    )


def _usage(timings: Record) -> Usage:
    cached = count(timings.get("cache_n"))
    return Usage(count(timings.get("prompt_n")) + cached, count(timings.get("predicted_n")), cached)


def _timings(timings: Record) -> Timings:
    return Timings(prefill=number(timings.get("prompt_ms")), generate=number(timings.get("predicted_ms")))


def _calls(value: object, key: str) -> tuple[StoredToolCall, ...]:
    if isinstance(value, str):
        try:
            value = parsed(value) if value.strip() else []
        except ValueError:
            return ()
    calls = []
    for place, call in enumerate(records(value)):
        function = record(call.get("function"))
        if name := text(function.get("name")):
            calls.append(
                StoredToolCall(
                    text(call.get("id")) or f"call_{key}_{place}",
                    name,
                    text(function.get("arguments")) or "{}",
                )
            )
    return tuple(calls)


def _extra(extra: Record, files: ImportedFiles, problems: list[str]) -> Content:
    """A file of a message, or a note in its place when its bytes are damaged."""
    # The first versions wrote imageFile, later ones write IMAGE.
    kind = text(extra.get("type")).upper().removesuffix("FILE")
    name, mime = text(extra.get("name")), text(extra.get("mimeType"))
    file_text = text(extra.get("content"))
    if kind == "MCP_RESOURCE":
        return ResourceContent(
            text(extra.get("serverName")),
            text(extra.get("uri")),
            name or text(extra.get("uri")),
            mime,
            file_text,
        )
    if kind == "MCP_PROMPT":
        prompt = text(extra.get("promptName")) or name
        return ResourceContent(
            text(extra.get("serverName")), f"prompt:{prompt}", prompt, "text/plain", file_text
        )
    try:
        if kind == "IMAGE":
            image_mime, data = from_data_url(text(extra.get("base64Url")), name or "a picture")
            return files.add(data, name, image_mime or "image/png")
        if kind in ("AUDIO", "VIDEO"):
            data = _bytes(text(extra.get("base64Data")), name)
            return files.add(data, name, mime or f"{kind.lower()}/{'wav' if kind == 'AUDIO' else 'mp4'}")
        if kind == "PDF" and extra.get("base64Data"):
            given = "pages" if extra.get("processedAsImages") is True else "text"
            return files.add(_bytes(text(extra["base64Data"]), name), name, "application/pdf", given)
    except BadRequest as error:
        problems.append(f"the file {name!r} was left out: {error.message}")
        return missing_file(name or "A file")
    return files.add(file_text.encode(), name or "text.txt", "text/plain")


def _bytes(data: str, name: str) -> bytes:
    return from_data_url(data, name)[1] if data.startswith("data:") else from_base64(data, name)
