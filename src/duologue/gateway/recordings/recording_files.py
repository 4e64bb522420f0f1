"""The files of one recording, in a folder of the data folder. Blocks: call it by `threads.disk_io`.

Everything is appended, so that whatever ends the server leaves a recording that can be read up to there. Used by `writer` and
`service`.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from duologue.gateway.recordings.peaks import duration_ms

SOUND, ENTRIES, PEAKS, FRAMES = "sound.ogg", "timeline.jsonl", "peaks.bin", "frames.bin"
"""Opus in Ogg, both sides; one JSON object a line; the waveform; the pictures one after another, as sizes in the entries say."""
PRIVATE_FILE, PRIVATE_FOLDER = 0o600, 0o700


class RecordingFiles:
    """Methods raise OSError. Reading a file that is not there gives nothing."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def sound(self) -> Path:
        return self.folder / SOUND

    def create(self) -> None:
        """Make the folder, which only this user can enter."""
        self.folder.parent.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
        self.folder.mkdir(mode=PRIVATE_FOLDER)

    def append(self, pieces: dict[str, bytes]) -> int:
        """Append to these files, in order. Gives the bytes that were written. What cannot be written whole is not written."""
        written = 0
        for name, data in pieces.items():
            if data:
                _append(self.folder / name, data)
                written += len(data)
        return written

    def read(self, name: str, start: int = 0, size: int = -1) -> bytes:
        try:
            with (self.folder / name).open("rb") as file:
                file.seek(start)
                return file.read(size)
        except FileNotFoundError:
            return b""

    def size(self) -> int:
        """Bytes of all files."""
        try:
            return sum(entry.stat().st_size for entry in os.scandir(self.folder))
        except FileNotFoundError:
            return 0

    def duration(self) -> int:
        """Milliseconds that were written."""
        return duration_ms(self.read(PEAKS))

    def delete(self) -> None:
        """Remove the folder. No error when it does not exist."""
        if self.folder.exists():
            shutil.rmtree(self.folder)


def _append(path: Path, data: bytes) -> None:
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, PRIVATE_FILE)
    try:
        before = os.fstat(file).st_size
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[os.write(file, rest) :]
        except OSError:
            os.ftruncate(file, before)
            raise
    finally:
        os.close(file)


def folders(root: Path) -> list[str]:
    """The names of all recordings' folders."""
    try:
        return [entry.name for entry in os.scandir(root) if entry.is_dir(follow_symlinks=False)]
    except FileNotFoundError:
        return []
