"""Open WebUI's export: JSON of chats, each with a tree of messages in its history.

Reasoning and tool calls are inside the text of a reply, as `<details>` blocks with quoted lines and escaped attributes. Here
they become reasoning, tool calls and rows of results.
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
"""The key of the row for a chat's system prompt. Unlike any message id, it contains a space."""

_OPENING = re.compile(r"<details((?:\s+[\w-]+(?:=\"[^\"]*\")?)*)\s*>")
_CLOSING = "</details>"
_ATTRIBUTE = re.compile(r"([\w-]+)=\"([^\"]*)\"")
_SUMMARY = re.compile(r"^\s*<summary>.*?</summary>\n?", re.DOTALL)
_QUOTE = re.compile(r"^(?:>|&gt;) ?", re.MULTILINE)


def is_chat(value: object) -> bool:
    """Whether an object is an entry of the export, or a bare chat."""
    entry = record(value)
    return _is_bare(entry) or _is_bare(record(entry.get("chat")))


def _is_bare(chat: Record) -> bool:
    history = record(chat.get("history"))
    return isinstance(history.get("messages"), dict) or (
        isinstance(chat.get("messages"), list) and ("models" in chat or "history" in chat)
    )


def from_value(value: object, user: str) -> Iterator[ImportEntry]:
    """The conversations of the file's JSON: a list of chats, or one."""
    folders: dict[str, Folder] = {}
    for entry in each(value):
        if not is_chat(entry):
            yield ImportProblem(
                f"{quoted_title(text(record(entry).get('title')))} is damaged and was left out."
            )
            continue
        yield _conversation(record(entry), user, folders)


def _conversation(entry: Record, user: str, folders: dict[str, Folder]) -> ImportedConversation:
    chat = entry if _is_bare(entry) else record(entry.get("chat"))
    name = title(entry.get("title")) or title(chat.get("title"))
    created = time(entry.get("created_at")) or time(chat.get("timestamp"))
    key = text(entry.get("id")) or text(chat.get("id")) or f"{created} {name}"
    id = derived_id(user, SOURCE, key)
    files = ImportedFiles()
    problems: list[str] = []
    history = record(chat.get("history"))
    messages = _messages(chat, history)
    nodes: list[ImportedNode] = []
    ends: dict[str, str] = {}
    """The key of the last row of each message: a reply with tool calls becomes several rows."""
    prompt = text(chat.get("system")) or text(record(chat.get("params")).get("system"))
    if prompt.strip():
        nodes.append(
            ImportedNode(SYSTEM, None, StoredMessage("", "", None, "system", (TextContent(prompt),)))
        )
    for message in messages:
        chain = _nodes(message, files, problems)
        if chain:
            ends[chain[0].key] = chain[-1].key
        nodes += chain
    # The children of a message belong below the last of its rows.
    firsts = set(ends)
    top = SYSTEM if prompt.strip() else None
    nodes = [
        ImportedNode(node.key, (ends.get(node.parent, node.parent) if node.parent else top), node.row)
        if node.key in firsts
        else node
        for node in nodes
    ]
    current = text(history.get("currentId"))
    tree = build_tree(user, id, nodes, ends.get(current), created=created)
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
    sentences = tuple(f"{quoted_title(name)}: {problem}" for problem in (*problems, *tree.problems))
    return ImportedConversation(conversation, tree.rows, files.files, folder, problems=sentences)


def _messages(chat: Record, history: Record) -> list[Record]:
    """The messages with their ids and parents; in a chat without a tree each is the parent of the next."""
    if isinstance(history.get("messages"), dict):
        return [
            {**message, "id": text(message.get("id")) or text(key)}
            for key, message in history["messages"].items()
            if isinstance(message, dict)
        ]
    chain: list[Record] = []
    for number, message in enumerate(records(chat.get("messages"))):
        parent = chain[-1]["id"] if chain else None
        chain.append({"parentId": parent, **message, "id": text(message.get("id")) or str(number)})
    return chain


def _folder(entry: Record, user: str, folders: dict[str, Folder]) -> Folder | None:
    """The folder of a chat. Most exports have only its id; such a folder gets a number as its name."""
    key = text(entry.get("folder_id"))
    name = text(record(entry.get("folder")).get("name")).strip()
    if not key and not name:
        return None
    key = key or name
    if key not in folders:
        name = name or f"Imported folder {len(folders) + 1}"
        folders[key] = Folder(derived_id(user, "folder", SOURCE, key), name)
    return folders[key]


