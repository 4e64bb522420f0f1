"""Keeping what an import finds: conversations that are not there yet, with their rows, folders and files.

Owns the order (folder, files, then the conversation with all its rows in one transaction) and the report. Knows no
format: `importing` reads. An import that is repeated finds everything there and changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Literal, Protocol

import msgspec
from msgspec import Struct

from duologue.conversations import importing
from duologue.conversations.importing.duologue_format import files_of, renamed
from duologue.conversations.importing.values import (
    File,
    Found,
    Imported,
    ImportProblem,
    absent,
    derived,
    titled,
)
from duologue.errors import NotFound, Problem, Unavailable
from duologue.media.decoding import decode
from duologue.values.conversations import Blob, Content, Conversation, Folder, StoredMessage
from duologue.values.requests import ModelCard

PROBLEMS = 200
"""Sentences a report holds; the rest are counted."""


class ImportReport(Struct, frozen=True):
    """`skipped` were there already; `problems` name what was left out, in sentences; `conversations` are the ids of
    those that came."""

    imported: int = 0
    skipped: int = 0
    problems: tuple[str, ...] = ()
    conversations: tuple[str, ...] = ()


class Database(Protocol):
    """`store.database.Database`, as far as it is needed here; and so the rest."""

    def writing(self) -> AbstractAsyncContextManager[Any]: ...


class Conversations(Protocol):
    async def owner(self, id: str) -> str | None: ...

    async def get(self, user: str, id: str) -> Conversation: ...

    async def restore(self, user: str, id: str) -> Conversation: ...

    async def create(self, user: str, conversation: Conversation, *, within: Any) -> Conversation: ...


class Messages(Protocol):
    async def copy(
        self, new: Sequence[StoredMessage], *, leaf: str | None, within: Any
    ) -> tuple[StoredMessage, ...]: ...


class Folders(Protocol):
    async def all(self, user: str) -> list[Folder]: ...

    async def put(self, user: str, folder: Folder) -> Folder: ...


class Blobs(Protocol):
    async def keep(self, user: str, chunks: bytes, *, name: str, mime: str = "") -> Blob: ...


class Attachments(Protocol):
    async def content(
        self,
        user: str,
        hash: str,
        *,
        name: str,
        mime: str,
        given: Literal["text", "pages"] | None,
        card: ModelCard | None,
    ) -> Content: ...


class Shelf(Struct, frozen=True, kw_only=True):
    """Where imports are kept."""

    database: Database
    conversations: Conversations
    messages: Messages
    folders: Folders
    blobs: Blobs
    attachments: Attachments


async def import_file(shelf: Shelf, user: str, data: bytes) -> ImportReport:
    """Keep the conversations of a file. Raises BadRequest `import_unknown` or `import_unreadable` when it is no file
    of conversations, TooLarge when an archive unpacks to too much, Unavailable when nothing can be kept; what came
    before is kept then, and the same file sent again goes on behind it."""
    found = importing.conversations(data, user)
    imported: list[str] = []
    skipped = 0
    problems: list[str] = []
    while True:
        one = await decode(_next, found)
        if one is None:
            break
        if isinstance(one, ImportProblem):
            problems.append(one.words)
            continue
        try:
            id = await _kept(shelf, user, one, problems)
        except Unavailable:
            raise
        except Problem as problem:
            problems.append(f"{titled(one.conversation.title)} was left out: {problem.message}")
            continue
        if id is None:
            skipped += 1
        else:
            imported.append(id)
            problems += one.troubles
    return ImportReport(len(imported), skipped, _first(problems), tuple(imported))


def _next(found: Iterator[Found]) -> Found | None:
    return next(found, None)


def _first(problems: list[str]) -> tuple[str, ...]:
    if len(problems) <= PROBLEMS:
        return tuple(problems)
    return (*problems[:PROBLEMS], f"And {len(problems) - PROBLEMS:,} more like these.")


async def _kept(shelf: Shelf, user: str, found: Imported, problems: list[str]) -> str | None:
    """Keep one conversation; None when it is there already."""
    owner = await shelf.conversations.owner(found.conversation.id)
    if owner not in (None, user):
        found = renamed(found, user)
        owner = await shelf.conversations.owner(found.conversation.id)
    id = found.conversation.id
    if owner is not None:
        try:
            await shelf.conversations.get(user, id)
        except NotFound:
            # It was deleted a moment ago and is asked for again.
            await shelf.conversations.restore(user, id)
            return id
        return None
    folder = await _folder(shelf, user, found.folder)
    rows = await _settled(shelf, user, found, problems)
    conversation = msgspec.structs.replace(found.conversation, folder=folder, leaf=None)
    async with shelf.database.writing() as within:
        await shelf.conversations.create(user, conversation, within=within)
        await shelf.messages.copy(rows, leaf=found.conversation.leaf, within=within)
    return id


async def _folder(shelf: Shelf, user: str, folder: Folder | None) -> str | None:
    """The id of a folder of the user: the same one, one of the same name, or a new one."""
    if folder is None:
        return None
    mine = await shelf.folders.all(user)
    same = [one.id for one in mine if one.id == folder.id] or [
        one.id for one in mine if one.name == folder.name
    ]
    if same:
        return same[0]
    parent = folder.parent if any(one.id == folder.parent for one in mine) else None
    folder = msgspec.structs.replace(folder, parent=parent)
    try:
        return (await shelf.folders.put(user, folder)).id
    except Unavailable:
        raise
    except Problem:
        # Another user has this id: it came with their export.
        folder = msgspec.structs.replace(folder, id=derived(user, "folder", folder.id))
        return (await shelf.folders.put(user, folder)).id


async def _settled(
    shelf: Shelf, user: str, found: Imported, problems: list[str]
) -> tuple[StoredMessage, ...]:
    """The rows, their files kept; content of other programs as attachments make it."""
    made: dict[str, Content | None] = {}
    for hash, file in found.files.items():
        try:
            made[hash] = await _file(shelf, user, file, settled=found.settled)
        except Unavailable:
            raise
        except Problem as problem:
            problems.append(f"{titled(found.conversation.title)}: {file.name or 'a file'}: {problem.message}")
            made[hash] = absent(file.name or "A file")
    return tuple(
        msgspec.structs.replace(row, content=tuple(_replaced(part, made) for part in row.content))
        for row in found.messages
    )


async def _file(shelf: Shelf, user: str, file: File, *, settled: bool) -> Content | None:
    """Keep a file; what it becomes in a message, None where the message says so already."""
    blob = await shelf.blobs.keep(user, file.data, name=file.name, mime=file.mime)
    if settled:
        return None
    given: Literal["text", "pages"] | None = "pages" if file.given == "pages" else None
    return await shelf.attachments.content(
        user, blob.hash, name=file.name, mime=blob.mime, given=given, card=None
    )


def _replaced(part: Content, made: dict[str, Content | None]) -> Content:
    for hash in files_of(part):
        if (content := made.get(hash)) is not None:
            return content
    return part
