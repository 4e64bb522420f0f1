"""The files of users, stored once under the hash of their content, however many users have them.

Used by the API, attachments and the importer. Owns a file from upload to garbage collection: its type, size and owners. The
bytes are in a `BlobStorage`, the rows in the store. Files of temporary chats stay in memory.
"""

from __future__ import annotations

import re
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import anyio

from duologue.conversations.files.blob_storage import (
    HEAD,
    SIDES,
    BlobStorage,
    DurableStorage,
    MemoryStorage,
    StagedFile,
)
from duologue.decoder.service import decode
from duologue.errors import NotFound, Problem
from duologue.media import documents, images, sniff, wav
from duologue.values.conversations import Blob

if TYPE_CHECKING:
    from duologue.conversations.files.quota import StorageQuota
    from duologue.storage.file_store import FileStore
    from duologue.store.blobs import BlobRows

UNUSED_MS = 3_600_000
"""How long an unreferenced file is kept: it may belong to a message that is still being written."""
REFUSED_MS, REFUSED_MOST = 60_000, 1000
"""How long the refusal of a file that has no thumbnail is repeated without reading the file again, and of how many files."""
MEASURABLE = 128 * 2**20
"""Bytes. The size of a larger picture is not determined at upload."""

_HASH = re.compile(r"[0-9a-f]{64}")


class FoundFile(NamedTuple):
    """A file of a temporary chat that another gateway has."""

    name: str
    mime: str
    pieces: AsyncIterator[bytes]


Elsewhere = Callable[[str], AbstractAsyncContextManager[FoundFile | None]]
"""Looks for the file of a hash at the other gateways, for the user of this task."""


