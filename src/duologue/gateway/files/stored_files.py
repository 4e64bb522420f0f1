"""The files that clients of the API store: received, read, deleted, and removed when they expire.

Owns their rows, how much one user may have, and what becomes of what was cut off; `storage` has the bytes, each file under its id.
`file_routes` is the API; requests that name a file by its id (`media/references`) and batches read them here.
"""

from __future__ import annotations

import logging
import os
import secrets
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeVar

import anyio
import anyio.abc
from msgspec import Struct

from duologue.config.sections.batches import FileSettings
from duologue.errors import NotFound, Problem, TooLarge, Unavailable
from duologue.gateway.middleware import byte_ledger
from duologue.storage.file_store import FileStore
from duologue.storage.folder_access import in_folder
from duologue.threads import disk_cleanup, disk_io
from duologue.values.batches.stored_batch import FilePurpose, StoredFile

if TYPE_CHECKING:
    from duologue.store.batches.file_rows import FileRows

T = TypeVar("T")
log = logging.getLogger(__name__)

GIGABYTE = 10**9
PIECE = 2**20
"""Bytes that are read or written at a time."""
DAY_MS = 24 * 3_600_000
ROUND_S = 600.0
"""Seconds between two rounds over files whose time is over."""
LEFT_MS = DAY_MS
"""Where gateways share files: after so long without a row, a file was left behind and is not one that is just being stored."""
LONGEST_NAME = 255
PRIVATE_FILE, PRIVATE_FOLDER = 0o600, 0o700


class ArrivedFile(Struct, frozen=True):
    """A file that has arrived whole. It is dropped unless it is kept."""

    path: Path
    size: int


