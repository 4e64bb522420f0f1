"""ChatGPT's data export: `conversations.json`, alone or in its zip with the pictures.

A conversation is a mapping of nodes. Thoughts stand in nodes of their own before the answer they belong to, a call is
an assistant's message to somebody else than "all", and a tool may answer in several messages; here they become
reasoning, calls and one row for each result. What the page of ChatGPT does not show is left out.
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
from duologue.conversations.importing.tree_repair import ImportedNode, grown, parents_first
from duologue.conversations.importing.values import (
    Found,
    Imported,
    ImportedFiles,
    ImportProblem,
    absent,
    derived,
    titled,
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
"""The name and bytes of a file of the export by its id; None where it did not come along."""

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


def from_value(value: object, user: str, asset: Asset = lambda id: None) -> Iterator[Found]:
    """The conversations of the file's JSON: a list of them, or one."""
    for entry in each(value):
        if not is_conversation(entry):
            yield ImportProblem(f"{titled(text(record(entry).get('title')))} is damaged and was left out.")
            continue
        yield _conversation(record(entry), user, asset)


def _conversation(entry: Record, user: str, asset: Asset) -> Imported:
    name = title(entry.get("title"))
    created, updated = time(entry.get("create_time")), time(entry.get("update_time"))
    nodes = {text(key): record(node) for key, node in entry["mapping"].items()}
    key = text(entry.get("conversation_id") or entry.get("id")) or f"{created} {name} {next(iter(nodes), '')}"
    id = derived(user, SOURCE, key)
    reading = _Reading(nodes, created, asset)
    current = reading.last.get(text(entry.get("current_node")))
    tree = grown(user, id, reading.rows.values(), current)
    return Imported(
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
        reading.files.found,
        troubles=tuple(f"{titled(name)}: {words}" for words in (*reading.troubles, *tree.troubles)),
    )


class _Above(Struct, frozen=True):
    """What the nodes above leave to those below: the row they hang under, the time, thoughts without an answer yet, a
    call without a result, and the tool's row that further results belong to."""

    row: str | None = None
    created: int = 0
    thoughts: str = ""
    call: StoredToolCall | None = None
    result: str | None = None


