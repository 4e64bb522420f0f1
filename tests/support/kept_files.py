"""Blobs over a real store in memory and a folder of the test's own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from msgspec import Struct
from tests.support.store_fixtures import Clock

from duologue.conversations.files.blobs import Blobs
from duologue.conversations.files.quota import StorageQuota
from duologue.errors import NotFound
from duologue.storage.folder_store import FolderStore
from duologue.store.database import Database
from duologue.store.stores import Store

LIMIT = 2 * 2**20


def blob_folder(folder: Path) -> FolderStore:
    """Where the bytes of files lie."""
    return FolderStore(folder, NotFound("The file no longer exists.", code="blob_not_found"))


class Kept(Struct):
    """Blobs, the stores their rows are in, the folder of their bytes, and the clock of both."""

    blobs: Blobs
    durable: Store
    temporary: Store
    folder: Path
    clock: Clock

    def files(self) -> list[Path]:
        return sorted(path for path in self.folder.rglob("*") if path.is_file())


@asynccontextmanager
async def kept(
    folder: Path, *, limit: int = LIMIT, quota: tuple[int, int] | None = None
) -> AsyncIterator[Kept]:
    """`quota`: bytes of a user's files on the disk and in memory."""
    clock = Clock()
    async with Database.memory() as durable, Database.memory() as temporary:
        stores = Store(durable, clock), Store(temporary, clock)
        rows = stores[0].blobs, stores[1].blobs
        room = None if quota is None else StorageQuota(*rows, limit=quota[0], temporary_limit=quota[1])
        blobs = Blobs(blob_folder(folder), rows[0], limit=limit, now=clock, temporary=rows[1], quota=room)
        yield Kept(blobs, *stores, folder, clock)


async def pieces(*chunks: bytes) -> AsyncIterator[bytes]:
    for chunk in chunks:
        yield chunk
