"""Files users attach, kept once whatever their number of users, under the hash of what they hold.

Owns the way of a file from upload to collection: what kind it is, how large, whose. The bytes are in a `BlobStorage`, the
rows in the store. Knows no message and no model. Files of temporary chats lie in memory, beside the others.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Protocol

import anyio

from duologue.conversations.files.blob_storage import HEAD, PIECE, BlobStorage, DiskStorage, MemoryStorage
from duologue.errors import NotFound, Problem
from duologue.media import documents, images, sniff, wav
from duologue.media.decoding import decode, decode_alone
from duologue.values.conversations import Blob

SIDES = (64, 128, 256, 512, 1024)
"""Thumbnails are made in these sizes only (pixels): each is a file of its own."""
UNUSED_MS = 3_600_000
"""A file that nothing refers to stays so long: it may be in a message that is still being written."""
MEASURED = 128 * 2**20
"""Bytes: a picture file larger than that is not looked into when it comes."""

_HASH = re.compile(r"[0-9a-f]{64}")


class BlobRows(Protocol):
    """`store.blobs.BlobRows`: which files there are, and whose."""

    async def put(self, user: str, blob: Blob) -> Blob: ...
    async def get(self, user: str, hash: str) -> Blob: ...
    async def unreferenced(self, older_than_ms: int) -> Sequence[str]: ...
    async def drop(self, hash: str, older_than_ms: int = 0) -> bool:
        """Forget a file if nothing refers to it still; False where something does."""


class Blobs:
    """`limit` is bytes of one file; `now` gives milliseconds since 1970. `folder` None keeps nothing on disk.

    `temporary` are the rows of temporary chats; without them such chats keep their files as all others do.
    """

    def __init__(
        self,
        folder: Path | None,
        rows: BlobRows,
        *,
        limit: int,
        now: Callable[[], int],
        temporary: BlobRows | None = None,
    ) -> None:
        place: BlobStorage = DiskStorage(folder) if folder is not None else MemoryStorage()
        self._lasting = (place, rows)
        self._passing = (MemoryStorage(), temporary) if temporary is not None else self._lasting
        self._limit = limit
        self._now = now
        self._arriving: Counter[str] = Counter()
        self._going: dict[str, anyio.Event] = {}

    @classmethod
    def in_memory(cls, rows: BlobRows, *, limit: int, now: Callable[[], int]) -> Blobs:
        """A variant of which nothing is written."""
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
        """Keep a file. The kind is told by the content; `name` and `mime` only refine plain text.

        Raises TooLarge as soon as more than the limit has come, Unavailable when it cannot be written.
        """
        place, rows = self._passing if temporary else self._lasting
        chunks = _once(content) if isinstance(content, bytes) else content
        async with place.arriving(chunks, self._limit) as arrival:
            hash = arrival.hash
            while (going := self._going.get(hash)) is not None:
                await going.wait()
            self._arriving[hash] += 1
            try:
                await arrival.settle()
                kind = await decode(sniff.kind, arrival.head, name, mime)
                width, height, duration = await _measured(place, hash, kind, arrival.head, arrival.size)
                blob = Blob(
                    hash=hash,
                    mime=kind,
                    size=arrival.size,
                    name=_tidy(name),
                    width=width,
                    height=height,
                    duration=duration,
                    created=self._now(),
                )
                return await rows.put(user, blob)
            finally:
                self._arriving[hash] -= 1
                self._arriving += Counter()  # forgets the zeros

    async def get(self, user: str, hash: str) -> Blob:
        """What is known of a file of this user. Raises NotFound, for another user's too."""
        if not _HASH.fullmatch(hash):
            raise _unknown()
        for _, rows in self._both():
            try:
                return await rows.get(user, hash)
            except NotFound:
                continue
        raise _unknown()

    async def brought(self, user: str, hash: str, *, temporary: bool) -> Blob:
        """A file of this user, copied to where this kind of chat keeps its files if it is not there yet.

        Raises NotFound, for another user's too.
        """
        blob = await self.get(user, hash)
        place, rows = self._passing if temporary else self._lasting
        try:
            known = await rows.get(user, hash)
            await place.size(hash)
        except NotFound:
            pieces = self.pieces(hash, 0, blob.size)
            return await self.keep(user, pieces, name=blob.name, mime=blob.mime, temporary=temporary)
        return known

    async def is_temporary(self, hash: str) -> bool:
        """Whether the file is in the memory of temporary chats."""
        return self._passing is not self._lasting and await _holds(self._passing[0], hash)

    async def size(self, hash: str) -> int:
        """Bytes. Raises NotFound."""
        return await (await self._place(hash)).size(hash)

    async def read(self, hash: str) -> bytes:
        """The whole file. Raises NotFound."""
        return await (await self._place(hash)).read(hash)

    async def pieces(self, hash: str, start: int, end: int) -> AsyncIterator[bytes]:
        """The bytes from `start` up to `end`, a megabyte at a time. Raises NotFound."""
        place = await self._place(hash)
        while start < end:
            piece = await place.read(hash, start, min(PIECE, end - start))
            if not piece:
                return
            start += len(piece)
            yield piece

    async def thumbnail(self, hash: str, side: int) -> bytes:
        """A WebP that fits into a square of about `side` pixels: of a picture, or of a PDF's first page.

        Raises NotFound for every other kind, and for what cannot be drawn.
        """
        side = next((known for known in SIDES if known >= side), SIDES[-1])
        place = await self._place(hash)
        made = await place.thumbnail(hash, side)
        if made is None:
            try:
                made = await self._drawn(place, hash, side)
            except Problem as problem:
                if isinstance(problem, NotFound) or problem.status >= 429:
                    raise
                raise NotFound(problem.message, code="no_thumbnail") from None
            await place.keep_thumbnail(hash, side, made)
        return made

    async def collect(self) -> int:
        """Remove what nothing has referred to for an hour. Gives the number of files; housekeeping calls it."""
        gone = 0
        for place, rows in self._both():
            await place.sweep(self._now() - UNUSED_MS)
            for hash in await rows.unreferenced(UNUSED_MS):
                if hash in self._arriving or hash in self._going:
                    continue
                self._going[hash] = anyio.Event()
                try:
                    # The row first: a file without a row is only space, a row without a file is a broken message.
                    if await rows.drop(hash, UNUSED_MS):
                        await place.remove(hash)
                        gone += 1
                finally:
                    self._going.pop(hash).set()
        return gone

    async def _drawn(self, place: BlobStorage, hash: str, side: int) -> bytes:
        head = await place.read(hash, 0, HEAD)
        family = sniff.family(await decode(sniff.kind, head))
        if family not in ("image", "pdf"):
            raise NotFound("There is no picture of this file.", code="no_thumbnail")
        data = await place.read(hash)
        if family == "pdf":
            data = (await decode_alone(documents.page, data, 0, 1.0)).data
        return (await decode(images.thumbnail, data, side)).data

    async def _place(self, hash: str) -> BlobStorage:
        if not _HASH.fullmatch(hash):
            raise _unknown()
        return self._passing[0] if await self.is_temporary(hash) else self._lasting[0]

    def _both(self) -> tuple[tuple[BlobStorage, BlobRows], ...]:
        return (self._lasting,) if self._passing is self._lasting else (self._passing, self._lasting)


