"""Backup and restore: the database and every file it knows, in one tar file.

Used by the command line, and therefore synchronous. A daily copy, which is the database alone, can be restored too. A backup works while a server is writing, because SQLite copies a
consistent snapshot. The caller of `restore` must make sure that no server uses the folder.
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
from duologue.store.backup.integrity import MAGIC, MARK, DatabaseDamaged, check
from duologue.store.database import FILE
from duologue.store.schema.migrate import COPIES_FOLDER
from duologue.store.schema.tables import HEAD

BLOBS = "blobs"
MANIFEST = "duologue.json"
FORMAT = 1
_BLOB = re.compile(rf"{BLOBS}/([0-9a-f]{{2}})/(\1[0-9a-f]{{62}})")
_PIECE = 1 << 20


class Backup(NamedTuple):
    """The content of a backup: the numbers of conversations and files, its bytes, and the number of files that were missing."""

    conversations: int
    files: int
    size: int
    missing: int = 0
    replaced: Path | None = None
    """After a restore: where the former database was moved to."""


def back_up(data: Path, file: Path, now: Callable[[], int]) -> Backup:
    """Write everything in the folder `data` to the tar file `file`, which must not exist. Raises StartFailed."""
    source = data / FILE
    if not source.is_file():
        raise StartFailed(
            f"There is nothing to back up: {data} has no {FILE}. Name another folder with --data."
        )
    if file.exists():
        raise StartFailed(f"{file} exists already. Choose another name.")
    unfinished = file.with_name(f"{file.name}.part")
    with _errors_named(f"{file} cannot be written"), _removed_unless_renamed(unfinished):
        with tempfile.TemporaryDirectory(dir=file.absolute().parent, prefix=".duologue-backup-") as folder:
            copy = Path(folder, FILE)
            _copy_database(source, copy)
            if not _is_sound(copy):
                raise StartFailed(f"The database {source} is damaged. Nothing is backed up.")
            # Conversations are private, whatever the umask is.
            with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as output:
                written = _write(output, copy, data / BLOBS, now())
                output.flush()
                os.fsync(output.fileno())
        unfinished.rename(file)
    return written._replace(size=file.stat().st_size)


def restore(file: Path, data: Path, now: Callable[[], int]) -> Backup:
    """Restore a backup into the folder `data`, or a copy of the database alone. The former database is moved aside, damaged or not;
    the files are added to the existing ones. Raises StartFailed; the folder is then unchanged, except for added files."""
    with _errors_named(f"{file} cannot be restored"):
        size = file.stat().st_size
        data.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=data, prefix=".restore-") as folder:
            copy = Path(folder, FILE)
            if is_database(file):
                _copy_database(file, copy)
                files = 0
            else:
                with _opened(file) as archive:
                    files = _read(archive, file, copy, data)
            conversations = _check(copy, file)
            present, missing = _files_of(copy, data / BLOBS)
            copy.chmod(0o600)
            replaced = _set_aside(data, now())
            copy.rename(data / FILE)
    return Backup(conversations, files or present, size, missing, replaced=replaced)


@contextmanager
def _errors_named(sentence: str) -> Iterator[None]:
    try:
        yield
    except (OSError, EOFError, tarfile.TarError, sqlite3.Error) as error:
        raise StartFailed(f"{sentence}: {getattr(error, 'strerror', None) or error}.") from error


@contextmanager
def _removed_unless_renamed(unfinished: Path) -> Iterator[None]:
    try:
        yield
    finally:
        unfinished.unlink(missing_ok=True)


def _copy_database(source: Path, copy: Path) -> None:
    with closing(sqlite3.connect(source)) as original, closing(sqlite3.connect(copy)) as target:
        original.backup(target)
        # Leave one file, without a write-ahead log beside it.
        target.execute("PRAGMA journal_mode = DELETE")


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
            except FileNotFoundError:  # removed since the database was copied, or lost before
                missing += 1
    return Backup(conversations, len(hashes) - missing, 0, missing)


def _add(archive: tarfile.TarFile, name: str, content: bytes, now: int) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mtime, member.mode = len(content), now // 1000, 0o600
    archive.addfile(member, io.BytesIO(content))


def is_database(file: Path) -> bool:
    """Whether a file is a copy of a database, not an archive."""
    with file.open("rb") as opened:
        return opened.read(len(MAGIC)) == MAGIC


def _files_of(copy: Path, blobs: Path) -> tuple[int, int]:
    """How many of the files that a database knows are in the folder `blobs`, and how many are not."""
    with closing(sqlite3.connect(copy)) as database:
        hashes = [hash for (hash,) in database.execute("SELECT hash FROM blobs")]
    present = sum((blobs / hash[:2] / hash).is_file() for hash in hashes)
    return present, len(hashes) - present


@contextmanager
def _opened(file: Path) -> Iterator[tarfile.TarFile]:
    try:
        archive = tarfile.open(file, "r|*")  # noqa: SIM115 - closed below; opening has its own sentence
    except tarfile.ReadError as error:
        raise StartFailed(f"{file} is not a backup of Duologue.") from error
    with archive:
        yield archive


def _read(archive: tarfile.TarFile, file: Path, copy: Path, data: Path) -> int:
    """Write every member to its place, the database to `copy`. Returns the number of files. Paths in the archive are not
    trusted: a file's path is its hash, which its content must match."""
    members = iter(archive)
    first = next(members, None)
    if first is None or first.name != MANIFEST or not first.isfile():
        raise StartFailed(f"{file} is not a backup of Duologue.")
    _check_manifest(json.loads(_content(archive, first).read(_PIECE)), file)
    files = 0
    for member in members:
        if member.name == FILE and member.isfile():
            with copy.open("wb") as output:
                shutil.copyfileobj(_content(archive, member), output, _PIECE)
        elif (match := _BLOB.fullmatch(member.name)) and member.isfile():
            _keep(_content(archive, member), data / BLOBS / match[1], match[2], file)
            files += 1
        else:
            raise StartFailed(
                f"{file} contains {member.name!r}, which is not part of a backup. Nothing is restored."
            )
    if not copy.exists():
        raise StartFailed(f"{file} contains no database. Nothing is restored.")
    return files