class Blobs:
    """`limit`: bytes of one file; `now` gives milliseconds since 1970; with `folder` None all files are in memory.

    `temporary`: the rows of temporary chats. Without them, files of temporary chats are stored like all others. `quota` bounds
    the files of each user.
    """

    def __init__(
        self,
        files: FileStore | None,
        rows: BlobRows,
        *,
        limit: int,
        now: Callable[[], int],
        temporary: BlobRows | None = None,
        quota: StorageQuota | None = None,
    ) -> None:
        storage: BlobStorage = DurableStorage(files) if files is not None else MemoryStorage()
        self._is_shared = files is not None and files.is_shared
        self._durable = (storage, rows)
        self._temporary = (MemoryStorage(), temporary) if temporary is not None else self._durable
        self._limit = limit
        self._now = now
        self._quota = quota
        self._uploading: Counter[str] = Counter()
        self._removing: dict[str, anyio.Event] = {}
        self._refused: OrderedDict[str, tuple[int, str]] = OrderedDict()
        self.elsewhere: Elsewhere | None = None
        """Where other gateways have temporary chats of their own."""

    @classmethod
    def in_memory(cls, rows: BlobRows, *, limit: int, now: Callable[[], int]) -> Blobs:
        """A variant that writes nothing to disk."""
        return cls(None, rows, limit=limit, now=now)

    async def keep(
        self,
        user: str,
        content: AsyncIterator[bytes] | bytes,
        *,
        name: str = "",
        mime: str = "",
        temporary: bool = False,
    ) -> Blob:
        """Store a file. The type is detected from the content; `name` and `mime` only refine plain text.

        Raises TooLarge as soon as the limit is exceeded, or when it does not fit into the user's storage; Unavailable when the
        file cannot be written.
        """
        storage, rows = self._temporary if temporary else self._durable
        chunks = _once(content) if isinstance(content, bytes) else content
        async with (
            self._counted(user, chunks, temporary) as counted,
            storage.stage(counted, self._limit) as staged,
            self._room(user, staged, temporary),
        ):
            hash = staged.hash
            # The collector must not remove this file between its commit and its row.
            while (removal := self._removing.get(hash)) is not None:
                await removal.wait()
            self._uploading[hash] += 1
            try:
                await staged.commit()
                kind = await _kind(user, staged.head, name, mime)
                width, height, duration = await _measure(user, storage, kind, staged)
                blob = Blob(
                    hash=hash,
                    mime=kind,
                    size=staged.size,
                    name=_clean_name(name),
                    width=width,
                    height=height,
                    duration=duration,
                    created=self._now(),
                )
                kept = await rows.put(user, blob)
                if self._is_shared and not await _holds(storage, hash):
                    # Another gateway removed the file between its commit and its row. Now that the row exists, no gateway does.
                    await staged.commit()
                return kept
            finally:
                self._uploading[hash] -= 1
                self._uploading += Counter()  # drops the entries that are zero

    def _counted(
        self, user: str, chunks: AsyncIterator[bytes], temporary: bool
    ) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        if self._quota is None:
            return nullcontext(chunks)
        return self._quota.uploading(user, chunks, temporary=temporary)

    def _room(self, user: str, staged: StagedFile, temporary: bool) -> AbstractAsyncContextManager[None]:
        if self._quota is None:
            return nullcontext()
        return self._quota.room(user, staged.hash, staged.size, temporary=temporary)

    async def get(self, user: str, hash: str) -> Blob:
        """The metadata of a file of this user. Raises NotFound, also for another user's file."""
        if not _HASH.fullmatch(hash):
            raise _not_found()
        for _, rows in self._both():
            try:
                return await rows.get(user, hash)
            except NotFound:
                continue
        return await self._from_elsewhere(user, hash)

    async def _from_elsewhere(self, user: str, hash: str) -> Blob:
        """A file of a temporary chat that another gateway received; from now on it is kept here too. Raises NotFound, and what `keep` raises."""
        if self.elsewhere is not None:
            async with self.elsewhere(hash) as found:
                if found is not None:
                    kept = await self.keep(
                        user, found.pieces, name=found.name, mime=found.mime, temporary=True
                    )
                    if kept.hash == hash:
                        return kept
        raise _not_found()

    async def available(self, user: str, hash: str, *, temporary: bool) -> Blob:
        """A file of this user, copied first if this kind of chat has its files in the other storage.

        Raises NotFound, also for another user's file.
        """
        blob = await self.get(user, hash)
        storage, rows = self._temporary if temporary else self._durable
        try:
            known = await rows.get(user, hash)
            await storage.size(hash)
        except NotFound:
            pieces = self.pieces(hash, 0, blob.size)
            return await self.keep(user, pieces, name=blob.name, mime=blob.mime, temporary=temporary)
        return known

    async def is_temporary(self, hash: str) -> bool:
        """Whether the file belongs to a temporary chat."""
        return self._temporary is not self._durable and await _holds(self._temporary[0], hash)

    async def size(self, hash: str) -> int:
        """Bytes. Raises NotFound."""
        return await (await self._storage(hash)).size(hash)

    async def read(self, hash: str) -> bytes:
        """The whole file. Raises NotFound."""
        return await (await self._storage(hash)).read(hash)

    async def source(self, hash: str) -> bytes | Path:
        """What a decoder process reads the file from. Raises NotFound."""
        return await (await self._storage(hash)).source(hash)

    async def pieces(self, hash: str, start: int, end: int) -> AsyncIterator[bytes]:
        """The bytes from `start` up to `end`, a megabyte at a time. Raises NotFound."""
        async for piece in (await self._storage(hash)).pieces(hash, start, end):
            yield piece

    async def thumbnail(self, hash: str, side: int, *, user: str = "") -> bytes:
        """A WebP that fits into a square of about `side` pixels: of a picture, or of a PDF's first page. `user` asks for it.

        Raises NotFound for every other type of file, and for a file that cannot be decoded.
        """
        side = next((known for known in SIDES if known >= side), SIDES[-1])
        storage = await self._storage(hash)
        thumbnail = await storage.thumbnail(hash, side)
        if thumbnail is None:
            until, sentence = self._refused.get(hash, (0, ""))
            if self._now() < until:
                raise NotFound(sentence, code="no_thumbnail")
            try:
                thumbnail = await _draw(user, storage, hash, side)
            except Problem as problem:
                if isinstance(problem, NotFound) or problem.status >= 429:
                    raise
                self._refused[hash] = (self._now() + REFUSED_MS, problem.message)
                if len(self._refused) > REFUSED_MOST:
                    self._refused.popitem(last=False)
                raise NotFound(problem.message, code="no_thumbnail") from None
            await storage.keep_thumbnail(hash, side, thumbnail)
        return thumbnail

    async def collect(self) -> int:
        """Remove the files that have been unreferenced for an hour. Returns their number. Called by `retention.py`."""
        removed = 0
        for storage, rows in self._both():
            await storage.sweep(self._now() - UNUSED_MS)
            for hash in await rows.unreferenced(UNUSED_MS):
                if hash in self._uploading or hash in self._removing:
                    continue
                self._removing[hash] = anyio.Event()
                try:
                    removed += await self._remove(storage, rows, hash)
                finally:
                    self._removing.pop(hash).set()
        return removed

    async def _remove(self, storage: BlobStorage, rows: BlobRows, hash: str) -> bool:
        if self._is_shared and rows is self._durable[1]:
            # Within the transaction: until it ends, other gateways cannot add a row for the same file.
            async with rows.dropping(hash, UNUSED_MS) as is_dropped:
                if is_dropped:
                    await storage.remove(hash)
            return is_dropped
        # The row first: a file without a row only wastes space, but a row without a file is a broken message.
        if is_dropped := await rows.drop(hash, UNUSED_MS):
            await storage.remove(hash)
        return is_dropped

    async def _storage(self, hash: str) -> BlobStorage:
        if not _HASH.fullmatch(hash):
            raise _not_found()
        return self._temporary[0] if await self.is_temporary(hash) else self._durable[0]

    def _both(self) -> tuple[tuple[BlobStorage, BlobRows], ...]:
        return (self._durable,) if self._temporary is self._durable else (self._temporary, self._durable)


