"""Archives with models of speech (tar.bz2), read in a child process: the files of one folder, a piece at a time.

A decoder job, used by the voice packs. Owns what an archive may contain: regular files below its one folder. Links, devices and
anything else are passed over; a name that leads out of the folder ends the reading. Pure but for the file it reads.
"""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import BinaryIO

from msgspec import Struct

from duologue.decoder.job import decoder_job
from duologue.errors import BadRequest

PIECE = 1 << 20
"""Bytes of a file sent at a time."""
MOST_FILES = 5_000
"""espeak-ng's data alone is some hundred files."""
MOST_BYTES = 8 << 30
"""Bytes of all files together: more than any model of speech has."""
DEEPEST = 8
LONGEST_NAME = 255


class ArchivePiece(Struct, frozen=True):
    """The next bytes of a file; `name` is relative to the archive's folder. Each file begins with an empty piece."""

    name: str
    data: bytes = b""


@decoder_job(seconds=60.0, cpu_seconds=1800, memory_mb=256, result_mb=4)
def read_archive(file: BinaryIO, folder: str) -> Iterator[ArchivePiece]:
    """The files in `folder` of an archive. Raises BadRequest (`archive_refused`) for one that is damaged or not as above."""
    files = total = 0
    try:
        with tarfile.open(fileobj=file, mode="r|bz2") as archive:
            for entry in archive:
                name = _name_of(entry, folder)
                files += 1
                total += max(0, entry.size)
                if files > MOST_FILES or total > MOST_BYTES:
                    raise _refused("it has too many files")
                if not entry.isreg() or not name:
                    continue
                yield ArchivePiece(name)
                content = archive.extractfile(entry)
                while content is not None and (piece := content.read(PIECE)):
                    yield ArchivePiece(name, piece)
    except (tarfile.TarError, EOFError, OSError, ValueError) as error:
        raise _refused(str(error) or type(error).__name__) from error


def _name_of(entry: tarfile.TarInfo, folder: str) -> str:
    """The name of an entry below the folder, "" for the folder itself. Raises BadRequest for one elsewhere."""
    path = PurePosixPath(entry.name)
    parts = [part for part in path.parts if part != "."]
    if path.is_absolute() or ".." in parts or not parts or parts[0] != folder or "\\" in entry.name:
        raise _refused(f"a file in it is called {entry.name[:80]!r}")
    inner = parts[1:]
    if len(inner) > DEEPEST or any(len(part.encode()) > LONGEST_NAME or "\0" in part for part in inner):
        raise _refused("the names in it are too long")
    return "/".join(inner)


def _refused(reason: str) -> BadRequest:
    return BadRequest(f"The archive cannot be unpacked: {reason}.", code="archive_refused")
