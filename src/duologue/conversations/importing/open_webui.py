"""Open WebUI's export: JSON of chats, each with a tree of messages in its history.

Reasoning and tool calls stand inside an answer's text, as folded blocks of HTML with quoted lines and escaped
attributes; here they become reasoning, calls and rows of results.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from msgspec import Struct

from duologue.conversations.importing.json_readers import (
    Record,
    count,
    each,
    parsed,
    record,
    records,
    tags,
    text,
    time,
    title,
)
from duologue.conversations.importing.tree_repair import ImportedNode, grown
from duologue.conversations.importing.values import (
    Found,
    Imported,
    ImportedFiles,
    ImportProblem,
    absent,
    derived,
    titled,
)
from duologue.errors import Problem
from duologue.values.conversations import (
    Content,
    Conversation,
    Folder,
    RowError,
    StoredMessage,
    StoredToolCall,
    TextContent,
    ToolCallRecord,
)
from duologue.values.events import Usage
from duologue.wire.media_parts import from_data_url

SOURCE = "open-webui"
SYSTEM = "system prompt"
"""The key of the row made of a chat's system prompt; ids of messages hold no space."""

_OPENING = re.compile(r"<details((?:\s+[\w-]+(?:=\"[^\"]*\")?)*)\s*>")
_CLOSING = "</details>"
_ATTRIBUTE = re.compile(r"([\w-]+)=\"([^\"]*)\"")
_SUMMARY = re.compile(r"^\s*<summary>.*?</summary>\n?", re.DOTALL)
_QUOTE = re.compile(r"^(?:>|&gt;) ?", re.MULTILINE)


def is_chat(value: object) -> bool:
    """Whether an object is an entry of the export, or a bare chat."""
    found = record(value)
    return _is_bare(found) or _is_bare(record(found.get("chat")))


def _is_bare(chat: Record) -> bool:
    history = record(chat.get("history"))
    return isinstance(history.get("messages"), dict) or (
        isinstance(chat.get("messages"), list) and ("models" in chat or "history" in chat)
    )


def from_value(value: object, user: str) -> Iterator[Found]:
    """The conversations of the file's JSON: a list of chats, or one."""
    folders: dict[str, Folder] = {}
    for entry in each(value):
        if not is_chat(entry):
            yield ImportProblem(f"{titled(text(record(entry).get('title')))} is damaged and was left out.")
            continue
        yield _conversation(record(entry), user, folders)


def _conversation(entry: Record, user: str, folders: dict[str, Folder]) -> Imported:
    chat = entry if _is_bare(entry) else record(entry.get("chat"))
    name = title(entry.get("title")) or title(chat.get("title"))
    created = time(entry.get("created_at")) or time(chat.get("timestamp"))
    key = text(entry.get("id")) or text(chat.get("id")) or f"{created} {name}"
    id = derived(user, SOURCE, key)
    files = ImportedFiles()
    troubles: list[str] = []
    history = record(chat.get("history"))
    messages = _messages(chat, history)
    nodes: list[ImportedNode] = []
    ends: dict[str, str] = {}
    """The key of the last row of each message: one answer may become several rows."""
    prompt = text(chat.get("system")) or text(record(chat.get("params")).get("system"))
    if prompt.strip():
        nodes.append(
            ImportedNode(SYSTEM, None, StoredMessage("", "", None, "system", (TextContent(prompt),)))
        )
    for message in messages:
        made = _nodes(message, files, troubles)
        if made:
            ends[made[0].key] = made[-1].key
        nodes += made
    # Whoever follows a message follows the last of its rows.
    firsts = set(ends)
    top = SYSTEM if prompt.strip() else None
    nodes = [
        ImportedNode(node.key, (ends.get(node.parent, node.parent) if node.parent else top), node.row)
        if node.key in firsts
        else node
        for node in nodes
    ]
    current = text(history.get("currentId"))
    tree = grown(user, id, nodes, ends.get(current), created=created)
    folder = _folder(entry, user, folders)
    updated = time(entry.get("updated_at")) or max((row.created for row in tree.rows), default=created)
    conversation = Conversation(
        id,
        title=name,
        title_source="user" if name else "first",
        created=created or updated,
        updated=updated,
        leaf=tree.leaf,
        folder=folder.id if folder is not None else None,
        pinned=entry.get("pinned") is True,
        archived=entry.get("archived") is True,
        tags=tags(record(entry.get("meta")).get("tags"), chat.get("tags")),
    )
    found = tuple(f"{titled(name)}: {words}" for words in (*troubles, *tree.troubles))
    return Imported(conversation, tree.rows, files.found, folder, troubles=found)


def _messages(chat: Record, history: Record) -> list[Record]:
    """The messages with their ids and parents; those of a chat without a tree follow each other."""
    if isinstance(history.get("messages"), dict):
        return [
            {**message, "id": text(message.get("id")) or text(key)}
            for key, message in history["messages"].items()
            if isinstance(message, dict)
        ]
    made: list[Record] = []
    for number, message in enumerate(records(chat.get("messages"))):
        parent = made[-1]["id"] if made else None
        made.append({"parentId": parent, **message, "id": text(message.get("id")) or str(number)})
    return made


def _folder(entry: Record, user: str, folders: dict[str, Folder]) -> Folder | None:
    """The folder of a chat. The export names it only by an id; it is numbered where it has no name."""
    key = text(entry.get("folder_id"))
    name = text(record(entry.get("folder")).get("name")).strip()
    if not key and not name:
        return None
    key = key or name
    if key not in folders:
        name = name or f"Imported folder {len(folders) + 1}"
        folders[key] = Folder(derived(user, "folder", SOURCE, key), name)
    return folders[key]


