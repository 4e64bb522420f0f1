"""Our own conversations, as `exporting` writes them: JSON lines, one conversation a file, or a zip of such files.

Owns the shape of the lines; `exporting` writes what is read here. A line that is damaged is left out and named.
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
    Found,
    Imported,
    ImportProblem,
    absent,
    derived,
    titled,
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


class MessageLine(Struct, frozen=True, tag="message"):
    """A row of the tree, parents before their children."""

    message: StoredMessage


class FileLine(Struct, frozen=True, tag="file", omit_defaults=True):
    """A file that rows name by its hash; in base64, or empty where it stands in the archive as `files/HASH`."""

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
) -> Iterator[Found]:
    """The conversation of a file. `stored` gives files that stand beside it in an archive."""
    header: Header | None = None
    rows: list[StoredMessage] = []
    files: dict[str, File] = {}
    troubles: list[str] = []
    for number, line in lines(data):
        try:
            value = _decoder.decode(line)
        except (msgspec.DecodeError, UnicodeError) as error:
            troubles.append(f"line {number} is damaged and was left out: {error}.")
            continue
        if isinstance(value, MessageLine):
            rows.append(value.message)
        elif isinstance(value, FileLine):
            found = value.data or stored(value.hash) or b""
            if sha256(found).hexdigest() == value.hash:
                files[value.hash] = File(value.name, value.mime, found)
        elif header is None:
            header = value
        else:
            troubles.append(f"line {number} begins a second conversation and was left out.")
    if header is None:
        yield ImportProblem("A conversation's first line is damaged; it was left out. " + " ".join(troubles))
    elif header.duologue > VERSION:
        title = titled(header.conversation.title)
        yield ImportProblem(
            f"{title} was written by a newer Duologue and was left out. Update this one first."
        )
    else:
        imported = _imported(header, rows, files, troubles)
        # A temporary chat may still be there, elsewhere than what is imported is kept.
        fresh = header.conversation.temporary or not _addressable(imported)
        yield renamed(imported, user) if fresh else imported


def _imported(
    header: Header, rows: list[StoredMessage], files: dict[str, File], troubles: list[str]
) -> Imported:
    known = {row.id: row for row in rows}
    parents = {row.id: row.parent if row.parent in known else None for row in rows}
    order, cut = parents_first(parents, {row.id: row.sequence for row in rows})
    parents |= dict.fromkeys(cut)
    made = []
    for id in order:
        row = known[id]
        content = tuple(_present(part, files, troubles) for part in row.content)
        made.append(
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
        leaf=leaf if leaf in known else leaf_of(made, None),
        folder=header.folder.id if header.folder is not None else None,
        temporary=False,
        deleted=0,
        running=None,
    )
    title = titled(conversation.title)
    return Imported(
        conversation,
        tuple(made),
        files,
        header.folder,
        settled=True,
        troubles=tuple(f"{title}: {words}" for words in troubles),
    )


def _addressable(found: Imported) -> bool:
    """Whether every id can stand in an address, as those we make do."""
    folder = (found.folder.id,) if found.folder is not None else ()
    ids = (found.conversation.id, *folder, *(row.id for row in found.messages))
    return all(_ID.fullmatch(id) for id in ids)


def _present(part: Content, files: dict[str, File], troubles: list[str]) -> Content:
    """A part all of whose files came along, or a note in its place."""
    if all(hash in files for hash in files_of(part)):
        return part
    name = getattr(part, "name", "") or "A file"
    troubles.append(f"the file {name!r} is not in the import.")
    return absent(name)


def files_of(part: Content) -> tuple[str, ...]:
    """The hashes of the files a part of a message needs."""
    match part:
        case TextContent():
            return ()
        case ImageContent():
            found: tuple[str, ...] = (part.blob, part.shown)
        case DocumentContent():
            found = (part.blob, part.text, *part.pages)
        case AudioContent() | VideoContent() | ResourceContent():
            found = (part.blob,)
    return tuple(dict.fromkeys(hash for hash in found if hash))


def renamed(imported: Imported, user: str) -> Imported:
    """The same under ids of this user's own, for where another has the conversation already."""
    old = imported.conversation
    id = derived(user, "duologue", old.id)
    rows = {row.id: derived(user, id, row.id) for row in imported.messages}
    folder = imported.folder
    if folder is not None:
        folder = msgspec.structs.replace(folder, id=derived(user, "folder", folder.id), parent=None)
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
    )
