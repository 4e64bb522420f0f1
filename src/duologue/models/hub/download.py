"""One file from a server to the disk: resumed, checked, and under its name only when it is whole.

Owns the two files of an unfinished download: `NAME.part`, the bytes so far, and `NAME.part.json`, which says of what
they are the beginning. The part is locked while one process writes it. Knows no hub and no model: bytes and checksums.
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
"""Bytes read at once from a part that is there."""


class Source(Struct, frozen=True):
    """Where a file is and what it should be. `label` is how it is called on the screen."""

    url: str
    label: str
    content: Content = Content()


class Watch(Protocol):
    """Who is told how far it is. Each `begin` is followed by its `end`, also when it fails."""

    def begin(self, label: str, total: int, done: int) -> None:
        """Something of `total` bytes begins, of which `done` are there already."""

    def kept(self, count: int) -> None:
        """`count` bytes more that an earlier try left, read again for the checksum."""

    def advance(self, count: int) -> None:
        """`count` more bytes that came. Negative when a server made us begin anew."""

    def end(self) -> None: ...


def download(connection: HubConnection, source: Source, target: Path, watch: Watch) -> None:
    """Bring `source` to `target`. What an earlier try left is used; what this one leaves, the next one uses.

    Raises Busy when another process is at it, Problem for what cannot be mended by waiting: `disk_full`,
    `checksum_mismatch` (what was there is deleted), and everything a Connection raises.
    """
    try:
        with _locked(target) as file:
            if file is None:
                return
            part = _Part(target, file, source.content)
            watch.begin(source.label, source.content.size, 0)
            try:
                part.take_up(watch)
                if not part.is_whole:
                    connection.patiently(
                        lambda: _fetch(connection, source, part, watch), lambda: part.position, ATTEMPTS
                    )
                part.finish()
            finally:
                watch.end()
    except BrokenPipeError:
        raise  # nobody looks at the progress any more; that is not the disk's fault
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise disk_full(target.parent, 0) from error
        raise Problem(
            f"{target.parent} cannot be written: {error.strerror}.", code="write_failed", status=500
        ) from error


def check_disk(folder: Path, needed: int) -> None:
    """Raises Problem `disk_full` when `needed` more bytes would not leave room to live in."""
    there = next(parent for parent in (folder, *folder.parents) if parent.exists())
    if needed + SPARE_DISK > shutil.disk_usage(there).free:
        raise disk_full(folder, needed)


def disk_full(folder: Path, needed: int) -> Problem:
    there = next(parent for parent in (folder, *folder.parents) if parent.exists())
    free = gigabytes(shutil.disk_usage(there).free)
    need = f"The download needs {gigabytes(needed)} and some room beside it, and" if needed else "It is full:"
    return Problem(
        f"{need} {free} are free on the disk of {folder}. Make room (`duologue models list` shows what is there, "
        "`duologue models rm NAME` removes), or give another folder by --data.",
        code="disk_full",
        status=507,
    )


@contextmanager
def _locked(target: Path) -> Iterator[BinaryIO | None]:
    """The part of `target`, open and ours alone; None when the target is there already. Raises Busy."""
    path = target.with_name(target.name + PART)
    while not target.exists():
        with path.open("a+b") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise Busy(
                    f"Another process is downloading {target.name} at this moment. Let it finish.",
                    code="download_running",
                ) from error
            if _is_still(path, file):
                if target.exists():
                    # It was finished between our look and our opening, which made a new, empty part.
                    path.unlink()
                    break
                yield file
                return
        # Between our opening and our lock another process finished, or removed, what we opened: look again.
    yield None


def _is_still(path: Path, file: BinaryIO) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False


def _fetch(connection: HubConnection, source: Source, part: _Part, watch: Watch) -> None:
    """One request for what is missing, written as it comes. Raises Interrupted when it ends too early."""
    asked = resume.plan(part.position, part.content, source.content)
    if asked.offset != part.position:
        part.begin_anew(watch)
    with connection.get(source.url, source.label, asked.headers) as response:
        reply = resume.read_reply(response.status_code, response.headers, asked, source.content)
        if not resume.is_same(asked, reply):
            part.begin_anew(watch)
            raise _interrupted(source, "The file has changed on the server.")
        if reply.offset != part.position:
            part.begin_anew(watch)
        part.remember(Content(reply.size, source.content.sha256, reply.etag))
        if not source.content.size:
            watch.begin(source.label, reply.size, part.position)
        check_disk(part.target.parent, reply.size - part.position)
        # As they come: pieces of a set size would be gathered first, and lost when the connection breaks.
        for piece in response.iter_raw():
            part.write(piece)
            watch.advance(len(piece))
    if part.position < reply.size:
        there = f"{gigabytes(part.position)} of the {gigabytes(reply.size)}"
        raise _interrupted(source, f"The connection ended after {there}.")


def _interrupted(source: Source, reason: str) -> TransientFailure:
    return TransientFailure(reason, EngineFailed(f"{source.label}: {reason}", code="hub_failed", status=502))


class _Part:
    """The unfinished file: its bytes, their running checksum, and the record of what they are the beginning of."""

    def __init__(self, target: Path, file: BinaryIO, wanted: Content) -> None:
        self.target = target
        self._file = file
        self._path = target.with_name(target.name + PART)
        self._record = target.with_name(target.name + RECORD)
        self._wanted = wanted
        self._hash = hashlib.sha256()
        self.position = 0
        self.content = self._recall()

    def _recall(self) -> Content | None:
        try:
            return msgspec.json.decode(self._record.read_bytes(), type=Content)
        except (OSError, msgspec.MsgspecError):
            return None

    @property
    def size(self) -> int:
        return self._wanted.size or (self.content.size if self.content else 0)

    @property
    def is_whole(self) -> bool:
        """Whether every byte is there: an earlier process ended between the last one and the check."""
        return self.size > 0 and self.position == self.size

    def take_up(self, watch: Watch) -> None:
        """Go to the end of what is there, if it can be used, reading it for the checksum; else to the beginning."""
        there = os.fstat(self._file.fileno()).st_size
        usable = resume.plan(there, self.content, self._wanted).offset
        if usable == 0:
            self._file.truncate(0)
            return
        self._file.seek(0)
        while piece := self._file.read(PIECE):
            self._hash.update(piece)
            self.position += len(piece)
            watch.kept(len(piece))

    def begin_anew(self, watch: Watch) -> None:
        watch.advance(-self.position)
        self._file.seek(0)
        self._file.truncate(0)
        self._hash = hashlib.sha256()
        self.position = 0

    def remember(self, content: Content) -> None:
        """Write down of what these bytes are the beginning, before there are any."""
        if content != self.content:
            fresh = self._record.with_name(self._record.name + ".new")
            fresh.write_bytes(msgspec.json.encode(content))
            fresh.replace(self._record)
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
        """Check the whole and give it its name."""
        found = self._hash.hexdigest()
        if self._wanted.sha256 and found != self._wanted.sha256:
            self._discard()
            raise EngineFailed(
                f"{self.target.name} is not what the hub announced: its SHA-256 is {found[:16]}..., and should be "
                f"{self._wanted.sha256[:16]}.... It was deleted; download it again.",
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