class StoredFiles:
    """`run` serves until cancelled; before that there are no files. `limit_mb`: the largest file; `now` gives milliseconds since 1970."""

    def __init__(
        self, settings: FileSettings, files: FileStore, *, limit_mb: int, now: Callable[[], int]
    ) -> None:
        self._settings, self._files, self._limit_mb, self._now = settings, files, limit_mb, now
        self._rows: FileRows | None = None
        self._held: Counter[str] = Counter()
        self._arriving: Counter[str] = Counter()
        self.in_use: Callable[[], set[str]] = set
        """The ids of files that must stay: the inputs of batches."""

    @property
    def rows(self) -> FileRows:
        if self._rows is None:
            raise Unavailable("The server is starting. Try again in a moment.")
        return self._rows

    async def run(
        self, rows: FileRows, *, task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED
    ) -> None:
        """Serve until cancelled."""
        self._rows = rows
        await self._sweep()
        task_status.started()
        while True:
            await self.remove_expired()
            await anyio.sleep(ROUND_S)

    # ---- receiving

    @asynccontextmanager
    async def receiving(self, user: str, chunks: AsyncIterator[bytes]) -> AsyncIterator[ArrivedFile]:
        """A file, written as it arrives; `keep` it before the context is left. Raises TooLarge, Unavailable."""
        before = self._arriving[user]
        self._arriving[user] += 1
        path = self._files.incoming / secrets.token_hex(16)
        size = 0
        try:
            # Those that arrive are counted too: each will be a file, and none of them has a row yet.
            if before + await self.rows.count(user) >= self._settings.per_user:
                raise TooLarge(
                    f"You have {self._settings.per_user:,} stored files, as many as one user may have (setting files.per_user). "
                    "Delete some first.",
                    code="storage_full",
                )
            used = await self.rows.usage(user)
            file = await self._do(_create, path)
            try:
                async for piece in _pieces(chunks):
                    size += len(piece)
                    self.hold(user, len(piece))
                    if size > self._limit_mb * 2**20:
                        raise TooLarge(
                            f"The file is larger than {self._limit_mb} MB; the setting limits.blob_mb raises the limit."
                        )
                    if used + self._held[user] > self._quota:
                        raise self._full(used)
                    await self._do(file.write, piece)
                await self._do(_synced, file)
            finally:
                with anyio.CancelScope(shield=True):
                    await disk_cleanup(_closed, file)
            yield ArrivedFile(path, size)
        finally:
            self._arriving[user] -= 1
            self._arriving += Counter()  # drops the entries that are zero
            self.hold(user, -size)
            with anyio.CancelScope(shield=True):
                await disk_cleanup(_remove, path)

    async def keep(
        self, user: str, arrived: ArrivedFile, *, purpose: FilePurpose, name: str, seconds: int | None = None
    ) -> StoredFile:
        """Store a file that has arrived, for `seconds`, or as long as the settings say. Raises TooLarge, Unavailable."""
        used = await self.rows.usage(user)
        if used + self._held[user] > self._quota:
            raise self._full(used)
        file = self._row(new_file_id(), user, purpose, name, arrived.size, seconds)
        # The file first: a row without one would be a broken promise. What has no row goes at the next start.
        await self._files.put(file.id, arrived.path)
        await self.rows.add(file)
        return file

    async def adopt(self, id: str, user: str, path: Path, *, name: str, seconds: int | None) -> None:
        """Store the results of a batch, which were written to `path`, under this id. It may be repeated after a crash at any point: the
        row comes first, and the sweep at a start removes no file with a row. Raises NotFound where there is neither."""
        if await self._do(path.exists):
            size = (await self._do(path.stat)).st_size
            await self.rows.add(self._row(id, user, "batch_output", name, size, seconds))
            await self._files.put(id, path)
            return
        await self.rows.get(user, id)

    def _row(
        self, id: str, user: str, purpose: FilePurpose, name: str, size: int, seconds: int | None
    ) -> StoredFile:
        now = self._now()
        keep_ms = 0
        if seconds:
            keep_ms = seconds * 1000
        elif purpose in ("batch", "batch_output"):
            keep_ms = round(self._settings.batch_days * DAY_MS)
        return StoredFile(id, user, purpose, _clean_name(name), size, now, now + keep_ms if keep_ms else 0)

    # ---- how much

    def hold(self, user: str, size: int) -> None:
        """Count bytes of files that are still being written for this user, or no more."""
        self._held[user] += size
        self._held += Counter()  # drops the entries that are zero

    async def is_full(self, user: str) -> bool:
        """Whether this user's files, and those being written, take all that they may."""
        return await self.rows.usage(user) + self._held[user] >= self._quota

    @property
    def _quota(self) -> int:
        return round(self._settings.user_gb * GIGABYTE)

    def _full(self, used: int) -> TooLarge:
        return TooLarge(
            f"Your stored files take {used / GIGABYTE:.3g} GB of {self._settings.user_gb:g} GB, so this one does not fit. "
            "Delete some, or raise files.user_gb.",
            code="storage_full",
        )

    # ---- what there is

    async def source(self, id: str) -> Path:
        """The file on a disk of this machine, to be opened at once. `id` comes from a row. Raises NotFound, Unavailable."""
        return await self._files.source(id)

    async def get(self, user: str, id: str) -> StoredFile:
        """Raises NotFound, also for another user's."""
        return await self.rows.get(user, id)

    async def read(self, user: str, id: str, most: int) -> tuple[str, bytes]:
        """The name and the bytes of a file, which count for what its user has in flight. Raises NotFound, TooLarge for one of more than `most`
        bytes, and Busy."""
        file = await self.get(user, id)
        if file.size > most:
            raise TooLarge(
                "The stored files of one request may have limits.body_mb together, as if they were in it; this one is too large."
            )
        byte_ledger.count(file.size)
        return file.name, await self._files.read(id)

    @asynccontextmanager
    async def opened(self, file: StoredFile) -> AsyncIterator[AsyncIterator[bytes]]:
        """The bytes, a megabyte at a time; whole even where the file is deleted meanwhile, except in object storage. Raises NotFound,
        Unavailable."""
        path = self._files.path(file.id)
        if path is None:
            self._check_size(file, await self._files.size(file.id))
            yield self._files.pieces(file.id, 0, file.size)
            return
        handle = await self._do(_opened, path)
        try:
            self._check_size(file, (await self._do(os.fstat, handle.fileno())).st_size)
            yield self._read(handle)
        finally:
            with anyio.CancelScope(shield=True):
                await disk_cleanup(_closed, handle)

    def _check_size(self, file: StoredFile, size: int) -> None:
        if size != file.size:
            raise Unavailable(
                f"The file has {size:,} of its {file.size:,} bytes: the disk has lost the others. Store it again.",
                code="storage_unavailable",
            )

    async def _read(self, handle: BinaryIO) -> AsyncIterator[bytes]:
        while piece := await self._do(handle.read, PIECE):
            yield piece

    async def delete(self, user: str, id: str) -> None:
        """Raises NotFound; Problem (`file_in_use`) where a batch still reads it."""
        file = await self.get(user, id)
        if file.id in self.in_use():
            raise Problem(
                "A batch is reading this file. Cancel the batch first, or wait for its end.",
                code="file_in_use",
                status=409,
            )
        await self._remove(file)

    async def _remove(self, file: StoredFile) -> None:
        await self.rows.delete(file.id)
        try:
            await self._files.delete(file.id)
        except Problem as problem:
            # It has no row any more: the next start removes it.
            log.warning("the file %s was not removed: %s", file.id, problem.message)

    # ---- deletion and expiry

    async def remove_expired(self) -> None:
        """Delete the files whose time is over. Failures are logged and tried again in the next round."""
        try:
            for file in await self.rows.expired(without=self.in_use()):
                await self._remove(file)
        except Problem as problem:
            log.warning("a round over the stored files was put off: %s", problem.message)

    async def _sweep(self) -> None:
        """Remove what uploads and deletions that were cut off left behind."""
        try:
            before = self._now() - LEFT_MS if self._files.is_shared else None
            await disk_io(_sweep, self._files.incoming, before)
            # Listed before the rows are read, and old: another gateway may just be storing one.
            found = [entry async for entry in self._files.entries() if entry.name.startswith("file-")]
            known = await self.rows.ids()
            for entry in found:
                if entry.name not in known and (before is None or entry.modified < before):
                    await self._files.delete(entry.name)
        except (Problem, OSError) as error:
            log.warning("the stored files were not looked through: %s", error)

    async def _do(
        self, function: Callable[..., T], *args: object, run: Callable[..., Awaitable[T]] = disk_io
    ) -> T:
        missing = NotFound("The file no longer exists.", code="file_not_found")
        return await in_folder(self._files.incoming.parent, missing, function, *args, run=run)