class _Turn(Struct):
    """A piece of a reply up to its tool calls, with their results."""

    text: str = ""
    reasoning: str = ""
    calls: list[tuple[StoredToolCall, str]] = []


def _nodes(message: Record, files: ImportedFiles, problems: list[str]) -> list[ImportedNode]:
    """The rows of one message: a single one, or a chain for a reply with tool calls."""
    key = text(message.get("id"))
    parent = text(message.get("parentId")) or None
    role = text(message.get("role"))
    created = time(message.get("timestamp"))
    message_text = text(message.get("content"))
    if role not in ("user", "assistant", "system"):
        problems.append(f"a message was left out: its role is unknown: {role!r}.")
        return [ImportedNode(key, parent, None)]
    media = tuple(_file(file, files, problems) for file in records(message.get("files")))
    if role != "assistant":
        parts: tuple[Content, ...] = (TextContent(message_text), *media) if message_text else media
        row = StoredMessage("", "", None, "user" if role == "user" else "system", parts, created=created)
        return [ImportedNode(key, parent, row)]
    model = text(message.get("model"))
    chain: list[ImportedNode] = []

    def add(row: StoredMessage) -> None:
        place = f"{key} {len(chain)}" if chain else key
        chain.append(ImportedNode(place, chain[-1].key if chain else parent, row))

    turns = list(_turns(message_text, key))
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


def _turns(message_text: str, key: str) -> Iterator[_Turn]:
    """The text of a reply without its blocks, split after every group of tool calls."""
    turn = _Turn()
    at = number = 0
    for start, end, attributes, body in _blocks(message_text):
        kind = attributes.get("type")
        if kind not in ("reasoning", "tool_calls"):
            continue
        between = message_text[at:start]
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
    rest = message_text[at:].strip() if at else message_text
    if turn.calls and rest:
        yield turn
        turn = _Turn()
    turn.text = _joined(turn.text, rest)
    yield turn


def _blocks(message_text: str) -> Iterator[tuple[int, int, dict[str, str], str]]:
    """Each `<details>` block: its start and end, its attributes, its content. Linear in the length of the text, also for
    text made to be slow."""
    at = 0
    while (opening := _OPENING.search(message_text, at)) is not None:
        closing = message_text.find(_CLOSING, opening.end())
        if closing < 0:
            return
        at = closing + len(_CLOSING)
        at += message_text.startswith("\n", at)
        attributes = {name: html.unescape(value) for name, value in _ATTRIBUTE.findall(opening[1])}
        yield opening.start(), at, attributes, message_text[opening.end() : closing]


def _joined(one: str, other: str) -> str:
    return f"{one}\n\n{other}" if one and other else one or other


def _json_text(value: str) -> str:
    """The text of an attribute that is a JSON string, which may contain JSON itself; any other value unchanged."""
    try:
        inner = parsed(value)
    except ValueError:
        return text(value)
    return text(inner) if isinstance(inner, str) else text(value)


def _usage(usage: Record) -> Usage | None:
    used = count(usage.get("prompt_tokens") or usage.get("input_tokens") or usage.get("prompt_eval_count"))
    written = count(usage.get("completion_tokens") or usage.get("output_tokens") or usage.get("eval_count"))
    return Usage(used, written) if used or written else None


def _error(message: Record) -> RowError | None:
    error = message.get("error")
    if not error:
        return None
    sentence = text(record(error).get("content")) or text(error) or "The reply failed."
    return RowError("model", "imported", sentence)


def _file(file: Record, files: ImportedFiles, problems: list[str]) -> Content:
    """A file of a message: its bytes, or its extracted text, or a note that it is not in the export."""
    inner = record(file.get("file"))
    meta = record(inner.get("meta"))
    name = text(file.get("name") or inner.get("filename") or meta.get("name"))
    url = text(file.get("url"))
    if url.startswith("data:"):
        try:
            mime, data = from_data_url(url, name or "a file")
            return files.add(data, name, mime)
        except Problem as problem:
            problems.append(f"the file {name!r} was left out: {problem.message}")
            return missing_file(name or "A file")
    if extracted := text(record(inner.get("data")).get("content")):
        text_name = name if name.endswith((".txt", ".md")) else f"{name or 'file'}.txt"
        return files.add(extracted.encode(), text_name, "text/plain")
    missing = name or ("A picture" if file.get("type") == "image" else "A file")
    problems.append(f"{missing} is not in the export.")
    return missing_file(missing)
