"""How much storage a user's files may take, on the disk and, for temporary chats, in memory.

Owns the sentence for a file that does not fit. What counts are the files a user has stored: uploads, files of imports, results
of tools, and what was made from them for a model, such as the pages of a document. A file that several users have stored is
stored once and counts for each. `blobs` asks before it keeps a file; `GET /api/storage` shows the same figures.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from msgspec import Struct

from duologue.errors import Busy, TooLarge

if TYPE_CHECKING:
    from duologue.store.blobs import BlobRows

KILOBYTE, MEGABYTE, GIGABYTE = 10**3, 10**6, 10**9
"""As disks are measured, and as the page shows it."""


class StorageUse(Struct, frozen=True):
    """The bytes a user's files take and may take; `temporary` is about the files of temporary chats, in memory."""

    used: int
    limit: int
    temporary_used: int
    temporary_limit: int


class StorageQuota:
    """`limit` and `temporary_limit`: bytes of each user's files on the disk and in memory."""

    def __init__(self, durable: BlobRows, temporary: BlobRows, *, limit: int, temporary_limit: int) -> None:
        self._durable = (durable, limit)
        self._temporary = (temporary, temporary_limit)
        self._arriving: Counter[tuple[str, bool]] = Counter()
        self._uploading: Counter[tuple[str, bool]] = Counter()

    async def use(self, user: str) -> StorageUse:
        """What this user has stored."""
        (durable, limit), (temporary, temporary_limit) = self._durable, self._temporary
        return StorageUse(await durable.usage(user), limit, await temporary.usage(user), temporary_limit)

    @asynccontextmanager
    async def uploading(
        self, user: str, chunks: AsyncIterator[bytes], *, temporary: bool = False
    ) -> AsyncIterator[AsyncIterator[bytes]]:
        """The chunks of an upload, which takes room while it arrives and until it is stored or dropped. They raise Busy
        (`too_much_in_flight`) where the user's uploads together would exceed the limit, and TooLarge where this one does."""
        limit = (self._temporary if temporary else self._durable)[1]
        key, size = (user, temporary), 0

        async def counted() -> AsyncIterator[bytes]:
            nonlocal size
            async for chunk in chunks:
                size += len(chunk)
                self._uploading[key] += len(chunk)
                if size > limit:
                    raise _full(0, size, limit, temporary=temporary)
                if self._uploading[key] > limit:
                    raise _too_much(limit)
                yield chunk

        try:
            yield counted()
        finally:
            self._uploading[key] -= size
            self._uploading += Counter()  # drops the entries that are zero

    def check_unfinished(self, size: int, held: int) -> None:
        """Room for an upload of so many bytes beside `held` bytes of the user's other unfinished ones. Raises as `uploading`. Whether
        the file fits beside the user's files is known at its end: one that the user has already needs no room."""
        limit = self._durable[1]
        if size > limit:
            raise _full(0, size, limit, temporary=False)
        if held + size > limit:
            raise _too_much(limit)

    @asynccontextmanager
    async def room(self, user: str, hash: str, size: int, *, temporary: bool) -> AsyncIterator[None]:
        """Room for one more file, until its row is stored. Raises TooLarge (`storage_full`). A file that the user has already
        needs none."""
        rows, limit = self._temporary if temporary else self._durable
        key = (user, temporary)
        # Counted before the store is asked: of several files that arrive together, too few fit rather than too many.
        self._arriving[key] += size
        try:
            used = await rows.usage(user, without=hash)
            if used + self._arriving[key] > limit:
                raise _full(used, size, limit, temporary=temporary)
            yield
        finally:
            self._arriving[key] -= size
            self._arriving += Counter()  # drops the entries that are zero


def _too_much(limit: int) -> Busy:
    return Busy(
        f"Your uploads that are arriving have more than {_amount(limit)} together. Wait for some of them.",
        code="too_much_in_flight",
    )


def _full(used: int, size: int, limit: int, *, temporary: bool) -> TooLarge:
    if temporary:
        sentence = (
            f"Your temporary chats have {_amount(used)} of files in the server's memory, and {_amount(limit)} is the limit, so "
            f"{_amount(size)} more do not fit. Delete a temporary chat, use a stored one, or raise limits.temporary_mb."
        )
    else:
        sentence = (
            f"Your files take {_amount(used)} of your {_amount(limit)} on this server, so {_amount(size)} more do not fit. Delete "
            "chats with large files, whose space is free again an hour or so later, or raise limits.storage_gb."
        )
    return TooLarge(sentence, code="storage_full")


def _amount(size: int) -> str:
    for unit, name in ((GIGABYTE, "GB"), (MEGABYTE, "MB"), (KILOBYTE, "kB")):
        if size >= unit:
            return f"{size / unit:.3g} {name}" if size < 1000 * unit else f"{size / unit:,.0f} {name}"
    return f"{size} bytes"
