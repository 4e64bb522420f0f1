"""Storage for the bytes of files, each under the SHA-256 of its content: a folder, or memory for temporary chats.

Used by `blobs.py`. Owns temporary files, the commit of a complete file, and the error for a disk that cannot be written.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from abc import abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Protocol, TypeVar

import anyio

from duologue.conversations.files.folder_access import in_folder
from duologue.errors import NotFound, TooLarge, Unavailable
from duologue.threads import disk_cleanup, disk_io

T = TypeVar("T")

PIECE = 2**20
"""Bytes written or read in one go."""
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


class DiskStorage(BlobStorage):
    """Files are `root/ab/abcdef...`; uploads in progress are in `root/incoming`."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._incoming = root / "incoming"

    @asynccontextmanager
    async def stage(self, chunks: AsyncIterator[bytes], limit: int) -> AsyncIterator[StagedFile]:
        path = self._incoming / secrets.token_hex(16)
        file = await self._do(self._create, path)
        try:
            digest, size, head = hashlib.sha256(), 0, b""
            async for piece in _pieces(chunks, limit):
                size += len(piece)
                head = head or piece[:HEAD]
                await self._do(_write, file, digest, piece)

            async def commit() -> None:
                await self._do(self._commit, file, path, digest.hexdigest())

            yield StagedFile(digest.hexdigest(), size, head, commit)
        finally:
            with anyio.CancelScope(shield=True):
                await self._do(_discard, file, path, run=disk_cleanup)

    async def size(self, hash: str) -> int:
        return (await self._do(os.stat, self._path(hash))).st_size

    async def read(self, hash: str, start: int = 0, size: int = -1) -> bytes:
        return await self._do(_read, self._path(hash), start, size)

    async def source(self, hash: str) -> bytes | Path:
        await self.size(hash)  # raises NotFound
        return self._path(hash).absolute()

    async def thumbnail(self, hash: str, side: int) -> bytes | None:
        try:
            return await self._do(_read, self._thumbnail(hash, side), 0, -1)
        except NotFound:
            return None

    async def keep_thumbnail(self, hash: str, side: int, data: bytes) -> None:
        await self._do(self._put, self._thumbnail(hash, side), data)

    async def remove(self, hash: str) -> None:
        await self._do(self._remove, hash, run=disk_cleanup)

    async def sweep(self, before: int) -> None:
        await self._do(self._sweep, before)

    async def _do(
        self, function: Callable[..., T], *args: object, run: Callable[..., Awaitable[T]] = disk_io
    ) -> T:
        missing = NotFound("The file no longer exists.", code="blob_not_found")
        return await in_folder(self._root, missing, function, *args, run=run)

    def _path(self, hash: str) -> Path:
        return self._root / hash[:2] / hash

    def _thumbnail(self, hash: str, side: int) -> Path:
        return self._root / hash[:2] / f"{hash}.{side}.webp"

    def _create(self, path: Path) -> BinaryIO:
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("xb")

    def _commit(self, file: BinaryIO, path: Path, hash: str) -> None:
        final = self._path(hash)
        file.flush()
        # The length is compared too: a failing disk may have truncated the existing file.
        if final.exists() and final.stat().st_size == os.fstat(file.fileno()).st_size:
            return
        os.fsync(file.fileno())
        final.parent.mkdir(exist_ok=True)
        path.replace(final)
        # The rename is durable only when the folder is synced as well.
        folder = os.open(final.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def _put(self, path: Path, data: bytes) -> None:
        temporary = self._incoming / secrets.token_hex(16)
        self._incoming.mkdir(parents=True, exist_ok=True)
        try:
            temporary.write_bytes(data)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)

    def _remove(self, hash: str) -> None:
        for path in (self._path(hash), *self._path(hash).parent.glob(f"{hash}.*.webp")):
            path.unlink(missing_ok=True)

    def _sweep(self, before: int) -> None:
        if not self._incoming.is_dir():
            return
        for path in self._incoming.iterdir():
            try:
                if path.stat().st_mtime * 1000 < before:
                    path.unlink()
            except FileNotFoundError:
                continue


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


def _write(file: BinaryIO, digest: hashlib._Hash, piece: bytes) -> None:
    digest.update(piece)
    file.write(piece)


def _read(path: Path, start: int, size: int) -> bytes:
    with path.open("rb") as file:
        file.seek(start)
        return file.read(size)


def _discard(file: BinaryIO, path: Path) -> None:
    with suppress(OSError):
        # Closing writes what is still buffered, which fails on a full disk.
        file.close()
    path.unlink(missing_ok=True)
