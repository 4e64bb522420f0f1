"""The reading of an imported file as a decoder job, and the items in which it comes back.

Called by `conversations/importer.py` through the decoder, so that whatever a file does to its reader happens in a process that
may die. A conversation comes first and its files follow in pieces, so that neither end holds more than one of them. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec import Struct

from duologue.conversations import importing
from duologue.conversations.importing.values import (
    ImportedConversation,
    ImportProblem,
    quoted_title,
)
from duologue.decoder.job import decoder_job

PIECE = 2**20
"""Bytes of a file that come at a time."""
CONVERSATION_MB = 32
"""Largest conversation, without its files. A history of years is a few hundred megabytes of many conversations."""


class ImportedFile(Struct, frozen=True):
    """A file of the conversation before it, without its bytes: those follow in pieces, `size` bytes in all."""

    hash: str
    name: str
    mime: str
    size: int
    given: str = ""


class ConversationItem(Struct, frozen=True, tag="conversation"):
    """A conversation without its files, and the files that follow."""

    conversation: ImportedConversation
    files: tuple[ImportedFile, ...] = ()


class ProblemItem(Struct, frozen=True, tag="problem"):
    """An entry that could not be read."""

    message: str


class FilePiece(Struct, frozen=True, tag="piece"):
    """The next bytes of the file that is due."""

    data: bytes


ImportItem = ConversationItem | ProblemItem | FilePiece


@decoder_job(seconds=120, cpu_seconds=300, memory_mb=2048, result_mb=CONVERSATION_MB + 8)
def read_import(data: bytes, user: str) -> Iterator[ImportItem]:
    """The conversations of a file, for this user. Raises as `importing.conversations` does."""
    for entry in importing.conversations(data, user):
        if isinstance(entry, ImportProblem):
            yield ProblemItem(entry.message)
            continue
        item = ConversationItem(
            msgspec.structs.replace(entry, files={}),
            tuple(
                ImportedFile(hash, file.name, file.mime, len(file.data), file.given)
                for hash, file in entry.files.items()
            ),
        )
        if len(msgspec.msgpack.encode(item)) > CONVERSATION_MB * 2**20:
            title = quoted_title(entry.conversation.title)
            yield ProblemItem(f"{title} has more than {CONVERSATION_MB} MB of text and was left out.")
            continue
        yield item
        for file in entry.files.values():
            for start in range(0, len(file.data), PIECE):
                yield FilePiece(file.data[start : start + PIECE])
