"""The storage that the settings choose: the data folder, a shared folder, or object storage."""

from __future__ import annotations

from pathlib import Path

from duologue.config.machines.storage import StorageSettings
from duologue.errors import NotFound, StartFailed
from duologue.storage.file_store import FileStorage, FileStore
from duologue.storage.folder_store import FolderStorage

BLOBS, FILES, RECORDINGS, UPLOADS = "blobs", "files", "recordings", "uploads"
"""The kinds of files, which are the folders of the data folder and the beginnings of objects' names."""


def file_storage(settings: StorageSettings, data: Path) -> FileStorage:
    """Where files are kept. Raises StartFailed for settings that cannot be right; `check` tells whether the place can be used."""
    if settings.s3.bucket:
        if settings.folder is not None:
            raise StartFailed(
                "Files can be in storage.folder or in storage.s3, not in both. Remove one of them."
            )
        from duologue.storage.object_store import ObjectStorage

        return ObjectStorage(settings.s3, data)
    if settings.folder is not None:
        return FolderStorage(settings.folder, is_shared=True)
    return FolderStorage(data)


def blob_store(storage: FileStorage) -> FileStore:
    """The files of conversations, each under the hash of its content."""
    return storage.section(BLOBS, NotFound("The file no longer exists.", code="blob_not_found"))


def upload_store(storage: FileStorage) -> FileStore:
    """What has arrived of uploads in pieces, where gateways share their files."""
    return storage.section(
        UPLOADS, NotFound("The upload no longer exists. Begin again.", code="upload_not_found")
    )


def stored_file_store(storage: FileStorage) -> FileStore:
    """The files of API clients, each under its id."""
    return storage.section(FILES, NotFound("The file no longer exists.", code="file_not_found"))


def recording_store(storage: FileStorage) -> FileStore:
    """The files of recordings that have ended, each in the folder of its recording."""
    return storage.section(
        RECORDINGS, NotFound("This recording has lost its files.", code="nothing_recorded")
    )
