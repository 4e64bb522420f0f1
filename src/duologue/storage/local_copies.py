"""Copies of stored files on the disk of this gateway, for programs that read a file by its path. Used by `object_store.py`.

Owns a folder and how much of it may be used: the copies that were asked for longest ago go first, but none within a quarter of an hour,
because a program may be about to open it.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path

import anyio

from duologue.errors import NotFound
from duologue.storage.folder_access import in_folder
from duologue.threads import disk_cleanup, disk_io

MOST = 4 * 2**30
"""Bytes of all copies."""
HELD_S = 900.0


class LocalCopies:
    """`clock`: seconds since 1970, as the disk's times are."""

    def __init__(self, folder: Path, *, most: int = MOST, clock: Callable[[], float] = time.time) -> None:
        self._folder, self._most, self._clock = folder, most, clock
        self._coming: dict[str, anyio.Event] = {}

    async def get(self, name: str, content: Callable[[], AsyncIterator[bytes]]) -> Path:
        """The copy of a file; `content` gives its bytes if there is none yet."""
        path = self._path(name)
        while True:
            if await disk_io(_touched, path, self._clock()):
                return path
            if (coming := self._coming.get(name)) is None:
                break
            await coming.wait()
        done = self._coming[name] = anyio.Event()
        try:
            await self._write(path, content())
        finally:
            del self._coming[name]
            done.set()
        await self.trim()
        return path

    async def adopt(self, name: str, file: Path) -> None:
        """Keep a file that was just stored, where there is room: what stores a file mostly reads it next. It is only a copy, so failures
        do not matter."""
        await self.trim()
        await disk_cleanup(_adopted, file, self._path(name), self._clock(), self._most)

    async def drop(self, name: str) -> None:
        await disk_cleanup(_removed, self._path(name))

    async def trim(self) -> None:
        """Remove the oldest copies beyond the limit."""
        await disk_cleanup(_trimmed, self._folder, self._most, self._clock() - HELD_S)

    def _path(self, name: str) -> Path:
        return self._folder / name.replace("/", "-")

    async def _write(self, path: Path, content: AsyncIterator[bytes]) -> None:
        missing = NotFound("The folder of copies was removed. Try again.", code="storage_unavailable")
        unfinished = path.with_name(f"{secrets.token_hex(8)}.part")
        await in_folder(self._folder, missing, _made, self._folder)
        try:
            file = await in_folder(self._folder, missing, unfinished.open, "xb")
            try:
                async for piece in content:
                    await in_folder(self._folder, missing, file.write, piece)
            finally:
                with anyio.CancelScope(shield=True):
                    await disk_cleanup(file.close)
            await in_folder(self._folder, missing, unfinished.replace, path)
            await disk_io(_touched, path, self._clock())
        finally:
            with anyio.CancelScope(shield=True):
                await disk_cleanup(_removed, unfinished)


def _made(folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def _touched(path: Path, now: float) -> bool:
    try:
        os.utime(path, (now, now))
    except OSError:
        return False
    return True


def _adopted(file: Path, path: Path, now: float, most: int) -> None:
    with suppress(OSError):
        _made(path.parent)
        if sum(size for _, size, _ in _listed(path.parent)) + file.stat().st_size <= most:
            file.replace(path)
            _touched(path, now)
    _removed(file)


def _removed(path: Path) -> None:
    with suppress(OSError):
        path.unlink(missing_ok=True)


def _trimmed(folder: Path, most: int, before: float) -> None:
    """Also unfinished copies of a server that was killed."""
    found = _listed(folder)
    left = sum(size for _, size, _ in found)
    for at, size, path in sorted(found):
        if at >= before:
            return
        if left > most or path.suffix == ".part":
            _removed(path)
            left -= size


def _listed(folder: Path) -> list[tuple[float, int, Path]]:
    """Time, size and path of each copy."""
    found: list[tuple[float, int, Path]] = []
    with suppress(OSError):
        for path in folder.iterdir():
            with suppress(OSError):
                state = path.stat()
                found.append((state.st_mtime, state.st_size, path))
    return found