class _Reading:
    """One mapping as rows. `last` names the row at or above each node."""

    def __init__(self, nodes: dict[str, Record], created: int, asset: Asset) -> None:
        self.rows: dict[str, ImportedNode] = {}
        self.files = ImportedFiles()
        self.troubles: list[str] = []
        self.last: dict[str, str | None] = {}
        self._asset = asset
        parents = {key: text(node.get("parent")) or None for key, node in nodes.items()}
        parents = {key: parent if parent in nodes else None for key, parent in parents.items()}
        times = {key: time(record(node.get("message")).get("create_time")) for key, node in nodes.items()}
        order, cut = parents_first(parents, times)
        parents |= dict.fromkeys(cut)
        below: dict[str, _Above] = {}
        answered = {parent for parent in parents.values() if parent is not None}
        for key in order:
            parent = parents[key]
            above = below[parent] if parent is not None else _Above(created=created)
            message = record(nodes[key].get("message"))
            left = self._node(key, message, above) if message else above
            if left.thoughts and key not in answered:
                # The export ends, or was stopped, before the answer.
                left = self._add(f"{key} thoughts", StoredMessage("", "", None, "assistant"), left)
            below[key] = left
            self.last[key] = left.row

    def _node(self, key: str, message: Record, above: _Above) -> _Above:
        content, metadata = record(message.get("content")), record(message.get("metadata"))
        role = text(record(message.get("author")).get("role"))
        kind = text(content.get("content_type"))
        above = msgspec.structs.replace(above, created=time(message.get("create_time")) or above.created)
        if kind == "thoughts":
            said = "\n\n".join(
                "\n".join(filter(None, (text(thought.get("summary")), text(thought.get("content")))))
                for thought in records(content.get("thoughts"))
            )
            return msgspec.structs.replace(above, thoughts="\n\n".join(filter(None, (above.thoughts, said))))
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
        # A tool that nobody called shows something all the same: a picture that was made, a page that was read.
        return self._add(key, StoredMessage("", "", None, "assistant", parts, model=model), above)

    def _add(self, key: str, row: StoredMessage, above: _Above) -> _Above:
        if row.role == "assistant":
            row = msgspec.structs.replace(row, reasoning=above.thoughts)
        row = msgspec.structs.replace(row, created=above.created)
        self.rows[key] = ImportedNode(key, above.row, row)
        return _Above(key, above.created, thoughts="" if row.role == "assistant" else above.thoughts)

    def _result(self, key: str, parts: tuple[Content, ...], kind: str, above: _Above) -> _Above:
        """What a tool answered: its row, or more for the row it has."""
        if above.call is None and above.result is not None:
            node = self.rows[above.result]
            assert node.row is not None
            row = msgspec.structs.replace(node.row, content=(*node.row.content, *parts))
            self.rows[above.result] = msgspec.structs.replace(node, row=row)
            return above
        assert above.call is not None
        call = above.call
        told = ToolCallRecord(call.name, call.arguments, state="failed" if kind == "system_error" else "done")
        row = StoredMessage("", "", None, "tool", parts, tool_call_id=call.id, call=told)
        return msgspec.structs.replace(self._add(key, row, above), result=key)

    def _content(self, content: Record, metadata: Record) -> tuple[Content, ...]:
        found: list[Content] = []
        shown: set[str] = set()
        attachments = {text(one.get("id")): one for one in records(metadata.get("attachments"))}
        parts = content.get("parts")
        for part in parts if isinstance(parts, list) else []:
            if isinstance(part, str):
                found += _said(part)
            elif isinstance(part, dict):
                found += self._part(part, attachments, shown)
        for name in ("text", "result", "name"):
            if not parts and (said := _said(text(content.get(name)))):
                found += said
                break
        found += [self._file(id, one, "A file") for id, one in attachments.items() if id not in shown]
        return tuple(found)

    def _part(self, part: Record, attachments: dict[str, Record], shown: set[str]) -> list[Content]:
        kind = text(part.get("content_type"))
        if kind == "audio_transcription":
            return _said(text(part.get("text")))
        if kind == "real_time_user_audio_video_asset_pointer":
            part = record(part.get("audio_asset_pointer"))
            kind = "audio_asset_pointer"
        if not kind.endswith("_asset_pointer"):
            return _said(text(part.get("text")))
        id = text(part.get("asset_pointer")).rpartition("://")[2].partition("#")[0]
        shown.add(id)
        what = "A picture" if kind.startswith("image") else "A recording"
        return [self._file(id, attachments.get(id, {}), what)]

    def _file(self, id: str, attachment: Record, what: str) -> Content:
        """A file of the export; `attachment` tells its name and type where the message does."""
        name = text(attachment.get("name"))
        found = self._asset(id) if id else None
        if found is None:
            self.troubles.append(f"{name or what} ({id}) is not in the export.")
            return absent(name or what)
        stored, data = found
        mime = text(attachment.get("mime_type") or attachment.get("mimeType"))
        return self.files.add(data, name or stored, mime or _MIMES.get(stored.rpartition(".")[2].lower(), ""))


def _said(words: str) -> list[Content]:
    words = _CITATION.sub("", text(words))
    return [TextContent(words)] if words.strip() else []


def _call(id: str, recipient: str, content: Record, parts: tuple[Content, ...]) -> StoredToolCall:
    """A message to a tool as a call: its text is the arguments where it is a JSON object, else the only one."""
    said = "".join(part.text for part in parts if isinstance(part, TextContent))
    try:
        arguments = said if isinstance(parsed(said), dict) else ""
    except ValueError:
        arguments = ""
    if not arguments:
        field = "code" if text(content.get("content_type")) == "code" else "input"
        arguments = json.dumps({field: said}, ensure_ascii=False)
    return StoredToolCall(id, re.sub(r"[^A-Za-z0-9_-]+", "_", recipient)[:64], arguments)