async def _measured(place: BlobStorage, hash: str, kind: str, head: bytes, size: int) -> tuple[int, int, int]:
    """Width, height (pixels) and duration (ms) of what has them; a file nobody can read has none, and is kept."""
    if kind == "audio/wav":
        return 0, 0, wav.duration(head, size)
    if sniff.family(kind) == "image" and size <= MEASURED:
        data = head if size <= len(head) else await place.read(hash)
        try:
            _, width, height = await decode(images.inspect, data)
        except Problem as problem:
            if problem.status >= 429:
                raise
        else:
            return width, height, 0
    return 0, 0, 0


async def _holds(place: BlobStorage, hash: str) -> bool:
    try:
        await place.size(hash)
    except NotFound:
        return False
    return True


async def _once(data: bytes) -> AsyncIterator[bytes]:
    yield data


def _tidy(name: str) -> str:
    """A file's own name: no folders, nothing invisible, at most 200 characters with its ending."""
    name = "".join(character for character in name if character.isprintable())
    name = name.replace("\\", "/").rpartition("/")[2].strip()
    if len(name) <= 200:
        return name
    stem, dot, ending = name.rpartition(".")
    return f"{stem[: 199 - len(ending)]}.{ending}" if dot and len(ending) < 20 else name[:200]


def _unknown() -> NotFound:
    return NotFound("There is no such file.", code="blob_not_found")
