"""Databases with content, and the ways in which their files are damaged."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import anyio
from tests.support.store_fixtures import conversation

from duologue.store.database import FILE
from duologue.store.stores import Stores

PAGE = 4096


def make_database(data: Path, *ids: str, texts: int = 40) -> Path:
    """A database with these conversations, large enough to be damaged in the middle; closed, so that it is one file."""

    async def write() -> None:
        async with Stores.opened(None, data, now=lambda: 1_800_000_000_000) as stores:
            for id in ids:
                await conversation(
                    stores.durable, *(f"text {number} " * 80 for number in range(texts)), id=id
                )

    anyio.run(write)
    return data / FILE


def conversations(data: Path) -> list[str]:
    with closing(sqlite3.connect(data / FILE)) as database:
        return [id for (id,) in database.execute("SELECT id FROM conversations ORDER BY id")]


def roots(file: Path, kind: str) -> list[int]:
    """The pages where tables or indexes begin."""
    with closing(sqlite3.connect(file)) as database:
        rows = database.execute("SELECT rootpage FROM sqlite_master WHERE type = ? AND rootpage > 0", (kind,))
        return [int(page) for (page,) in rows]


def overwrite(file: Path, offset: int, content: bytes) -> None:
    with file.open("r+b") as opened:
        opened.seek(offset)
        opened.write(content)


def no_database(file: Path) -> None:
    file.write_bytes(b"These are not the bytes of a database.\n" * 500)


def short_text(file: Path) -> None:
    file.write_bytes(b"oops")


def truncated(file: Path) -> None:
    with file.open("r+b") as opened:
        opened.truncate(file.stat().st_size // 2)


def zeroed_pages(file: Path) -> None:
    for page in roots(file, "table")[1:4]:
        overwrite(file, (page - 1) * PAGE, bytes(PAGE))


def zeroed_beginning(file: Path) -> None:
    overwrite(file, 0, bytes(PAGE))


def damaged_index(file: Path) -> None:
    for page in roots(file, "index"):
        overwrite(file, (page - 1) * PAGE + 8, b"\xff" * 64)


def garbage(file: Path) -> None:
    size = file.stat().st_size
    for offset in range(2 * PAGE, size, 3 * PAGE):
        overwrite(file, offset, b"\xa5" * 600)


DAMAGES = (no_database, short_text, truncated, zeroed_pages, zeroed_beginning, damaged_index, garbage)
