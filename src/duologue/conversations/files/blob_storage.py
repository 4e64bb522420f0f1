"""Where the bytes of files lie, each under the SHA-256 of what it holds: a folder, or memory for temporary chats.

Owns temporary files, the moment a file becomes whole, and the sentence for a disk that cannot be written. Knows no
user, no row of the database and no kind of file.
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

from duologue.errors import NotFound, TooLarge, Unavailable
from duologue.threads import disk_io

T = TypeVar("T")

PIECE = 2**20
"""Bytes written or read in one go."""
HEAD = 65_536
"""Bytes of a file's beginning that an arrival shows."""
MEMORY = 512 * 2**20
"""Bytes all temporary chats together may hold."""


class StagedFile:
    """A file that has come whole and is in no place yet; one that is not settled is forgotten."""

    def __init__(self, hash: str, size: int, head: bytes, settle: Callable[[], Awaitable[None]]) -> None:
        self.hash, self.size, self.head = hash, size, head
        self.settle = settle
        """Put it in its place, for good when this returns."""


class BlobStorage(Protocol):
    """`hash` is 64 hexadecimal digits. What is not there is a NotFound; a disk that fails is an Unavailable."""

    @abstractmethod
    def arriving(self, chunks: AsyncIterator[bytes], limit: int) -> AbstractAsyncContextManager[StagedFile]:
        """Take a file in. Raises TooLarge beyond `limit` bytes, as soon as they have come."""

    @abstractmethod
    async def size(self, hash: str) -> int: ...
    @abstractmethod
    async def read(self, hash: str, start: int = 0, size: int = -1) -> bytes: ...
    @abstractmethod
    async def thumbnail(self, hash: str, side: int) -> bytes | None: ...
    @abstractmethod
    async def keep_thumbnail(self, hash: str, side: int, data: bytes) -> None: ...
    @abstractmethod
    async def remove(self, hash: str) -> None:
        """The file and its thumbnails; nothing where there is none."""

    @abstractmethod
    async def sweep(self, before: int) -> None:
        """Remove what uploads left behind that broke off before that time (ms since 1970)."""


class DiskStorage(BlobStorage):
    """`ab/abcdef...` below `root`; what is still coming is in `root/incoming`."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._incoming = root / "incoming"

    @asynccontextmanager
    async def arriving(self, chunks: AsyncIterator[bytes], limit: int) -> AsyncIterator[StagedFile]:
        path = self._incoming / secrets.token_hex(16)
        file = await self._do(self._create, path)
        try:
            digest, size, head = hashlib.sha256(), 0, b""
            async for piece in _pieces(chunks, limit):
                size += len(piece)
                head = head or piece[:HEAD]
                await self._do(_write, file, digest, piece)

            async def settle() -> None:
                await self._do(self._settle, file, path, digest.hexdigest())

            yield StagedFile(digest.hexdigest(), size, head, settle)
        finally:
            with anyio.CancelScope(shield=True):
                await self._do(_discard, file, path)

    async def size(self, hash: str) -> int:
        return (await self._do(os.stat, self._path(hash))).st_size

    async def read(self, hash: str, start: int = 0, size: int = -1) -> bytes:
        return await self._do(_read, self._path(hash), start, size)

    async def thumbnail(self, hash: str, side: int) -> bytes | None:
        try:
            return await self._do(_read, self._thumbnail(hash, side), 0, -1)
        except NotFound:
            return None

    async def keep_thumbnail(self, hash: str, side: int, data: bytes) -> None:
        await self._do(self._put, self._thumbnail(hash, side), data)

    async def remove(self, hash: str) -> None:
        await self._do(self._remove, hash)

    async def sweep(self, before: int) -> None:
        await self._do(self._sweep, before)

    async def _do(self, function: Callable[..., T], *args: object) -> T:
        try:
            return await disk_io(function, *args)
        except FileNotFoundError:
            raise NotFound("The file is not there any more.", code="blob_not_found") from None
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise Unavailable(
                f"The folder {self._root} cannot be used: {reason}. Look at its free space and rights.",
                code="storage_unavailable",
            ) from None

    def _path(self, hash: str) -> Path:
        return self._root / hash[:2] / hash

    def _thumbnail(self, hash: str, side: int) -> Path:
        return self._root / hash[:2] / f"{hash}.{side}.webp"

    def _create(self, path: Path) -> BinaryIO:
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("xb")

    def _settle(self, file: BinaryIO, path: Path, hash: str) -> None:
        final = self._path(hash)
        file.flush()
        # The length is looked at too: a disk that failed may have cut what is there.
        if final.exists() and final.stat().st_size == os.fstat(file.fileno()).st_size:
            return
        os.fsync(file.fileno())
        final.parent.mkdir(exist_ok=True)
        path.replace(final)
        # The name is safe only with its folder.
        folder = os.open(final.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def _put(self, path: Path, data: bytes) -> None:
        written = self._incoming / secrets.token_hex(16)
        self._incoming.mkdir(parents=True, exist_ok=True)
        try:
            written.write_bytes(data)
            written.replace(path)
        finally:
            written.unlink(missing_ok=True)

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
    """Files that are never written. `room` in bytes, for all of them."""

    def __init__(self, room: int = MEMORY) -> None:
        self._room = room
        self._files: dict[str, bytes] = {}
        self._thumbnails: dict[tuple[str, int], bytes] = {}

    @asynccontextmanager
    async def arriving(self, chunks: AsyncIterator[bytes], limit: int) -> AsyncIterator[StagedFile]:
        data = b"".join([piece async for piece in _pieces(chunks, limit)])
        digest = (await disk_io(hashlib.sha256, data)).hexdigest()

        async def settle() -> None:
            if digest in self._files:
                return
            if sum(map(len, self._files.values())) + len(data) > self._room:
                raise Unavailable(
                    "The temporary chats hold as many files as there is memory for; close some of them.",
                    code="storage_unavailable",
                )
            self._files[digest] = data

        yield StagedFile(digest, len(data), data[:HEAD], settle)

    async def size(self, hash: str) -> int:
        return len(self._of(hash))

    async def read(self, hash: str, start: int = 0, size: int = -1) -> bytes:
        data = self._of(hash)
        return data[start:] if size < 0 else data[start : start + size]

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
            raise NotFound("The file is not there any more.", code="blob_not_found") from None


async def _pieces(chunks: AsyncIterator[bytes], limit: int) -> AsyncIterator[bytes]:
    """The chunks joined to pieces worth a write. Raises TooLarge."""
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
        # What is still buffered is written by closing, which a full disk refuses.
        file.close()
    path.unlink(missing_ok=True)
