"""Users' files in folders of a test."""

from __future__ import annotations

from pathlib import Path

from duologue.gateway.files.stored_files import StoredFiles
from duologue.gateway.recordings.recording_archive import RecordingArchive
from duologue.storage.file_store import FileStore
from duologue.storage.folder_store import FolderStorage
from duologue.storage.opening import recording_store, stored_file_store


def file_folder(root: Path) -> FileStore:
    """Files of API clients below `root`."""
    return stored_file_store(FolderStorage(root))


def folder_of(files: StoredFiles) -> Path:
    """Where these lie."""
    return files._files.incoming.parent


def recording_folder(root: Path) -> RecordingArchive:
    """Recordings of a gateway without others, below `root`."""
    return RecordingArchive(root, recording_store(FolderStorage(root.parent)))