async def _kind(user: str, head: bytes, name: str = "", mime: str = "") -> str:
    """The media type of a file. One whose encoding cannot be guessed is no text."""
    kind = sniff.quick_kind(head, name, mime)
    if kind is not None:
        return kind
    try:
        return await decode(sniff.kind, head, name, mime, user=user)
    except Problem as problem:
        if problem.status >= 429:
            raise
        return sniff.BINARY


async def _measure(user: str, storage: BlobStorage, kind: str, staged: StagedFile) -> tuple[int, int, int]:
    """Width, height (pixels) and duration (ms), 0 where they do not apply. An unreadable file has none, and is stored anyway."""
    if kind == "audio/wav":
        return 0, 0, wav.duration(staged.head, staged.size)
    if sniff.family(kind) == "image" and staged.size <= MEASURABLE:
        try:
            _, width, height = await decode(images.inspect, await storage.source(staged.hash), user=user)
        except Problem as problem:
            if problem.status >= 429:
                raise
        else:
            return width, height, 0
    return 0, 0, 0


async def _draw(user: str, storage: BlobStorage, hash: str, side: int) -> bytes:
    family = sniff.family(await _kind(user, await storage.read(hash, 0, HEAD)))
    if family not in ("image", "pdf"):
        raise NotFound("There is no picture of this file.", code="no_thumbnail")
    draw = documents.thumbnail if family == "pdf" else images.thumbnail
    return (await decode(draw, await storage.source(hash), side, user=user)).data


async def _holds(storage: BlobStorage, hash: str) -> bool:
    try:
        await storage.size(hash)
    except NotFound:
        return False
    return True


async def _once(data: bytes) -> AsyncIterator[bytes]:
    yield data


def _clean_name(name: str) -> str:
    """A file name without folders and invisible characters, at most 200 characters with its extension."""
    name = "".join(character for character in name if character.isprintable())
    name = name.replace("\\", "/").rpartition("/")[2].strip()
    if len(name) <= 200:
        return name
    stem, dot, ending = name.rpartition(".")
    return f"{stem[: 199 - len(ending)]}.{ending}" if dot and len(ending) < 20 else name[:200]


def _not_found() -> NotFound:
    return NotFound("There is no such file.", code="blob_not_found")