class _Turn(Struct):
    """A piece of an answer up to its calls, and what came of them."""

    text: str = ""
    reasoning: str = ""
    calls: list[tuple[StoredToolCall, str]] = []


def _nodes(message: Record, files: ImportedFiles, troubles: list[str]) -> list[ImportedNode]:
    """The rows of one message: one, or for an answer with tool calls a chain of them."""
    key = text(message.get("id"))
    parent = text(message.get("parentId")) or None
    role = text(message.get("role"))
    created = time(message.get("timestamp"))
    said = text(message.get("content"))
    if role not in ("user", "assistant", "system"):
        troubles.append(f"a message was left out: nobody knows the role {role!r}.")
        return [ImportedNode(key, parent, None)]
    media = tuple(_file(file, files, troubles) for file in records(message.get("files")))
    if role != "assistant":
        parts: tuple[Content, ...] = (TextContent(said), *media) if said else media
        row = StoredMessage("", "", None, "user" if role == "user" else "system", parts, created=created)
        return [ImportedNode(key, parent, row)]
    model = text(message.get("model"))
    chain: list[ImportedNode] = []

    def add(row: StoredMessage) -> None:
        place = f"{key} {len(chain)}" if chain else key
        chain.append(ImportedNode(place, chain[-1].key if chain else parent, row))

    turns = list(_turns(said, key))
    for number, turn in enumerate(turns):
        last = number == len(turns) - 1
        parts = (TextContent(turn.text),) if turn.text else ()
        error = _error(message) if last else None
        add(
            StoredMessage(
                "",
                "",
                None,
                "assistant",
                (*parts, *media) if last else parts,
                created=created,
                reasoning=turn.reasoning,
                tool_calls=tuple(call for call, _ in turn.calls),
                model=model,
                usage=_usage(record(message.get("usage")) or record(message.get("info"))) if last else None,
                status="failed" if error is not None else "done",
                error=error,
            )
        )
        for call, result in turn.calls:
            add(
                StoredMessage(
                    "",
                    "",
                    None,
                    "tool",
                    (TextContent(result),) if result else (),
                    created=created,
                    tool_call_id=call.id,
                    call=ToolCallRecord(call.name, call.arguments, state="done"),
                )
            )
    return chain


def _turns(said: str, key: str) -> Iterator[_Turn]:
    """An answer's text without its blocks, cut behind every group of calls."""
    turn = _Turn()
    at = number = 0
    for start, end, attributes, body in _blocks(said):
        kind = attributes.get("type")
        if kind not in ("reasoning", "tool_calls"):
            continue
        between = said[at:start]
        if turn.calls and (between.strip() or kind == "reasoning"):
            yield turn
            turn = _Turn()
        turn.text = _joined(turn.text, between.strip())
        at = end
        if kind == "reasoning":
            thought = _QUOTE.sub("", _SUMMARY.sub("", body)).strip()
            turn.reasoning = _joined(turn.reasoning, html.unescape(thought))
            continue
        number += 1
        call = StoredToolCall(
            attributes.get("id") or f"call_{key}_{number}",
            attributes.get("name", "tool"),
            _json_text(attributes.get("arguments", "")) or "{}",
        )
        turn.calls.append((call, _json_text(attributes.get("result", ""))))
    rest = said[at:].strip() if at else said
    if turn.calls and rest:
        yield turn
        turn = _Turn()
    turn.text = _joined(turn.text, rest)
    yield turn


def _blocks(said: str) -> Iterator[tuple[int, int, dict[str, str], str]]:
    """Each folded block: where it starts and ends, its attributes, what is in it. Looks at every character a few times
    at most, whatever is written."""
    at = 0
    while (opening := _OPENING.search(said, at)) is not None:
        closing = said.find(_CLOSING, opening.end())
        if closing < 0:
            return
        at = closing + len(_CLOSING)
        at += said.startswith("\n", at)
        attributes = {name: html.unescape(value) for name, value in _ATTRIBUTE.findall(opening[1])}
        yield opening.start(), at, attributes, said[opening.end() : closing]


def _joined(one: str, other: str) -> str:
    return f"{one}\n\n{other}" if one and other else one or other


def _json_text(value: str) -> str:
    """The text of an attribute that holds a JSON string, itself perhaps of JSON; otherwise as it is."""
    try:
        inner = parsed(value)
    except ValueError:
        return text(value)
    return text(inner) if isinstance(inner, str) else text(value)


def _usage(found: Record) -> Usage | None:
    used = count(found.get("prompt_tokens") or found.get("input_tokens") or found.get("prompt_eval_count"))
    written = count(found.get("completion_tokens") or found.get("output_tokens") or found.get("eval_count"))
    return Usage(used, written) if used or written else None


def _error(message: Record) -> RowError | None:
    found = message.get("error")
    if not found:
        return None
    words = text(record(found).get("content")) or text(found) or "The reply failed."
    return RowError("model", "imported", words)


def _file(file: Record, files: ImportedFiles, troubles: list[str]) -> Content:
    """A file of a message: its bytes, what was read of it, or a note that it did not come along."""
    inner = record(file.get("file"))
    meta = record(inner.get("meta"))
    name = text(file.get("name") or inner.get("filename") or meta.get("name"))
    url = text(file.get("url"))
    if url.startswith("data:"):
        try:
            mime, data = from_data_url(url, name or "a file")
            return files.add(data, name, mime)
        except Problem as problem:
            troubles.append(f"the file {name!r} was left out: {problem.message}")
            return absent(name or "A file")
    if said := text(record(inner.get("data")).get("content")):
        shown = name if name.endswith((".txt", ".md")) else f"{name or 'file'}.txt"
        return files.add(said.encode(), shown, "text/plain")
    what = name or ("A picture" if file.get("type") == "image" else "A file")
    troubles.append(f"{what} is not in the export.")
    return absent(what)
