"""ChatGPT's data export: `conversations.json`, alone or in its zip with the pictures.

A conversation is a mapping of nodes. Thoughts are nodes of their own before the reply they belong to, a tool call is an
assistant's message to a recipient other than "all", and a tool may answer in several messages. Here they become reasoning,
tool calls, and one row for each result. Nodes that ChatGPT's page does not show are left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator

import msgspec
from msgspec import Struct

from duologue.conversations.importing.json_readers import (
    Record,
    each,
    parsed,
    record,
    records,
    text,
    time,
    title,
)
from duologue.conversations.importing.tree_repair import ImportedNode, build_tree, parents_first
from duologue.conversations.importing.values import (
    ImportedConversation,
    ImportedFiles,
    ImportEntry,
    ImportProblem,
    derived_id,
    missing_file,
    quoted_title,
)
from duologue.values.conversations import (
    Content,
    Conversation,
    StoredMessage,
    StoredToolCall,
    TextContent,
    ToolCallRecord,
)

SOURCE = "chatgpt"
Asset = Callable[[str], tuple[str, bytes] | None]
"""The name and bytes of a file of the export by its id; None when it is not in the export."""

_CITATION = re.compile("\ue200[^\ue200\ue201]*\ue201")
_MIMES = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "webp": "image/webp",
    "gif": "image/gif",
    "wav": "audio/wav",
    "mp3": "audio/mpeg",
    "m4a": "audio/mp4",
    "mp4": "video/mp4",
    "pdf": "application/pdf",
}
_HIDDEN = {"user_editable_context", "model_editable_context", "reasoning_recap", "app_pairing_content"}


def is_conversation(value: object) -> bool:
    return isinstance(record(value).get("mapping"), dict)


def from_value(value: object, user: str, asset: Asset = lambda id: None) -> Iterator[ImportEntry]:
    """The conversations of the file's JSON: a list of them, or one."""
    for entry in each(value):
        if not is_conversation(entry):
            yield ImportProblem(
                f"{quoted_title(text(record(entry).get('title')))} is damaged and was left out."
            )
            continue
        yield _conversation(record(entry), user, asset)


def _conversation(entry: Record, user: str, asset: Asset) -> ImportedConversation:
    name = title(entry.get("title"))
    created, updated = time(entry.get("create_time")), time(entry.get("update_time"))
    nodes = {text(key): record(node) for key, node in entry["mapping"].items()}
    key = text(entry.get("conversation_id") or entry.get("id")) or f"{created} {name} {next(iter(nodes), '')}"
    id = derived_id(user, SOURCE, key)
    reader = _Reader(nodes, created, asset)
    current = reader.last.get(text(entry.get("current_node")))
    tree = build_tree(user, id, reader.rows.values(), current)
    return ImportedConversation(
        Conversation(
            id,
            title=name,
            title_source="user" if name else "first",
            created=created or updated,
            updated=updated or created,
            leaf=tree.leaf,
            pinned=entry.get("is_starred") is True,
            archived=entry.get("is_archived") is True,
        ),
        tree.rows,
        reader.files.files,
        problems=tuple(f"{quoted_title(name)}: {problem}" for problem in (*reader.problems, *tree.problems)),
    )


class _Above(Struct, frozen=True):
    """What a node inherits from those above: the row to attach to, the time, thoughts that have no reply yet, a tool call
    that has no result yet, and the tool's row that further results belong to."""

    row: str | None = None
    created: int = 0
    thoughts: str = ""
    call: StoredToolCall | None = None
    result: str | None = None


