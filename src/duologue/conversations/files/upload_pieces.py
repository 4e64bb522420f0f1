"""The arrived pieces of uploads: in a folder of this gateway, or in storage that all gateways share. Used by `partial_uploads.py`.

In a folder, each upload has its bytes (`ID.part`) and what is known of it (`ID.json`). Where files are shared, each piece is a file of
its own (`ID/OFFSET`) beside `ID/upload.json`, so that the next one may arrive at another gateway, also after the first has died.
"""

from __future__ import annotations

import contextlib
import os
from abc import abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path
from typing import Protocol, TypeVar

import msgspec
from msgspec import Struct

from duologue.errors import NotFound, Problem
from duologue.storage.file_store import FileStore
from duologue.storage.folder_access import in_folder
from duologue.threads import disk_cleanup, disk_io

T = TypeVar("T")

READ = 2**20
RECORD = "upload.json"


class PartialUpload(Struct):
    """`hash`: of the stored file, once it is complete. Times are milliseconds since 1970. `offset` and `touched` are those of the file
    after a restart."""

    id: str
    user: str
    name: str
    mime: str
    size: int
    offset: int = 0
    touched: int = 0
    hash: str = ""

    @property
    def held(self) -> int:
        """The bytes it may still take on the disk."""
        return 0 if self.hash else self.size


class UploadPieces(Protocol):
    """Methods raise NotFound (`upload_not_found`) where the bytes are gone, and Unavailable where the storage fails."""

    is_shared: bool

    @abstractmethod
    async def found(self) -> list[PartialUpload]:
        """All uploads. Files that belong to none are removed."""

    @abstractmethod
    async def current(self, id: str, known: PartialUpload | None) -> PartialUpload | None:
        """An upload as it is now, of which this gateway knows `known`."""

    @abstractmethod
    async def begin(self, upload: PartialUpload) -> None: ...
    @abstractmethod
    async def write(self, upload: PartialUpload, offset: int, data: bytes, touched: int) -> None: ...
    @abstractmethod
    def content(self, upload: PartialUpload) -> AsyncIterator[bytes]:
        """The bytes of a whole upload."""

    @abstractmethod
    async def complete(self, upload: PartialUpload) -> None:
        """Keep its answer, but not its bytes."""

    @abstractmethod
    async def forget(self, upload: PartialUpload) -> None:
        """Remove all of it. What cannot be removed is found by the next `found`."""


class FolderPieces(UploadPieces):
    """In a folder that belongs to this gateway alone, which therefore knows how far each upload is."""

    is_shared = False

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def found(self) -> list[PartialUpload]:
        return await disk_io(_found, self._folder)

    async def current(self, id: str, known: PartialUpload | None) -> PartialUpload | None:
        return known

    async def begin(self, upload: PartialUpload) -> None:
        await self._do(_write_record, self._folder, upload)

    async def write(self, upload: PartialUpload, offset: int, data: bytes, touched: int) -> None:
        await self._do(_write_piece, self._part(upload), offset, data, touched)

    async def content(self, upload: PartialUpload) -> AsyncIterator[bytes]:
        for start in range(0, upload.size, READ):
            yield await self._do(_read_piece, self._part(upload), start, READ)

    async def complete(self, upload: PartialUpload) -> None:
        await self._do(_write_record, self._folder, upload)
        await self._do(_remove, self._part(upload), run=disk_cleanup)

    async def forget(self, upload: PartialUpload) -> None:
        for path in (self._part(upload), self._folder / f"{upload.id}.json"):
            await disk_cleanup(_remove, path)

    def _part(self, upload: PartialUpload) -> Path:
        return self._folder / f"{upload.id}.part"

    async def _do(
        self, function: Callable[..., T], *args: object, run: Callable[..., Awaitable[T]] = disk_io
    ) -> T:
        return await in_folder(self._folder, _missing(), function, *args, run=run)


