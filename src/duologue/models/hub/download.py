"""The download of one file: resumed, verified, and given its name only when it is complete.

Used by `pull`. Owns the two files of an unfinished download: `NAME.part`, the bytes so far, and `NAME.part.json`, the
content they are the beginning of. The part is locked while a process writes it.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Protocol

import msgspec
from msgspec import Struct

from duologue.errors import Busy, EngineFailed, Problem
from duologue.models.catalogue import PART, RECORD
from duologue.models.fit import SPARE_DISK
from duologue.models.hub import resume
from duologue.models.hub.http import ATTEMPTS, HubConnection, TransientFailure
from duologue.models.hub.repository import gigabytes
from duologue.models.hub.resume import Content

PIECE = 1 << 20
"""Bytes read at once from an existing part."""


class Source(Struct, frozen=True):
    """Where a file is and its expected content. `label` is its name on the screen."""

    url: str
    label: str
    content: Content = Content()


class Watch(Protocol):
    """Receives the progress of a download. Each `begin` is followed by its `end`, also after an error."""

    def begin(self, label: str, total: int, done: int) -> None:
        """A file of `total` bytes begins, of which `done` are on the disk already."""

    def kept(self, count: int) -> None:
        """`count` more bytes of an earlier attempt were read again for the checksum."""

    def advance(self, count: int) -> None:
        """`count` more bytes arrived. Negative when the download starts over."""

    def end(self) -> None: ...


def download(connection: HubConnection, source: Source, target: Path, watch: Watch) -> None:
    """Download `source` to `target`, resuming an earlier attempt; a later one resumes this.

    Raises Busy when another process downloads it, Problem for permanent failures: `disk_full`, `checksum_mismatch` (the
    bytes are deleted then), and everything a HubConnection raises.
    """
    try:
        with _locked(target) as file:
            if file is None:
                return
            part = _Part(target, file, source.content)
            watch.begin(source.label, source.content.size, 0)
            try:
                part.resume(watch)
                if not part.is_complete:
                    connection.with_retries(
                        lambda: _fetch(connection, source, part, watch), lambda: part.position, ATTEMPTS
                    )
                part.finish()
            finally:
                watch.end()
    except BrokenPipeError:
        raise  # the progress is written to a closed pipe; that is not an error of the disk
    except OSError as error:
        raise write_problem(target.parent, error) from error


def check_disk(folder: Path, needed: int) -> None:
    """Raises Problem `disk_full` unless SPARE_DISK stays free after `needed` more bytes."""
    there = next(parent for parent in (folder, *folder.parents) if parent.exists())
    if needed + SPARE_DISK > shutil.disk_usage(there).free:
        raise disk_full(folder, needed)


def write_problem(folder: Path, error: OSError) -> Problem:
    """What to say when a file in `folder` could not be written: `disk_full`, or `write_failed`."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return disk_full(folder, 0)
    return Problem(f"{folder} cannot be written: {error.strerror}.", code="write_failed", status=500)


def disk_full(folder: Path, needed: int) -> Problem:
    there = next(parent for parent in (folder, *folder.parents) if parent.exists())
    free = shutil.disk_usage(there).free
    need = (
        f"The download needs {gigabytes(needed)} and some free space besides, but only"
        if needed
        else "Writing failed for lack of space:"
    )
    return Problem(
        f"{need} {gigabytes(free)} are free on the disk of {folder}. Make room (`duologue models list` shows what is there, "
        "`duologue models rm NAME` removes), or give another folder by --data.",
        code="disk_full",
        status=507,
        values={"needed": needed, "free": free, "folder": str(folder)},
    )


@contextmanager
def _locked(target: Path) -> Iterator[BinaryIO | None]:
    """The part of `target`, open and locked; None when the target exists already. Raises Busy."""
    path = target.with_name(target.name + PART)
    while not target.exists():
        with path.open("a+b") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise Busy(
                    f"Another process is downloading {target.name}. Let it finish.",
                    code="download_running",
                ) from error
            if _is_still(path, file):
                if target.exists():
                    # Another process finished it after the check above, so opening created a new, empty part.
                    path.unlink()
                    break
                yield file
                return
        # Between opening and locking another process finished or removed the part: check again.
    yield None


def _is_still(path: Path, file: BinaryIO) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False