def new_file_id() -> str:
    """An id that nobody guesses; it is no key either: the owner is checked all the same."""
    return f"file-{secrets.token_hex(16)}"


async def _pieces(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The chunks, joined where they are small."""
    waiting = bytearray()
    async for chunk in chunks:
        waiting += chunk
        if len(waiting) >= PIECE:
            yield bytes(waiting)
            waiting.clear()
    if waiting:
        yield bytes(waiting)


def _clean_name(name: str) -> str:
    """A file's name without folders and invisible characters."""
    name = "".join(character for character in name if character.isprintable())
    return name.replace("\\", "/").rpartition("/")[2].strip()[:LONGEST_NAME] or "file"


def _create(path: Path) -> BinaryIO:
    path.parent.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_FILE), "wb")


def _opened(path: Path) -> BinaryIO:
    return path.open("rb")


def _synced(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


def _closed(file: BinaryIO) -> None:
    with suppress(OSError):
        # Closing writes what is still buffered, which fails on a full disk.
        file.close()


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink(missing_ok=True)


def _sweep(incoming: Path, before: int | None) -> None:
    """Remove what is half written: all of it, or what is older than `before`."""
    if incoming.is_dir():
        for path in incoming.iterdir():
            with suppress(FileNotFoundError):
                if before is None or path.stat().st_mtime * 1000 < before:
                    _remove(path)
