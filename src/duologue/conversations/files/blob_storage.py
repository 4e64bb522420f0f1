"""Storage for the bytes of files, each under the SHA-256 of its content: where files of users are kept, or memory for temporary chats.

Used by `blobs.py`. Owns temporary files and the commit of a complete file; `storage` knows where it lies.
"""

from __future__ import annotations

import hashlib
import secrets
from abc import abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Protocol, TypeVar

import anyio

from duologue.errors import NotFound, TooLarge, Unavailable
from duologue.storage.file_store import PIECE, FileStore
from duologue.storage.folder_access import in_folder
from duologue.threads import disk_cleanup, disk_io

T = TypeVar("T")

SIDES = (64, 128, 256, 512, 1024)
"""The sizes of thumbnails, in pixels. Few, because each is a file of its own."""
HEAD = 65_536
"""Bytes at the start of a file that a staged file exposes."""
MEMORY = 512 * 2**20
"""Limit in bytes for the files of all temporary chats together."""


class StagedFile:
    """A complete upload that is not in the storage yet. Discarded unless it is committed."""

    def __init__(self, hash: str, size: int, head: bytes, commit: Callable[[], Awaitable[None]]) -> None:
        self.hash, self.size, self.head = hash, size, head
        self.commit = commit
        """Put it into the storage. Durable when this returns."""


class BlobStorage(Protocol):
    """`hash` is 64 hexadecimal digits. Methods raise NotFound for a missing file and Unavailable for a failing disk."""

    @abstractmethod
    def stage(self, chunks: AsyncIterator[bytes], limit: int) -> AbstractAsyncContextManager[StagedFile]:
        """Receive a file. Raises TooLarge as soon as it exceeds `limit` bytes."""

    @abstractmethod
    async def size(self, hash: str) -> int: ...
    @abstractmethod
    async def read(self, hash: str, start: int = 0, size: int = -1) -> bytes: ...
    @abstractmethod
    def pieces(self, hash: str, start: int, end: int) -> AsyncIterator[bytes]:
        """The bytes from `start` up to `end`, a few megabytes in memory at a time."""

    @abstractmethod
    async def source(self, hash: str) -> bytes | Path:
        """What a decoder process reads the file from: its path, or its bytes where it is not on disk."""

    @abstractmethod
    async def thumbnail(self, hash: str, side: int) -> bytes | None: ...
    @abstractmethod
    async def keep_thumbnail(self, hash: str, side: int, data: bytes) -> None: ...
    @abstractmethod
    async def remove(self, hash: str) -> None:
        """Remove a file and its thumbnails. No error when it does not exist."""

    @abstractmethod
    async def sweep(self, before: int) -> None:
        """Remove the remains of uploads that were interrupted before this time (ms since 1970)."""


class DurableStorage(BlobStorage):
    """Files are `ab/abcdef...` in `files`, with their thumbnails beside them; uploads in progress are in its folder for what arrives."""

    def __init__(self, files: FileStore) -> None:
        self.is_shared = files.is_shared
        self._files = files

    @asynccontextmanager
    async def stage(self, chunks: AsyncIterator[bytes], limit: int) -> AsyncIterator[StagedFile]:
        path = self._files.incoming / secrets.token_hex(16)
        file = await self._do(_create, path)
        try:
            digest, size, head = hashlib.sha256(), 0, b""
            async for piece in _pieces(chunks, limit):
                size += len(piece)
                head = head or piece[:HEAD]
                await self._do(_write, file, digest, piece)

            async def commit() -> None:
                await self._do(file.flush)
                await self._commit(path, digest.hexdigest(), size)

            yield StagedFile(digest.hexdigest(), size, head, commit)
        finally:
            with anyio.CancelScope(shield=True):
                await self._do(_discard, file, path, run=disk_cleanup)

    async def _commit(self, path: Path, hash: str, size: int) -> None:
        # The length is compared too: a failing disk may have truncated the existing file.
        if not await self._has(hash, size):
            await self._files.put(_name(hash), path)

    async def _has(self, hash: str, size: int) -> bool:
        try:
            return await self._files.size(_name(hash)) == size
        except NotFound:
            return False

    async def size(self, hash: str) -> int:
        return await self._files.size(_name(hash))

    async def read(self, hash: str, start: int = 0, size: int = -1) -> bytes:
        return await self._files.read(_name(hash), start, size)

    def pieces(self, hash: str, start: int, end: int) -> AsyncIterator[bytes]:
        return self._files.pieces(_name(hash), start, end)

    async def source(self, hash: str) -> bytes | Path:
        return await self._files.source(_name(hash))

    async def thumbnail(self, hash: str, side: int) -> bytes | None:
        try:
            return await self._files.read(_thumbnail(hash, side))
        except NotFound:
            return None

    async def keep_thumbnail(self, hash: str, side: int, data: bytes) -> None:
        await self._files.put_bytes(_thumbnail(hash, side), data)

    async def remove(self, hash: str) -> None:
        await self._files.delete(_name(hash), *(_thumbnail(hash, side) for side in SIDES))

    async def sweep(self, before: int) -> None:
        await self._do(_sweep, self._files.incoming, before)

    async def _do(
        self, function: Callable[..., T], *args: object, run: Callable[..., Awaitable[T]] = disk_io
    ) -> T:
        missing = NotFound("The file no longer exists.", code="blob_not_found")
        return await in_folder(self._files.incoming.parent, missing, function, *args, run=run)


