"""Users' files for commands, wherever the settings keep them. Used by `backup` and `storage`.

Commands are synchronous: each question to a shared folder or to object storage is a short run of an event loop.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from duologue.errors import NotFound, Problem, StartFailed
from duologue.store.backup.archive import BackedUpFiles, FolderFiles

if TYPE_CHECKING:
    from duologue.config import Settings
    from duologue.storage.file_store import FileStore

COPIES = "copies/backup"
"""The folder below the data folder for objects that are being read or written."""


def backed_up_files(settings: Settings) -> BackedUpFiles:
    """The files that backups contain. Raises StartFailed where they cannot be reached."""
    import anyio

    from duologue.storage.opening import BLOBS, blob_store, file_storage

    # Copies of its own: a server that runs may be reading those of the data folder.
    storage = file_storage(
        settings.storage, settings.data if not settings.storage.s3.bucket else settings.data / COPIES
    )
    anyio.run(storage.check)
    if settings.storage.s3.bucket:
        return ObjectFiles(blob_store(storage))
    return FolderFiles((settings.storage.folder or settings.data) / BLOBS)


class ObjectFiles(BackedUpFiles):
    """Files in object storage; each is on the disk only while it is read or written."""

    def __init__(self, files: FileStore) -> None:
        self._files = files

    @contextmanager
    def opened(self, hash: str) -> Iterator[Path | None]:
        import anyio

        try:
            path = anyio.run(self._files.source, _name(hash))
        except NotFound:
            yield None
            return
        except Problem as problem:
            raise StartFailed(problem.message) from problem
        try:
            yield path
        finally:
            path.unlink(missing_ok=True)

    def keep(self, hash: str, file: Path) -> None:
        import anyio

        try:
            anyio.run(self._files.put, _name(hash), file)
        except Problem as problem:
            raise StartFailed(problem.message) from problem

    def has(self, hash: str) -> bool:
        import anyio

        try:
            anyio.run(self._files.size, _name(hash))
        except NotFound:
            return False
        except Problem as problem:
            raise StartFailed(problem.message) from problem
        return True


def _name(hash: str) -> str:
    return f"{hash[:2]}/{hash}"
