"""Stores the conversations of an imported file that do not exist yet, with their rows, folders and files.

Used by `api/import_export.py`; the package `importing` reads the formats. Owns the order (folder, files, then the conversation
with all its rows in one transaction) and the report. A repeated import finds everything stored and changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

import msgspec
from msgspec import Struct

from duologue.conversations import importing
from duologue.conversations.importing.duologue_format import files_of, renamed
from duologue.conversations.importing.values import (
    File,
    ImportedConversation,
    ImportEntry,
    ImportProblem,
    derived_id,
    missing_file,
    quoted_title,
)
from duologue.errors import NotFound, Problem, Unavailable
from duologue.media.decoding import decode
from duologue.values.conversations import Content, Folder, StoredMessage

if TYPE_CHECKING:
    from duologue.conversations.files.attachments import Attachments
    from duologue.conversations.files.blobs import Blobs
    from duologue.store.stores import Store

MOST_PROBLEMS = 200
"""Sentences in a report. Further ones are only counted."""


class ImportReport(Struct, frozen=True):
    """`skipped` existed already; `problems` name what was left out, in sentences; `conversations` are the new ids."""

    imported: int = 0
    skipped: int = 0
    problems: tuple[str, ...] = ()
    conversations: tuple[str, ...] = ()


class Importer:
    """Imports into one store."""

    def __init__(self, store: Store, blobs: Blobs, attachments: Attachments) -> None:
        self._store = store
        self._blobs = blobs
        self._attachments = attachments

    async def import_file(self, user: str, data: bytes) -> ImportReport:
        """Store the conversations of a file. Raises BadRequest `import_unknown` or `import_unreadable` when it is not a file
        of conversations, TooLarge when an archive unpacks to too much, and Unavailable when the store fails. What was stored
        before an error stays, and sending the same file again continues behind it."""
        entries = importing.conversations(data, user)
        imported: list[str] = []
        skipped = 0
        problems: list[str] = []
        while True:
            # Each entry is parsed on the decoding thread: an archive can be large.
            entry = await decode(_next, entries)
            if entry is None:
                break
            if isinstance(entry, ImportProblem):
                problems.append(entry.message)
                continue
            try:
                id = await self._store_conversation(user, entry, problems)
            except Unavailable:
                raise
            except Problem as problem:
                title = quoted_title(entry.conversation.title)
                problems.append(f"{title} was left out: {problem.message}")
                continue
            if id is None:
                skipped += 1
            else:
                imported.append(id)
                problems += entry.problems
        return ImportReport(len(imported), skipped, _first(problems), tuple(imported))

    async def _store_conversation(
        self, user: str, entry: ImportedConversation, problems: list[str]
    ) -> str | None:
        """Store one conversation. Returns its id, None when it exists already."""
        conversations = self._store.conversations
        owner = await conversations.owner(entry.conversation.id)
        if owner not in (None, user):
            # Another user's conversation has this id, for example because that user made the export.
            entry = renamed(entry, user)
            owner = await conversations.owner(entry.conversation.id)
        id = entry.conversation.id
        if owner is not None:
            try:
                await conversations.get(user, id)
            except NotFound:
                # It was deleted a short time ago, and the user wants it back.
                await conversations.restore(user, id)
                return id
            return None
        folder = await self._folder(user, entry.folder)
        rows = await self._rows(user, entry, problems)
        conversation = msgspec.structs.replace(entry.conversation, folder=folder, leaf=None)
        async with self._store.writing() as connection:
            await conversations.create(user, conversation, within=connection)
            await self._store.messages.copy(rows, leaf=entry.conversation.leaf, within=connection)
        return id

    async def _folder(self, user: str, folder: Folder | None) -> str | None:
        """The id of a folder of the user: the same one, one of the same name, or a new one."""
        if folder is None:
            return None
        own = await self._store.folders.all(user)
        same = [other.id for other in own if other.id == folder.id] or [
            other.id for other in own if other.name == folder.name
        ]
        if same:
            return same[0]
        parent = folder.parent if any(other.id == folder.parent for other in own) else None
        folder = msgspec.structs.replace(folder, parent=parent)
        try:
            return (await self._store.folders.put(user, folder)).id
        except Unavailable:
            raise
        except Problem:
            # Another user's folder has this id: it was in that user's export.
            folder = msgspec.structs.replace(folder, id=derived_id(user, "folder", folder.id))
            return (await self._store.folders.put(user, folder)).id

    async def _rows(
        self, user: str, entry: ImportedConversation, problems: list[str]
    ) -> tuple[StoredMessage, ...]:
        """The rows, with their files stored and the content of foreign files converted."""
        contents: dict[str, Content | None] = {}
        for hash, file in entry.files.items():
            try:
                contents[hash] = await self._file(user, file, is_native=entry.is_native)
            except Unavailable:
                raise
            except Problem as problem:
                title = quoted_title(entry.conversation.title)
                problems.append(f"{title}: {file.name or 'a file'}: {problem.message}")
                contents[hash] = missing_file(file.name or "A file")
        return tuple(
            msgspec.structs.replace(row, content=tuple(_replaced(part, contents) for part in row.content))
            for row in entry.messages
        )

    async def _file(self, user: str, file: File, *, is_native: bool) -> Content | None:
        """Store a file. Returns the content for its message, None when the message has the right content already."""
        blob = await self._blobs.keep(user, file.data, name=file.name, mime=file.mime)
        if is_native:
            return None
        given: Literal["text", "pages"] | None = "pages" if file.given == "pages" else None
        return await self._attachments.content(
            user, blob.hash, name=file.name, mime=blob.mime, given=given, card=None
        )


def _next(entries: Iterator[ImportEntry]) -> ImportEntry | None:
    return next(entries, None)


def _first(problems: list[str]) -> tuple[str, ...]:
    if len(problems) <= MOST_PROBLEMS:
        return tuple(problems)
    return (*problems[:MOST_PROBLEMS], f"And {len(problems) - MOST_PROBLEMS:,} more like these.")


def _replaced(part: Content, contents: dict[str, Content | None]) -> Content:
    for hash in files_of(part):
        if (content := contents.get(hash)) is not None:
            return content
    return part
