"""Duologue's own format: JSON lines, one conversation per file, or a zip of such files.

Owns the shape of the lines, which `conversations/exporting.py` writes and this module reads. A damaged line is left out and
reported.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from hashlib import sha256

import msgspec
from msgspec import Struct

from duologue.conversations.importing.json_readers import lines
from duologue.conversations.importing.tree_repair import leaf_of, parents_first
from duologue.conversations.importing.values import (
    File,
    ImportedConversation,
    ImportEntry,
    ImportProblem,
    derived_id,
    missing_file,
    quoted_title,
)
from duologue.values.conversations import (
    AudioContent,
    Content,
    Conversation,
    DocumentContent,
    Folder,
    ImageContent,
    ResourceContent,
    StoredMessage,
    TextContent,
    VideoContent,
)

VERSION = 1
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


class Header(Struct, frozen=True, tag="conversation", omit_defaults=True):
    """The first line. `duologue` is the version of this format."""

    duologue: int
    conversation: Conversation
    folder: Folder | None = None
    above: tuple[Folder, ...] = ()
    """The folders that the folder is in, the outermost first."""


class MessageLine(Struct, frozen=True, tag="message"):
    """A row of the tree, parents before their children."""

    message: StoredMessage


class FileLine(Struct, frozen=True, tag="file", omit_defaults=True):
    """A file that rows name by its hash. `data` is base64 in JSON; empty when the archive has the file as `files/HASH`."""

    hash: str
    name: str = ""
    mime: str = ""
    data: bytes = b""


Line = Header | MessageLine | FileLine
_decoder = msgspec.json.Decoder(Line)


def is_line(value: object) -> bool:
    """Whether a line is of this format."""
    if not isinstance(value, dict):
        return False
    row = value.get("message")
    return (value.get("type") == "conversation" and "duologue" in value) or (
        value.get("type") == "message" and isinstance(row, dict) and "conversation" in row
    )


def from_lines(
    data: bytes, user: str, stored: Callable[[str], bytes | None] = lambda hash: None
) -> Iterator[ImportEntry]:
    """The conversation of a file. `stored` gives the files beside it in an archive, by their hash."""
    header: Header | None = None
    rows: list[StoredMessage] = []
    files: dict[str, File] = {}
    problems: list[str] = []
    for number, line in lines(data):
        try:
            value = _decoder.decode(line)
        except (msgspec.DecodeError, UnicodeError) as error:
            problems.append(f"line {number} is damaged and was left out: {error}.")
            continue
        if isinstance(value, MessageLine):
            rows.append(value.message)
        elif isinstance(value, FileLine):
            content = value.data or stored(value.hash) or b""
            if sha256(content).hexdigest() == value.hash:
                files[value.hash] = File(value.name, value.mime, content)
        elif header is None:
            header = value
        else:
            problems.append(f"line {number} begins a second conversation and was left out.")
    if header is None:
        yield ImportProblem("A conversation's first line is damaged; it was left out. " + " ".join(problems))
    elif header.duologue > VERSION:
        title = quoted_title(header.conversation.title)
        yield ImportProblem(
            f"{title} was written by a newer Duologue and was left out. Update this one first."
        )
    else:
        imported = _imported(header, rows, files, problems)
        # A temporary chat may still exist in the store in memory, where its id is taken.
        needs_ids = header.conversation.temporary or not _has_valid_ids(imported)
        yield renamed(imported, user) if needs_ids else imported


def _imported(
    header: Header, rows: list[StoredMessage], files: dict[str, File], problems: list[str]
) -> ImportedConversation:
    known = {row.id: row for row in rows}
    parents = {row.id: row.parent if row.parent in known else None for row in rows}
    order, cut = parents_first(parents, {row.id: row.sequence for row in rows})
    parents |= dict.fromkeys(cut)
    messages = []
    for id in order:
        row = known[id]
        content = tuple(_present(part, files, problems) for part in row.content)
        messages.append(
            msgspec.structs.replace(
                row,
                parent=parents[id],
                conversation=header.conversation.id,
                content=content,
                status="interrupted" if row.status == "running" else row.status,
            )
        )
    leaf = header.conversation.leaf
    conversation = msgspec.structs.replace(
        header.conversation,
        leaf=leaf if leaf in known else leaf_of(messages, None),
        folder=header.folder.id if header.folder is not None else None,
        temporary=False,
        deleted=0,
        running=None,
    )
    title = quoted_title(conversation.title)
    return ImportedConversation(
        conversation,
        tuple(messages),
        files,
        header.folder,
        above=header.above,
        is_native=True,
        problems=tuple(f"{title}: {problem}" for problem in problems),
    )


def _has_valid_ids(imported: ImportedConversation) -> bool:
    """Whether every id can be part of a URL, as the ids of this server can."""
    folders = (folder.id for folder in imported.folders)
    ids = (imported.conversation.id, *folders, *(row.id for row in imported.messages))
    return all(_ID.fullmatch(id) for id in ids)


def _present(part: Content, files: dict[str, File], problems: list[str]) -> Content:
    """The part, or a note in its place when one of its files is missing."""
    if all(hash in files for hash in files_of(part)):
        return part
    name = getattr(part, "name", "") or "A file"
    problems.append(f"the file {name!r} is not in the import.")
    return missing_file(name)


def files_of(part: Content) -> tuple[str, ...]:
    """The hashes of the files a part of a message needs."""
    match part:
        case TextContent():
            return ()
        case ImageContent():
            hashes: tuple[str, ...] = (part.blob, part.shown)
        case DocumentContent():
            hashes = (part.blob, part.text, *part.pages)
        case AudioContent() | VideoContent() | ResourceContent():
            hashes = (part.blob,)
    return tuple(dict.fromkeys(hash for hash in hashes if hash))


def renamed(imported: ImportedConversation, user: str) -> ImportedConversation:
    """The same conversation under new ids that are derived for this user: another user has the ids already."""
    old = imported.conversation
    id = derived_id(user, "duologue", old.id)
    rows = {row.id: derived_id(user, id, row.id) for row in imported.messages}
    folders = [
        msgspec.structs.replace(folder, id=derived_id(user, "folder", folder.id), parent=None)
        for folder in imported.folders
    ]
    folder = folders.pop() if folders else None
    return msgspec.structs.replace(
        imported,
        conversation=msgspec.structs.replace(
            old,
            id=id,
            leaf=rows.get(old.leaf) if old.leaf is not None else None,
            folder=folder.id if folder is not None else None,
            forked_from=None,
        ),
        messages=tuple(
            msgspec.structs.replace(
                row,
                id=rows[row.id],
                conversation=id,
                parent=rows[row.parent] if row.parent is not None else None,
            )
            for row in imported.messages
        ),
        folder=folder,
        above=tuple(folders),
    )
