"""Reads files of conversations: our own exports and those of other programs. The format is detected from the content.

Pure; `conversations/importer.py` stores what is read here. Owns the choice of the reader. Conversations are read one at a time,
so that a history of years is never in memory twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import chain, islice

from duologue.conversations.importing import chatgpt, duologue_format, llama_ui, open_webui
from duologue.conversations.importing.json_readers import element, elements, lines, parsed
from duologue.conversations.importing.values import ImportEntry, ImportProblem
from duologue.conversations.importing.zip_reader import EMPTY, MAGIC, Archive
from duologue.errors import BadRequest

UNKNOWN = (
    "Duologue finds no conversations that it can read in this file. It reads its own exports, and those of llama.cpp's page, "
    "ChatGPT and Open WebUI (JSON, JSON lines or zip)."
)
PROBED = 8
"""Lines or entries that are tried before the format of a file counts as unknown. Some of them may be damaged."""
FILES = "files/"
"""The folder of files in our own archives, by their hash."""


def conversations(data: bytes, user: str) -> Iterator[ImportEntry]:
    """The conversations of a file, for this user; a damaged entry is an ImportProblem. Raises BadRequest (`import_unknown`,
    `import_unreadable`) when it is not a file of conversations, TooLarge when an archive unpacks to too much."""
    if data.startswith((MAGIC, EMPTY)):
        yield from _from_archive(Archive(data), user)
        return
    entries = _from_text(data, user, None)
    if entries is None:
        raise BadRequest(UNKNOWN, code="import_unknown")
    yield from entries


def _from_archive(archive: Archive, user: str) -> Iterator[ImportEntry]:
    is_known = False
    for name in archive.names:
        if not name.lower().endswith((".json", ".jsonl")) or name.startswith(("__MACOSX/", FILES)):
            continue
        entries = _from_text(archive.read(name), user, archive)
        if entries is not None:
            is_known = True
            yield from entries
    if not is_known:
        raise BadRequest(UNKNOWN, code="import_unknown")


def _from_text(data: bytes, user: str, archive: Archive | None) -> Iterator[ImportEntry] | None:
    """The conversations of a file of JSON or JSON lines; None when the format is unknown."""
    line = _line(data)
    if duologue_format.is_line(line):
        return duologue_format.from_lines(data, user, _stored(archive))
    if llama_ui.is_line(line):
        return llama_ui.from_lines(data, user)
    try:
        entries = elements(data)
    except ValueError as error:
        if line is None and data.lstrip()[:1] in (b"[", b"{") and archive is None:
            raise BadRequest(f"This file is damaged: {error}.", code="import_unreadable") from None
        return None
    first = [element(entry) for entry in entries[:PROBED]]
    rest = (element(entry) for entry in entries[PROBED:])
    if any(chatgpt.is_conversation(entry) for entry in first):
        return chatgpt.from_value(chain(first, rest), user, _asset(archive))
    if any(open_webui.is_chat(entry) for entry in first):
        return open_webui.from_value(chain(first, rest), user)
    if any(isinstance(entry, dict) and llama_ui.is_whole(entry) for entry in first):
        return llama_ui.from_value(chain(first, rest), user)
    return None


def _line(data: bytes) -> object:
    """The first line that is a JSON object by itself, if this is a file of such lines; the first few may be damaged. A JSON
    text over several lines starts with a bracket on its own, and the rest is indented."""
    first = [line for _, line in islice(lines(data), PROBED)]
    if not first or first[0].strip() in (b"[", b"{"):
        return None
    for line in first:
        if line.startswith(b"{"):
            with suppress(ValueError):
                return parsed(line)
    return None


def _stored(archive: Archive | None) -> Callable[[str], bytes | None]:
    def stored(hash: str) -> bytes | None:
        name = f"{FILES}{hash}"
        return archive.read(name) if archive is not None and name in archive else None

    return stored


def _asset(archive: Archive | None) -> chatgpt.Asset:
    def asset(id: str) -> tuple[str, bytes] | None:
        name = archive.starting_with(id) if archive is not None else None
        if archive is None or name is None:
            return None
        return name.rpartition("/")[2], archive.read(name)

    return asset


__all__ = ["ImportEntry", "ImportProblem", "conversations"]
