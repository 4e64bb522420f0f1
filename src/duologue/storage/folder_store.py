"""Users' files in a folder: the data folder of this gateway, or one that several gateways share, over NFS too.

A file is written elsewhere in the same folder and renamed, so that it is whole or not there, also where two gateways bring the same one
at once. `opening.py` makes it.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TypeVar

from duologue.errors import NotFound, Problem, StartFailed
from duologue.storage.file_store import PIECE, FileStorage, FileStore, StoredEntry
from duologue.storage.folder_access import in_folder
from duologue.threads import disk_cleanup, disk_io

T = TypeVar("T")

INCOMING = "incoming"
PRIVATE_FOLDER = 0o700
LISTED = 1000
"""Entries of a listing that are processed in one go."""


class FolderStorage(FileStorage):
    """`is_shared`: other gateways use the folder too. It must then exist: it is not made where a disk is not mounted."""

    def __init__(self, root: Path, *, is_shared: bool = False) -> None:
        self.is_shared = is_shared
        self.place = f"The folder {root}"
        self._root = root

    def section(self, name: str, missing: NotFound) -> FileStore:
        return FolderStore(self._root / name, missing, is_shared=self.is_shared)

    async def check(self) -> None:
        if not self.is_shared:
            return  # the lock of the data folder has written there
        if not await disk_io(self._root.is_dir):
            raise StartFailed(
                f"The shared folder {self._root} (storage.folder) does not exist. Mount it, or make it and give this account the "
                "right to write there."
            )
        store = self.section("check", NotFound("The file that was written is not there."))
        name = secrets.token_hex(16)
        try:
            await store.put_bytes(name, b"Duologue")
            await store.read(name)
            await store.delete(name)
        except Problem as problem:
            raise StartFailed(
                f"The shared folder {self._root} (storage.folder) cannot be used: {problem.message}"
            ) from problem


class FolderStore(FileStore):
    """Files are `root/NAME`; those that are still being written are in `root/incoming`."""

    def __init__(self, root: Path, missing: NotFound, *, is_shared: bool = False) -> None:
        self.incoming = root / INCOMING
        self.is_shared = is_shared
        self._root, self._missing = root, missing

    def path(self, name: str) -> Path | None:
        return self._root / name

    async def put(self, name: str, file: Path) -> None:
        await self._do(_placed, file, self._root / name)

    async def put_bytes(self, name: str, data: bytes) -> None:
        await self._do(self._put_bytes, self._root / name, data)

    async def size(self, name: str) -> int:
        return (await self._do(os.stat, self._root / name)).st_size

    async def read(self, name: str, start: int = 0, size: int = -1) -> bytes:
        return await self._do(_read, self._root / name, start, size)

    async def pieces(self, name: str, start: int, end: int) -> AsyncIterator[bytes]:
        while start < end:
            piece = await self.read(name, start, min(PIECE, end - start))
            if not piece:
                return
            start += len(piece)
            yield piece

    async def source(self, name: str) -> Path:
        await self.size(name)  # raises NotFound
        return (self._root / name).absolute()

    async def delete(self, *names: str) -> None:
        await self._do(_remove, [self._root / name for name in names], run=disk_cleanup)

    async def entries(self, folder: str = "") -> AsyncIterator[StoredEntry]:
        found = self._entries(self._root / folder if folder else self._root)
        while some := await self._do(_some, found):
            for entry in some:
                yield entry

    async def _do(
        self, function: Callable[..., T], *args: object, run: Callable[..., Awaitable[T]] = disk_io
    ) -> T:
        return await in_folder(self._root, self._missing, function, *args, run=run)

    def _put_bytes(self, path: Path, data: bytes) -> None:
        temporary = self.incoming / secrets.token_hex(16)
        self.incoming.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
        try:
            temporary.write_bytes(data)
            path.parent.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)

    def _entries(self, folder: Path) -> Iterator[StoredEntry]:
        for parent, folders, names in os.walk(folder):
            if Path(parent) == self._root and INCOMING in folders:
                folders.remove(INCOMING)
            for name in names:
                path = Path(parent, name)
                with suppress(FileNotFoundError):
                    state = path.stat()
                    relative = path.relative_to(self._root).as_posix()
                    yield StoredEntry(relative, state.st_size, state.st_mtime_ns // 1_000_000)


def _some(found: Iterator[StoredEntry]) -> list[StoredEntry]:
    return list(islice(found, LISTED))


def _placed(file: Path, path: Path) -> None:
    path.parent.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
    _flush(file)
    file.replace(path)
    # The rename is durable only when the folder is synced as well.
    _flush(path.parent)


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _read(path: Path, start: int, size: int) -> bytes:
    with path.open("rb") as file:
        file.seek(start)
        return file.read(size)


def _remove(paths: list[Path]) -> None:
    for path in paths:
        path.unlink(missing_ok=True)