def _check_manifest(about: object, file: Path) -> None:
    if not isinstance(about, dict) or about.get("format") != FORMAT or str(about.get("tables")) > HEAD:
        raise StartFailed(f"{file} was written by a newer Duologue. Restore it with that version.")


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
            raise StartFailed(
                f"{file} is damaged: the content of {hash} does not match its name. Nothing is restored."
            )
        unfinished.rename(folder / hash)


def _is_sound(copy: Path) -> bool:
    try:
        return check(copy)
    except DatabaseDamaged:
        return False


def _check(copy: Path, file: Path) -> int:
    """Check the integrity and the version of the database. Returns its number of conversations."""
    if not _is_sound(copy):
        raise StartFailed(f"{file} is damaged: its database is incomplete. Nothing is restored.")
    with closing(sqlite3.connect(copy)) as database:
        try:
            (version,) = database.execute("SELECT version_num FROM alembic_version").fetchone()
            (count,) = database.execute("SELECT count(*) FROM conversations WHERE deleted = 0").fetchone()
        except (sqlite3.Error, TypeError):
            raise StartFailed(f"{file} is not a backup of Duologue.") from None
    if str(version) > HEAD:
        raise StartFailed(f"{file} was written by a newer Duologue. Restore it with that version.")
    return int(count)


def _set_aside(data: Path, now: int) -> Path | None:
    """Move the existing database into the folder of copies, with its log if it is damaged."""
    database = data / FILE
    if not database.exists():
        return None
    kind = "replaced"
    try:
        with closing(sqlite3.connect(database)) as old:
            # This writes the remaining log into the file and removes the log, so that moving the file is enough.
            old.execute("PRAGMA journal_mode = DELETE")
    except sqlite3.Error:
        kind = "damaged"
    copies = data / COPIES_FOLDER
    copies.mkdir(exist_ok=True)
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime(now / 1000))
    aside = copies / f"{kind}-{stamp}.db"
    for suffix in ("-wal", "-shm"):
        # The new database must not meet the log of the old one.
        if (log := data / f"{FILE}{suffix}").exists():
            log.rename(copies / f"{aside.name}{suffix}")
    (data / f"{FILE}{MARK}").unlink(missing_ok=True)
    return database.rename(aside)