def _fetch(connection: HubConnection, source: Source, part: _Part, watch: Watch) -> None:
    """One request for the missing bytes, written as they arrive. Raises TransientFailure when it ends too early."""
    request = resume.plan(part.position, part.content, source.content)
    if request.offset != part.position:
        part.start_over(watch)
    with connection.get(source.url, source.label, request.headers) as response:
        reply = resume.read_reply(response.status_code, response.headers, request, source.content)
        if not resume.is_same(request, reply):
            part.start_over(watch)
            raise _interrupted(source, "The file has changed on the server.")
        if reply.offset != part.position:
            part.start_over(watch)
        part.write_record(Content(reply.size, source.content.sha256, reply.etag))
        if not source.content.size:
            watch.begin(source.label, reply.size, part.position)
        check_disk(part.target.parent, reply.size - part.position)
        # In the sizes they arrive: pieces of a fixed size would be collected first, and lost when the connection breaks.
        for piece in response.iter_raw():
            part.write(piece)
            watch.advance(len(piece))
    if part.position < reply.size:
        there = f"{gigabytes(part.position)} of the {gigabytes(reply.size)}"
        raise _interrupted(source, f"The connection ended after {there}.")


def _interrupted(source: Source, reason: str) -> TransientFailure:
    return TransientFailure(reason, EngineFailed(f"{source.label}: {reason}", code="hub_failed", status=502))


class _Part:
    """The unfinished file: its bytes, their running checksum, and the record of the content they begin."""

    def __init__(self, target: Path, file: BinaryIO, expected: Content) -> None:
        self.target = target
        self._file = file
        self._path = target.with_name(target.name + PART)
        self._record = target.with_name(target.name + RECORD)
        self._expected = expected
        self._hash = hashlib.sha256()
        self.position = 0
        self.content = self._read_record()

    def _read_record(self) -> Content | None:
        try:
            return msgspec.json.decode(self._record.read_bytes(), type=Content)
        except (OSError, msgspec.MsgspecError):
            return None

    @property
    def size(self) -> int:
        return self._expected.size or (self.content.size if self.content else 0)

    @property
    def is_complete(self) -> bool:
        """Whether every byte is there: an earlier process ended after the last one and before the check."""
        return self.size > 0 and self.position == self.size

    def resume(self, watch: Watch) -> None:
        """Read the existing bytes for the checksum, if they are usable; else start at the beginning."""
        there = os.fstat(self._file.fileno()).st_size
        usable = resume.plan(there, self.content, self._expected).offset
        if usable == 0:
            self._file.truncate(0)
            return
        self._file.seek(0)
        while piece := self._file.read(PIECE):
            self._hash.update(piece)
            self.position += len(piece)
            watch.kept(len(piece))

    def start_over(self, watch: Watch) -> None:
        watch.advance(-self.position)
        self._file.seek(0)
        self._file.truncate(0)
        self._hash = hashlib.sha256()
        self.position = 0

    def write_record(self, content: Content) -> None:
        """Write the record of the content, before any of its bytes."""
        if content != self.content:
            temporary = self._record.with_name(self._record.name + ".new")
            try:
                temporary.write_bytes(msgspec.json.encode(content))
                temporary.replace(self._record)
            except OSError:
                temporary.unlink(missing_ok=True)
                raise
            self.content = content

    def write(self, piece: bytes) -> None:
        if self.position + len(piece) > self.size:
            raise EngineFailed(
                "The server sends more than it announced. Try again later, or another source.",
                code="hub_failed",
                status=502,
            )
        self._file.write(piece)
        self._hash.update(piece)
        self.position += len(piece)

    def finish(self) -> None:
        """Verify the whole file and give it its name."""
        digest = self._hash.hexdigest()
        if self._expected.sha256 and digest != self._expected.sha256:
            self._discard()
            raise EngineFailed(
                f"{self.target.name} is not the file that the hub announced: its SHA-256 is {digest[:16]}..., and should be "
                f"{self._expected.sha256[:16]}.... It was deleted; download it again.",
                code="checksum_mismatch",
                status=502,
            )
        self._file.flush()
        os.fsync(self._file.fileno())
        self._path.replace(self.target)
        self._record.unlink(missing_ok=True)

    def _discard(self) -> None:
        self._path.unlink(missing_ok=True)
        self._record.unlink(missing_ok=True)
