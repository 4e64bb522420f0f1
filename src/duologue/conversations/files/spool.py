"""Uploads that are kept on disk only while they are read: files of conversations to import.

Used by `api/import_export.py`. A body is written as it arrives, so that the server never holds it in memory. The file is
removed when its context is left; those of a server that was killed are removed when the next one starts.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import BinaryIO

import anyio

from duologue.errors import Busy, TooLarge, Unavailable
from duologue.threads import disk_cleanup, disk_io

PIECE = 2**20
"""Bytes written at a time."""
UPLOADS_PER_USER = 2
"""Uploads of one user that are on the disk at a time: one that is read, and the next."""


class Spool:
    """Files in `folder`, which belongs to this server alone."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._uploads: Counter[str] = Counter()

    async def sweep(self) -> None:
        """Remove what an earlier server left behind. Call it before the first upload."""
        await disk_io(self._sweep)

    @asynccontextmanager
    async def received(
        self, user: str, chunks: AsyncIterator[bytes], limit_mb: int, setting: str
    ) -> AsyncIterator[Path]:
        """The file of an upload, for the length of the context. Raises Busy where the user has others already; TooLarge as
        soon as it has more than `limit_mb` megabytes, naming the setting that raises the limit; Unavailable when it cannot be
        written."""
        if self._uploads[user] >= UPLOADS_PER_USER:
            raise Busy(
                f"{UPLOADS_PER_USER} imports of yours are running. Wait until one has ended.",
                code="import_running",
            )
        self._uploads[user] += 1
        path = self._folder / secrets.token_hex(16)
        try:
            await self._write(path, chunks, limit_mb, setting)
            yield path
        finally:
            with anyio.CancelScope(shield=True):
                await disk_cleanup(_remove, path)
            self._uploads[user] -= 1
            self._uploads += Counter()  # drops the entries that are zero

    async def _write(self, path: Path, chunks: AsyncIterator[bytes], limit_mb: int, setting: str) -> None:
        size = 0
        waiting = bytearray()
        try:
            file = await disk_io(self._create, path)
            try:
                async for chunk in chunks:
                    size += len(chunk)
                    if size > limit_mb * 2**20:
                        raise TooLarge(
                            f"The file is larger than {limit_mb} MB; the setting {setting} raises the limit."
                        )
                    waiting += chunk
                    if len(waiting) >= PIECE:
                        await disk_io(file.write, bytes(waiting))
                        waiting.clear()
                await disk_io(file.write, bytes(waiting))
            finally:
                with anyio.CancelScope(shield=True):
                    await disk_cleanup(file.close)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise Unavailable(
                f"The folder {self._folder} cannot be used: {reason}. Check its free space and permissions.",
                code="storage_unavailable",
            ) from None

    def _create(self, path: Path) -> BinaryIO:
        self._folder.mkdir(parents=True, exist_ok=True)
        return path.open("xb")

    def _sweep(self) -> None:
        with suppress(OSError):
            for path in self._folder.iterdir():
                _remove(path)


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink(missing_ok=True)