class _Reader:
    """Reads one mapping into rows. `last` is the row at or above each node."""

    def __init__(self, nodes: dict[str, Record], created: int, asset: Asset) -> None:
        self.rows: dict[str, ImportedNode] = {}
        self.files = ImportedFiles()
        self.problems: list[str] = []
        self.last: dict[str, str | None] = {}
        self._asset = asset
        parents = {key: text(node.get("parent")) or None for key, node in nodes.items()}
        parents = {key: parent if parent in nodes else None for key, parent in parents.items()}
        times = {key: time(record(node.get("message")).get("create_time")) for key, node in nodes.items()}
        order, cut = parents_first(parents, times)
        parents |= dict.fromkeys(cut)
        below: dict[str, _Above] = {}
        with_children = {parent for parent in parents.values() if parent is not None}
        for key in order:
            parent = parents[key]
            above = below[parent] if parent is not None else _Above(created=created)
            message = record(nodes[key].get("message"))
            state = self._node(key, message, above) if message else above
            if state.thoughts and key not in with_children:
                # The reply was stopped while the model was still thinking.
                state = self._add(f"{key} thoughts", StoredMessage("", "", None, "assistant"), state)
            below[key] = state
            self.last[key] = state.row

    def _node(self, key: str, message: Record, above: _Above) -> _Above:
        content, metadata = record(message.get("content")), record(message.get("metadata"))
        role = text(record(message.get("author")).get("role"))
        kind = text(content.get("content_type"))
        above = msgspec.structs.replace(above, created=time(message.get("create_time")) or above.created)
        if kind == "thoughts":
            thoughts = "\n\n".join(
                "\n".join(filter(None, (text(thought.get("summary")), text(thought.get("content")))))
                for thought in records(content.get("thoughts"))
            )
            return msgspec.structs.replace(
                above, thoughts="\n\n".join(filter(None, (above.thoughts, thoughts)))
            )
        if kind in _HIDDEN or metadata.get("is_visually_hidden_from_conversation") is True:
            return above
        recipient = text(message.get("recipient")) or "all"
        parts = self._content(content, metadata)
        if role == "tool" and (above.call is not None or above.result is not None):
            return self._result(key, parts, kind, above)
        if not parts:
            return above
        model = text(metadata.get("model_slug"))
        if role == "assistant" and recipient != "all":
            call = _call(f"call_{key}", recipient, content, parts)
            row = StoredMessage("", "", None, "assistant", tool_calls=(call,), model=model)
            return msgspec.structs.replace(self._add(key, row, above), call=call)
        if role in ("user", "system"):
            row = StoredMessage("", "", None, "user" if role == "user" else "system", parts)
            return self._add(key, row, above)
        # Tool output without a call is shown as a reply: a generated picture, a web page that was read.
        return self._add(key, StoredMessage("", "", None, "assistant", parts, model=model), above)

    def _add(self, key: str, row: StoredMessage, above: _Above) -> _Above:
        if row.role == "assistant":
            row = msgspec.structs.replace(row, reasoning=above.thoughts)
        row = msgspec.structs.replace(row, created=above.created)
        self.rows[key] = ImportedNode(key, above.row, row)
        return _Above(key, above.created, thoughts="" if row.role == "assistant" else above.thoughts)

    def _result(self, key: str, parts: tuple[Content, ...], kind: str, above: _Above) -> _Above:
        """Add a tool's answer: as a new row, or to the row of its earlier answers."""
        if above.call is None and above.result is not None:
            node = self.rows[above.result]
            assert node.row is not None
            row = msgspec.structs.replace(node.row, content=(*node.row.content, *parts))
            self.rows[above.result] = msgspec.structs.replace(node, row=row)
            return above
        assert above.call is not None
        call = above.call
        tool_record = ToolCallRecord(
            call.name, call.arguments, state="failed" if kind == "system_error" else "done"
        )
        row = StoredMessage("", "", None, "tool", parts, tool_call_id=call.id, call=tool_record)
        return msgspec.structs.replace(self._add(key, row, above), result=key)

    def _content(self, content: Record, metadata: Record) -> tuple[Content, ...]:
        contents: list[Content] = []
        shown: set[str] = set()
        attachments = {text(file.get("id")): file for file in records(metadata.get("attachments"))}
        parts = content.get("parts")
        for part in parts if isinstance(parts, list) else []:
            if isinstance(part, str):
                contents += _text_content(part)
            elif isinstance(part, dict):
                contents += self._part(part, attachments, shown)
        for name in ("text", "result", "name"):
            if not parts and (text_parts := _text_content(text(content.get(name)))):
                contents += text_parts
                break
        contents += [self._file(id, file, "A file") for id, file in attachments.items() if id not in shown]
        return tuple(contents)

    def _part(self, part: Record, attachments: dict[str, Record], shown: set[str]) -> list[Content]:
        kind = text(part.get("content_type"))
        if kind == "audio_transcription":
            return _text_content(text(part.get("text")))
        if kind == "real_time_user_audio_video_asset_pointer":
            part = record(part.get("audio_asset_pointer"))
            kind = "audio_asset_pointer"
        if not kind.endswith("_asset_pointer"):
            return _text_content(text(part.get("text")))
        id = text(part.get("asset_pointer")).rpartition("://")[2].partition("#")[0]
        shown.add(id)
        default_name = "A picture" if kind.startswith("image") else "A recording"
        return [self._file(id, attachments.get(id, {}), default_name)]

    def _file(self, id: str, attachment: Record, default_name: str) -> Content:
        """A file of the export. `attachment` has its name and type, when the message does."""
        name = text(attachment.get("name"))
        asset = self._asset(id) if id else None
        if asset is None:
            self.problems.append(f"{name or default_name} ({id}) is not in the export.")
            return missing_file(name or default_name)
        stored, data = asset
        mime = text(attachment.get("mime_type") or attachment.get("mimeType"))
        return self.files.add(data, name or stored, mime or _MIMES.get(stored.rpartition(".")[2].lower(), ""))


def _text_content(value: str) -> list[Content]:
    value = _CITATION.sub("", text(value))
    return [TextContent(value)] if value.strip() else []


def _call(id: str, recipient: str, content: Record, parts: tuple[Content, ...]) -> StoredToolCall:
    """A message to a tool as a tool call. A text that is a JSON object is the arguments; any other is the only argument."""
    value = "".join(part.text for part in parts if isinstance(part, TextContent))
    try:
        arguments = value if isinstance(parsed(value), dict) else ""
    except ValueError:
        arguments = ""
    if not arguments:
        field = "code" if text(content.get("content_type")) == "code" else "input"
        arguments = json.dumps({field: value}, ensure_ascii=False)
    return StoredToolCall(id, re.sub(r"[^A-Za-z0-9_-]+", "_", recipient)[:64], arguments)
