"""A copy of everything that is kept, in one file, and its way back: the database as SQLite copies it, and every file
it knows.

Works while a server writes: the copy is of one moment. Synchronous, for the command line. Knows no server; whoever
restores has made sure that none uses the folder.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
import sqlite3
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, NamedTuple

from duologue import __version__
from duologue.errors import StartFailed
from duologue.store.database import FILE
from duologue.store.schema.migrate import COPIES_FOLDER
from duologue.store.schema.tables import HEAD

BLOBS = "blobs"
MANIFEST = "duologue.json"
FORMAT = 1
_BLOB = re.compile(rf"{BLOBS}/([0-9a-f]{{2}})/(\1[0-9a-f]{{62}})")
_PIECE = 1 << 20


class Backup(NamedTuple):
    """What is in a copy: conversations and files, the bytes of all, and files that were known but not there."""

    conversations: int
    files: int
    size: int
    missing: int = 0
    replaced: Path | None = None
    """After a restore: where the database went that was there before."""


def back_up(data: Path, file: Path, now: Callable[[], int]) -> Backup:
    """Write everything in the folder `data` to the tar `file`, which must not be there yet. Raises StartFailed with a
    sentence."""
    source = data / FILE
    if not source.is_file():
        raise StartFailed(
            f"There is nothing to back up: {data} holds no {FILE}. Name another folder with --data."
        )
    if file.exists():
        raise StartFailed(f"{file} exists already. Choose another name.")
    unfinished = file.with_name(f"{file.name}.part")
    with _said(f"{file} cannot be written"), _removed_unless_renamed(unfinished):
        with tempfile.TemporaryDirectory(dir=file.absolute().parent, prefix=".duologue-backup-") as folder:
            copy = Path(folder, FILE)
            _copy_database(source, copy)
            # Conversations are private, whatever the umask says.
            with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as output:
                written = _write(output, copy, data / BLOBS, now())
                output.flush()
                os.fsync(output.fileno())
        unfinished.rename(file)
    return written._replace(size=file.stat().st_size)


def restore(file: Path, data: Path, now: Callable[[], int]) -> Backup:
    """Put a copy back into the folder `data`. The database that was there is kept beside it; the files are added to
    those that are there. Raises StartFailed with a sentence; then the folder is as it was, but for added files."""
    with _said(f"{file} cannot be put back"), _opened(file) as archive:
        data.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=data, prefix=".restore-") as folder:
            copy = Path(folder, FILE)
            files = _read(archive, file, copy, data)
            conversations = _check(copy, file)
            replaced = _set_aside(data, now())
            copy.rename(data / FILE)
    return Backup(conversations, files, file.stat().st_size, replaced=replaced)


@contextmanager
def _said(what: str) -> Iterator[None]:
    try:
        yield
    except (OSError, EOFError, tarfile.TarError, sqlite3.Error) as error:
        raise StartFailed(f"{what}: {getattr(error, 'strerror', None) or error}.") from error


@contextmanager
def _removed_unless_renamed(unfinished: Path) -> Iterator[None]:
    try:
        yield
    finally:
        unfinished.unlink(missing_ok=True)


def _copy_database(source: Path, copy: Path) -> None:
    with closing(sqlite3.connect(source)) as kept, closing(sqlite3.connect(copy)) as written:
        kept.backup(written)
        # One file, with nothing beside it.
        written.execute("PRAGMA journal_mode = DELETE")


def _write(output: IO[bytes], copy: Path, blobs: Path, now: int) -> Backup:
    with closing(sqlite3.connect(copy)) as database:
        (version,) = database.execute("SELECT version_num FROM alembic_version").fetchone()
        (conversations,) = database.execute("SELECT count(*) FROM conversations WHERE deleted = 0").fetchone()
        hashes = [hash for (hash,) in database.execute("SELECT hash FROM blobs ORDER BY hash")]
    missing = 0
    about = {"format": FORMAT, "program": __version__, "tables": version, "made": now}
    with tarfile.open(fileobj=output, mode="w|", format=tarfile.PAX_FORMAT) as archive:
        _add(archive, MANIFEST, json.dumps(about).encode(), now)
        archive.add(copy, FILE, recursive=False)
        for hash in hashes:
            name = f"{hash[:2]}/{hash}"
            try:
                archive.add(blobs / name, f"{BLOBS}/{name}", recursive=False)
            except FileNotFoundError:  # dropped since the copy was made, or lost before
                missing += 1
    return Backup(conversations, len(hashes) - missing, 0, missing)


def _add(archive: tarfile.TarFile, name: str, content: bytes, now: int) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mtime, member.mode = len(content), now // 1000, 0o600
    archive.addfile(member, io.BytesIO(content))


@contextmanager
def _opened(file: Path) -> Iterator[tarfile.TarFile]:
    try:
        archive = tarfile.open(file, "r|*")  # noqa: SIM115 - closed below; opening has its own sentence
    except tarfile.ReadError as error:
        raise StartFailed(f"{file} is no backup of Duologue.") from error
    with archive:
        yield archive


def _read(archive: tarfile.TarFile, file: Path, copy: Path, data: Path) -> int:
    """Take every member to its place, the database to `copy`; gives the number of files. Nothing in an archive decides
    where it is written but a hash that its content must have."""
    members = iter(archive)
    first = next(members, None)
    if first is None or first.name != MANIFEST or not first.isfile():
        raise StartFailed(f"{file} is no backup of Duologue.")
    _check_manifest(json.loads(_content(archive, first).read(_PIECE)), file)
    files = 0
    for member in members:
        if member.name == FILE and member.isfile():
            with copy.open("wb") as output:
                shutil.copyfileobj(_content(archive, member), output, _PIECE)
        elif (named := _BLOB.fullmatch(member.name)) and member.isfile():
            _keep(_content(archive, member), data / BLOBS / named[1], named[2], file)
            files += 1
        else:
            raise StartFailed(
                f"{file} holds {member.name!r}, which no backup of Duologue does. Nothing is restored."
            )
    if not copy.exists():
        raise StartFailed(f"{file} holds no database. Nothing is restored.")
    return files


def _check_manifest(about: object, file: Path) -> None:
    if not isinstance(about, dict) or about.get("format") != FORMAT or str(about.get("tables")) > HEAD:
        raise StartFailed(f"{file} was written by a newer Duologue. Restore it with that one.")


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes]:
    content = archive.extractfile(member)
    assert content is not None, "a file has content"
    return content


def _keep(content: IO[bytes], folder: Path, hash: str, file: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    unfinished = folder / f"{hash}.restored"
    with _removed_unless_renamed(unfinished):
        with unfinished.open("wb") as output:
            while piece := content.read(_PIECE):
                digest.update(piece)
                output.write(piece)
        if digest.hexdigest() != hash:
            raise StartFailed(f"{file} is damaged: the content of {hash} is another. Nothing is restored.")
        unfinished.rename(folder / hash)


def _check(copy: Path, file: Path) -> int:
    """Whether the database is whole; gives its number of conversations."""
    with closing(sqlite3.connect(copy)) as database:
        if database.execute("PRAGMA quick_check").fetchone() != ("ok",):
            raise StartFailed(f"{file} is damaged: its database is not whole. Nothing is restored.")
        (count,) = database.execute("SELECT count(*) FROM conversations WHERE deleted = 0").fetchone()
    return int(count)


def _set_aside(data: Path, now: int) -> Path | None:
    """Move the database that is there to the copies, whole."""
    if not (data / FILE).exists():
        return None
    with closing(sqlite3.connect(data / FILE)) as old:
        # What is still in the log goes into the file, and the log away.
        old.execute("PRAGMA journal_mode = DELETE")
    copies = data / COPIES_FOLDER
    copies.mkdir(exist_ok=True)
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime(now / 1000))
    return (data / FILE).rename(copies / f"replaced-{stamp}.db")
