"""Stores the conversations of an imported file that do not exist yet, with their rows, folders and files.

Used by `api/import_export.py`; the package `importing` reads the formats, in a process of its own. Owns the order (folder, files, then
the conversation with all its rows in one transaction, with others that have no files) and the report. A repeated import finds
everything stored and changes nothing.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec
from msgspec import Struct

from duologue.conversations.importing.duologue_format import files_of, renamed
from duologue.conversations.importing.import_job import (
    ConversationItem,
    FilePiece,
    ImportedFile,
    ImportItem,
    ProblemItem,
    read_import,
)
from duologue.conversations.importing.values import (
    ImportedConversation,
    derived_id,
    missing_file,
    quoted_title,
)
from duologue.decoder.service import decode_stream
from duologue.errors import BadRequest, NotFound, Problem, Unavailable
from duologue.values.conversations import Content, Folder, StoredMessage, TextContent

if TYPE_CHECKING:
    from duologue.conversations.files.attachments import Attachments
    from duologue.conversations.files.blobs import Blobs
    from duologue.store.stores import Store

MOST_PROBLEMS = 200
"""Sentences in a report. Further ones are only counted."""
BATCH_ROWS = 300
"""Rows that are stored in one transaction, if they are of several conversations: all other writers wait for it."""
BATCH_CHARACTERS = 1_000_000


class ImportReport(Struct, frozen=True):
    """`skipped` existed already; `problems` name what was left out, in sentences; `conversations` are the new ids."""

    imported: int = 0
    skipped: int = 0
    problems: tuple[str, ...] = ()
    conversations: tuple[str, ...] = ()


class _Report:
    """A report while the import goes on."""

    def __init__(self) -> None:
        self.imported: list[str] = []
        self.skipped = 0
        self.problems: list[str] = []

    def add(self, entry: ImportedConversation, id: str | None) -> None:
        """A conversation was stored under this id, or existed (None)."""
        if id is None:
            self.skipped += 1
        else:
            self.imported.append(id)
            self.problems += entry.problems

    def finished(self) -> ImportReport:
        return ImportReport(len(self.imported), self.skipped, _first(self.problems), tuple(self.imported))


class _Waiting:
    """Conversations without files that are to be stored together, with the problems between them."""

    def __init__(self) -> None:
        self._items: list[ImportItem] = []
        self._rows = self._characters = 0

    @property
    def is_full(self) -> bool:
        return (
            len(self._items) >= BATCH_ROWS or self._rows >= BATCH_ROWS or self._characters >= BATCH_CHARACTERS
        )

    def add(self, item: ImportItem) -> None:
        self._items.append(item)
        if isinstance(item, ConversationItem):
            rows = item.conversation.messages
            self._rows += len(rows)
            self._characters += sum(
                len(part.text) for row in rows for part in row.content if isinstance(part, TextContent)
            )

    def taken(self) -> list[ImportItem]:
        """Those that wait; then none does."""
        items, self._items = self._items, []
        self._rows = self._characters = 0
        return items


class Importer:
    """Imports into one store."""

    def __init__(self, store: Store, blobs: Blobs, attachments: Attachments) -> None:
        self._store = store
        self._blobs = blobs
        self._attachments = attachments

    async def import_file(self, user: str, source: bytes | Path) -> ImportReport:
        """Store the conversations of a file. Raises BadRequest `import_unknown` or `import_unreadable` when it is not a file
        of conversations, and as `decode_stream` when it breaks its reader; TooLarge when an archive unpacks to too much, and
        Unavailable when the store fails. What was stored before an error stays, and sending the same file again continues
        behind it."""
        report = _Report()
        waiting = _Waiting()
        async with decode_stream(read_import, source, user, user=user) as items:
            try:
                async for item in items:
                    if isinstance(item, ConversationItem) and item.files:
                        await self._store_all(user, waiting.taken(), report)
                        files = _Files(items, item.files)
                        await self._store_one(user, item.conversation, files, report)
                        await files.skip()
                    else:
                        waiting.add(item)
                        if waiting.is_full:
                            await self._store_all(user, waiting.taken(), report)
            except Unavailable:
                raise
            except Problem:
                # The rest of the file cannot be read. What came before it is stored all the same.
                await self._store_all(user, waiting.taken(), report)
                raise
            await self._store_all(user, waiting.taken(), report)
        return report.finished()

    async def _store_all(self, user: str, items: list[ImportItem], report: _Report) -> None:
        """Store conversations without files, in one transaction if nothing stands against that. Raises Unavailable."""
        if not items:
            return
        entries = [item.conversation for item in items if isinstance(item, ConversationItem)]
        taken = await self._store.conversations.existing([entry.conversation.id for entry in entries])
        fresh = [entry for entry in entries if entry.conversation.id not in taken]
        stored = bool(fresh) and await self._store_together(user, fresh)
        for item in items:
            if isinstance(item, ProblemItem):
                report.problems.append(item.message)
            elif isinstance(item, ConversationItem):
                entry = item.conversation
                there = taken.get(entry.conversation.id)
                if there is None and stored:
                    report.add(entry, entry.conversation.id)
                elif there == (user, False):
                    report.add(entry, None)
                else:
                    await self._store_one(user, entry, None, report)

    async def _store_together(self, user: str, fresh: list[ImportedConversation]) -> bool:
        """Store new conversations in one transaction. False if one of them is refused; then none is stored."""
        try:
            new = [
                msgspec.structs.replace(
                    entry.conversation, folder=await self._folder(user, entry.folders), leaf=_leaf(entry)
                )
                for entry in fresh
            ]
            async with self._store.writing() as connection:
                await self._store.conversations.create_all(user, new, within=connection)
                rows = [row for entry in fresh for row in entry.messages]
                await self._store.messages.copy_all(user, rows, within=connection)
        except Unavailable:
            raise
        except Problem:
            return False
        return True

    async def _store_one(
        self, user: str, entry: ImportedConversation, files: _Files | None, report: _Report
    ) -> None:
        try:
            id = await self._store_conversation(user, entry, files, report.problems)
        except Unavailable:
            raise
        except Problem as problem:
            report.problems.append(
                f"{quoted_title(entry.conversation.title)} was left out: {problem.message}"
            )
        else:
            report.add(entry, id)

    async def _store_conversation(
        self, user: str, entry: ImportedConversation, files: _Files | None, problems: list[str]
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
                restored = await conversations.restore(user, id)
                folder = await self._folder(user, entry.folders)
                if restored.folder is None and folder is not None:
                    # The folder was deleted too.
                    await conversations.change(user, id, {"folder": folder})
                return id
            return None
        folder = await self._folder(user, entry.folders)
        rows = await self._rows(user, entry, files, problems)
        conversation = msgspec.structs.replace(entry.conversation, folder=folder, leaf=None)
        async with self._store.writing() as connection:
            await conversations.create(user, conversation, within=connection)
            await self._store.messages.copy(rows, leaf=entry.conversation.leaf, within=connection)
        return id

    async def _folder(self, user: str, folders: tuple[Folder, ...]) -> str | None:
        """The id of the last of these folders, each of which is in the one before: the same one, one of the same name, or a new one."""
        id: str | None = None
        for folder in folders:
            id = await self._one_folder(user, folder, id)
        return id

    async def _one_folder(self, user: str, folder: Folder, above: str | None) -> str:
        """The id of a folder of the user. `above`: the folder it is in, if the import has that one."""
        own = await self._store.folders.all(user)
        same = [other.id for other in own if other.id == folder.id] or [
            other.id for other in own if other.name == folder.name and above in (None, other.parent)
        ]
        if same:
            return same[0]
        parent = above or (folder.parent if any(other.id == folder.parent for other in own) else None)
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
        self, user: str, entry: ImportedConversation, files: _Files | None, problems: list[str]
    ) -> tuple[StoredMessage, ...]:
        """The rows, with their files stored and the content of foreign files converted."""
        if files is None:
            return entry.messages
        contents: dict[str, Content | None] = {}
        async for file, data in files:
            try:
                contents[file.hash] = await self._file(user, file, data, is_native=entry.is_native)
            except Unavailable:
                raise
            except Problem as problem:
                title = quoted_title(entry.conversation.title)
                problems.append(f"{title}: {file.name or 'a file'}: {problem.message}")
                contents[file.hash] = missing_file(file.name or "A file")
        return tuple(
            msgspec.structs.replace(row, content=tuple(_replaced(part, contents) for part in row.content))
            for row in entry.messages
        )

    async def _file(
        self, user: str, file: ImportedFile, data: AsyncIterator[bytes], *, is_native: bool
    ) -> Content | None:
        """Store a file. Returns the content for its message, None when the message has the right content already."""
        blob = await self._blobs.keep(user, data, name=file.name, mime=file.mime)
        if is_native:
            return None
        given: Literal["text", "pages"] | None = "pages" if file.given == "pages" else None
        return await self._attachments.content(
            user, blob.hash, name=file.name, mime=blob.mime, given=given, card=None
        )


class _Files:
    """The files of one conversation, which follow it among the items. What is not read of one is skipped before the next."""

    def __init__(self, items: AsyncIterator[ImportItem], files: tuple[ImportedFile, ...]) -> None:
        self._items = items
        self._files = files
        self._left = 0

    async def __aiter__(self) -> AsyncIterator[tuple[ImportedFile, AsyncIterator[bytes]]]:
        while self._files:
            await self._skip_pieces()
            file, *rest = self._files
            self._files = tuple(rest)
            self._left = file.size
            yield file, self._pieces()

    async def skip(self) -> None:
        """Read past the files that are left."""
        async for _ in self:
            pass
        await self._skip_pieces()

    async def _pieces(self) -> AsyncIterator[bytes]:
        while self._left > 0:
            item = await anext(self._items)
            if not isinstance(item, FilePiece):
                raise BadRequest("The file's decoder failed on it.", code="file_breaks_reader")
            self._left -= len(item.data)
            yield item.data

    async def _skip_pieces(self) -> None:
        async for _ in self._pieces():
            pass


def _first(problems: list[str]) -> tuple[str, ...]:
    if len(problems) <= MOST_PROBLEMS:
        return tuple(problems)
    return (*problems[:MOST_PROBLEMS], f"And {len(problems) - MOST_PROBLEMS:,} more like these.")


def _leaf(entry: ImportedConversation) -> str | None:
    """The leaf of a conversation. Raises BadRequest for one that is not among the rows."""
    leaf = entry.conversation.leaf if entry.messages else None
    if leaf is not None and all(row.id != leaf for row in entry.messages):
        raise BadRequest("There is no such message in this conversation.", code="unknown_message")
    return leaf


def _replaced(part: Content, contents: dict[str, Content | None]) -> Content:
    for hash in files_of(part):
        if (content := contents.get(hash)) is not None:
            return content
    return part
