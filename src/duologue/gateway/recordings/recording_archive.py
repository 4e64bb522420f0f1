"""Where the files of recordings are: in a folder of this gateway while they run, and where all files of users are once they have ended.

Used by `service` and `recording_routes`. Without other gateways both are the same folder, and nothing moves.
"""

from __future__ import annotations

import logging
from collections.abc import Collection
from pathlib import Path

from duologue.errors import NotFound, Problem
from duologue.gateway.recordings.recording_files import (
    ENTRIES,
    FRAMES,
    PEAKS,
    SOUND,
    RecordingFiles,
    folders,
)
from duologue.storage.file_store import FileStore
from duologue.threads import disk_cleanup, disk_io

log = logging.getLogger(__name__)

NAMES = (SOUND, ENTRIES, PEAKS, FRAMES)


class RecordingArchive:
    """`root`: the folder of recordings that run; `files`: where they are kept when they have ended."""

    def __init__(self, root: Path, files: FileStore) -> None:
        self._root, self._files = root, files
        self.is_shared = files.is_shared

    def local(self, id: str) -> RecordingFiles:
        """The files in the folder of this gateway."""
        return RecordingFiles(self._root / id)

    async def here(self) -> list[str]:
        """The ids of all recordings in the folder of this gateway."""
        return await disk_io(folders, self._root)

    async def read(self, id: str, name: str, start: int = 0, size: int = -1) -> bytes:
        """A file that is not there gives nothing. Raises Unavailable."""
        if await self._is_kept(id):
            try:
                return await self._files.read(f"{id}/{name}", start, size)
            except NotFound:
                return b""
        return await disk_io(self.local(id).read, name, start, size)

    async def sound(self, id: str) -> Path:
        """The sound on a disk of this machine, to be opened at once."""
        return await self._files.source(f"{id}/{SOUND}") if await self._is_kept(id) else self.local(id).sound

    async def _is_kept(self, id: str) -> bool:
        return self.is_shared and not await disk_io(self.local(id).folder.is_dir)

    async def settle(self, ids: Collection[str]) -> None:
        """Move these, which have ended, to where they are kept. What fails stays here and is logged: the next round tries again."""
        if not self.is_shared:
            return
        for id in ids:
            files = self.local(id)
            try:
                for name in NAMES:
                    if await disk_io((files.folder / name).exists):
                        await self._files.put(f"{id}/{name}", files.folder / name)
                await disk_cleanup(files.delete)
            except (Problem, OSError) as error:
                log.warning("recording %s stays in %s for now: %s", id, files.folder, error)

    async def delete(self, id: str) -> None:
        """Remove all of it. Failures are logged: no row names it any more."""
        try:
            await disk_cleanup(self.local(id).delete)
            if self.is_shared:
                await self._files.delete(*(f"{id}/{name}" for name in NAMES))
        except (Problem, OSError) as error:
            log.warning("the files of recording %s cannot be removed: %s", id, error)