class MemoryStorage(BlobStorage):
    """Files that are never written to disk. `room`: bytes for all of them together."""

    def __init__(self, room: int = MEMORY) -> None:
        self._room = room
        self._files: dict[str, bytes] = {}
        self._thumbnails: dict[tuple[str, int], bytes] = {}

    @asynccontextmanager
    async def stage(self, chunks: AsyncIterator[bytes], limit: int) -> AsyncIterator[StagedFile]:
        data = b"".join([piece async for piece in _pieces(chunks, limit)])
        digest = (await disk_io(hashlib.sha256, data)).hexdigest()

        async def commit() -> None:
            if digest in self._files:
                return
            if sum(map(len, self._files.values())) + len(data) > self._room:
                raise Unavailable(
                    "The files of temporary chats use all the memory reserved for them. Close some of these chats.",
                    code="storage_unavailable",
                )
            self._files[digest] = data

        yield StagedFile(digest, len(data), data[:HEAD], commit)

    async def size(self, hash: str) -> int:
        return len(self._of(hash))

    async def read(self, hash: str, start: int = 0, size: int = -1) -> bytes:
        data = self._of(hash)
        return data[start:] if size < 0 else data[start : start + size]

    async def pieces(self, hash: str, start: int, end: int) -> AsyncIterator[bytes]:
        while start < end and (piece := await self.read(hash, start, min(PIECE, end - start))):
            start += len(piece)
            yield piece

    async def source(self, hash: str) -> bytes | Path:
        return self._of(hash)

    async def thumbnail(self, hash: str, side: int) -> bytes | None:
        return self._thumbnails.get((hash, side))

    async def keep_thumbnail(self, hash: str, side: int, data: bytes) -> None:
        if hash in self._files:
            self._thumbnails[hash, side] = data

    async def remove(self, hash: str) -> None:
        self._files.pop(hash, None)
        self._thumbnails = {key: data for key, data in self._thumbnails.items() if key[0] != hash}

    async def sweep(self, before: int) -> None:
        return None

    def _of(self, hash: str) -> bytes:
        try:
            return self._files[hash]
        except KeyError:
            raise NotFound("The file no longer exists.", code="blob_not_found") from None


async def _pieces(chunks: AsyncIterator[bytes], limit: int) -> AsyncIterator[bytes]:
    """The chunks joined into pieces large enough for a write. Raises TooLarge."""
    waiting = bytearray()
    size = 0
    async for chunk in chunks:
        size += len(chunk)
        if size > limit:
            raise TooLarge(
                f"The file is larger than {limit / 2**20:g} MB; the setting limits.blob_mb raises the limit."
            )
        waiting += chunk
        if len(waiting) >= PIECE:
            yield bytes(waiting)
            waiting.clear()
    if waiting:
        yield bytes(waiting)


def _name(hash: str) -> str:
    return f"{hash[:2]}/{hash}"


def _thumbnail(hash: str, side: int) -> str:
    return f"{hash[:2]}/{hash}.{side}.webp"


def _create(path: Path) -> BinaryIO:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.open("xb")


def _sweep(incoming: Path, before: int) -> None:
    if not incoming.is_dir():
        return
    for path in incoming.iterdir():
        try:
            if path.stat().st_mtime * 1000 < before:
                path.unlink()
        except FileNotFoundError:
            continue


def _write(file: BinaryIO, digest: hashlib._Hash, piece: bytes) -> None:
    digest.update(piece)
    file.write(piece)


def _discard(file: BinaryIO, path: Path) -> None:
    with suppress(OSError):
        # Closing writes what is still buffered, which fails on a full disk.
        file.close()
    path.unlink(missing_ok=True)