class SharedPieces(UploadPieces):
    """In files that all gateways share. The progress of an upload is read again for each piece."""

    is_shared = True

    def __init__(self, files: FileStore) -> None:
        self._files = files

    async def found(self) -> list[PartialUpload]:
        pieces: dict[str, dict[str, tuple[int, int]]] = {}
        async for entry in self._files.entries():
            id, _, name = entry.name.partition("/")
            pieces.setdefault(id, {})[name] = (entry.size, entry.modified)
        uploads = []
        for id, parts in pieces.items():
            upload = await self._record(id)
            if upload is not None:
                uploads.append(_as_far_as(upload, parts))
            elif RECORD not in parts:
                await self._files.delete(*(f"{id}/{name}" for name in parts))
        return uploads

    async def current(self, id: str, known: PartialUpload | None) -> PartialUpload | None:
        if not id.isalnum():
            return None
        upload = await self._record(id)
        if upload is None or upload.hash:
            return upload
        found = {entry.name.partition("/")[2]: entry async for entry in self._files.entries(id)}
        return _as_far_as(upload, {name: (entry.size, entry.modified) for name, entry in found.items()})

    async def begin(self, upload: PartialUpload) -> None:
        await self._files.put_bytes(f"{upload.id}/{RECORD}", msgspec.json.encode(upload))

    async def write(self, upload: PartialUpload, offset: int, data: bytes, touched: int) -> None:
        await self._files.put_bytes(f"{upload.id}/{offset:015d}", data)

    async def content(self, upload: PartialUpload) -> AsyncIterator[bytes]:
        at = 0
        while at < upload.size:
            piece = await self._files.read(f"{upload.id}/{at:015d}")
            at += len(piece)
            yield piece

    async def complete(self, upload: PartialUpload) -> None:
        # The answer is stored first, so that a client can ask again for an answer that was lost.
        await self.begin(upload)
        names = [entry.name async for entry in self._files.entries(upload.id)]
        await self._files.delete(*(name for name in names if not name.endswith(RECORD)))

    async def forget(self, upload: PartialUpload) -> None:
        with contextlib.suppress(Problem):
            names = [entry.name async for entry in self._files.entries(upload.id)]
            await self._files.delete(*names)

    async def _record(self, id: str) -> PartialUpload | None:
        try:
            return msgspec.json.decode(await self._files.read(f"{id}/{RECORD}"), type=PartialUpload)
        except (NotFound, msgspec.MsgspecError):
            return None


def _as_far_as(upload: PartialUpload, parts: Mapping[str, tuple[int, int]]) -> PartialUpload:
    """The upload with the offset up to which its pieces have no gap. `parts`: size and time of each file of it."""
    if upload.hash:
        return upload
    offset = 0
    while (size := parts.get(f"{offset:015d}", (0, 0))[0]) > 0:
        offset += size
    touched = max((at for name, (_, at) in parts.items() if name != RECORD), default=upload.touched)
    return msgspec.structs.replace(upload, offset=min(offset, upload.size), touched=touched)


def _missing() -> NotFound:
    return NotFound("The upload no longer exists. Begin again.", code="upload_not_found")


def _write_record(folder: Path, upload: PartialUpload) -> None:
    """The record and, for a new upload, the empty file."""
    folder.mkdir(parents=True, exist_ok=True)
    part, record = folder / f"{upload.id}.part", folder / f"{upload.id}.json"
    temporary = record.with_suffix(".new")
    temporary.write_bytes(msgspec.json.encode(upload))
    temporary.replace(record)
    if not upload.offset:
        part.touch()
        _set_time(part, upload.touched)


def _write_piece(path: Path, offset: int, data: bytes, touched: int) -> None:
    with path.open("r+b") as file:
        file.seek(offset)
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    _set_time(path, touched)


def _set_time(path: Path, milliseconds: int) -> None:
    """The time of the last piece; only this and the length change with each piece."""
    os.utime(path, ns=(milliseconds * 1_000_000, milliseconds * 1_000_000))


def _read_piece(path: Path, start: int, size: int) -> bytes:
    with path.open("rb") as file:
        file.seek(start)
        return file.read(size)


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)


def _found(folder: Path) -> list[PartialUpload]:
    """The uploads in the folder. Files that belong to none are removed; a server was killed while it wrote or removed an upload."""
    uploads: dict[str, PartialUpload] = {}
    paths = list(folder.iterdir()) if folder.is_dir() else []
    for path in paths:
        if path.suffix != ".json":
            continue
        with contextlib.suppress(OSError, msgspec.MsgspecError):
            upload = msgspec.json.decode(path.read_bytes(), type=PartialUpload)
            if not upload.hash:
                state = path.with_suffix(".part").stat()
                upload.offset, upload.touched = (
                    min(state.st_size, upload.size),
                    state.st_mtime_ns // 1_000_000,
                )
            uploads[path.stem] = upload
    for path in paths:
        known = uploads.get(path.stem)
        if known is None or (path.suffix == ".part" and known.hash) or path.suffix == ".new":
            _remove(path)
    return list(uploads.values())
