"""Backup and restore: the database and every file it knows, in one tar file.

Used by the command line, and therefore synchronous. A daily copy, which is the database alone, can be restored too. A backup works while
a server is writing, because SQLite and PostgreSQL give a consistent snapshot. The caller of `restore` must make sure that no server uses the
folder. The files are wherever `BackedUpFiles` finds them; the database in an archive is always SQLite's.
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
from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import IO, NamedTuple, Protocol

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


class BackedUpFiles(Protocol):
    """The files of conversations, each by its hash. Methods raise StartFailed."""

    @abstractmethod
    def opened(self, hash: str) -> AbstractContextManager[Path | None]:
        """A file on the disk for the length of the context; None where it is missing."""

    @abstractmethod
    def keep(self, hash: str, file: Path) -> None:
        """Store a file, which is moved."""

    @abstractmethod
    def has(self, hash: str) -> bool: ...


class FolderFiles(BackedUpFiles):
    """Files in a folder, as `storage` keeps them."""

    def __init__(self, root: Path) -> None:
        self._root = root

    @contextmanager
    def opened(self, hash: str) -> Iterator[Path | None]:
        path = self._root / hash[:2] / hash
        yield path if path.is_file() else None

    def keep(self, hash: str, file: Path) -> None:
        path = self._root / hash[:2] / hash
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(file, path)

    def has(self, hash: str) -> bool:
        return (self._root / hash[:2] / hash).is_file()


def back_up(data: Path, file: Path, now: Callable[[], int], files: BackedUpFiles | None = None) -> Backup:
    """Write the database in the folder `data` and all files to the tar file `file`, which must not exist. Raises StartFailed."""
    source = data / FILE
    if not source.is_file():
        raise StartFailed(
            f"There is nothing to back up: {data} has no {FILE}. Name another folder with --data."
        )

    def copy_database(copy: Path) -> None:
        _copy_database(source, copy)
        if not _is_sound(copy):
            raise StartFailed(f"The database {source} is damaged. Nothing is backed up.")

    return write(file, now, copy_database, files or FolderFiles(data / BLOBS))


def write(
    file: Path, now: Callable[[], int], copy_database: Callable[[Path], None], files: BackedUpFiles
) -> Backup:
    """Write an archive of the database that `copy_database` makes, a SQLite file of the name it is given, and of the files it knows."""
    if file.exists():
        raise StartFailed(f"{file} exists already. Choose another name.")
    unfinished = file.with_name(f"{file.name}.part")
    with _errors_named(f"{file} cannot be written"), _removed_unless_renamed(unfinished):
        with tempfile.TemporaryDirectory(dir=file.absolute().parent, prefix=".duologue-backup-") as folder:
            copy = Path(folder, FILE)
            copy_database(copy)
            # Conversations are private, whatever the umask is.
            with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as output:
                written = _write(output, copy, files, now())
                output.flush()
                os.fsync(output.fileno())
        unfinished.rename(file)
    return written._replace(size=file.stat().st_size)


def restore(file: Path, data: Path, now: Callable[[], int], files: BackedUpFiles | None = None) -> Backup:
    """Restore a backup into the folder `data`, or a copy of the database alone. The former database is moved aside, damaged or not;
    the files are added to the existing ones. Raises StartFailed; the folder is then unchanged, except for added files."""
    with (
        unpacked(file, data, files or FolderFiles(data / BLOBS)) as (copy, restored),
        _errors_named(f"{file} cannot be restored"),
    ):
        replaced = _set_aside(data, now())
        copy.rename(data / FILE)
    return restored._replace(replaced=replaced)


@contextmanager
def unpacked(file: Path, data: Path, files: BackedUpFiles) -> Iterator[tuple[Path, Backup]]:
    """Store the files of a backup. Its database, checked, is in a folder of its own below `data` for the length of the context."""
    sentence = f"{file} cannot be restored"
    with _errors_named(sentence):
        size = file.stat().st_size
        data.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=data, prefix=".restore-") as folder:
        copy = Path(folder, FILE)
        with _errors_named(sentence):
            if is_database(file):
                _copy_database(file, copy)
                count = 0
            else:
                with _opened(file) as archive:
                    count = _read(archive, file, copy, files)
            conversations = _check(copy, file)
            present, missing = _files_of(copy, files)
            copy.chmod(0o600)
        yield copy, Backup(conversations, count or present, size, missing)


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


def _write(output: IO[bytes], copy: Path, files: BackedUpFiles, now: int) -> Backup:
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
            with files.opened(hash) as path:
                try:
                    if path is None:
                        raise FileNotFoundError
                    archive.add(path, f"{BLOBS}/{hash[:2]}/{hash}", recursive=False)
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


def _files_of(copy: Path, files: BackedUpFiles) -> tuple[int, int]:
    """How many of the files that a database knows are there, and how many are not."""
    with closing(sqlite3.connect(copy)) as database:
        hashes = [hash for (hash,) in database.execute("SELECT hash FROM blobs")]
    present = sum(files.has(hash) for hash in hashes)
    return present, len(hashes) - present


@contextmanager
def _opened(file: Path) -> Iterator[tarfile.TarFile]:
    try:
        archive = tarfile.open(file, "r|*")  # noqa: SIM115 - closed below; opening has its own sentence
    except tarfile.ReadError as error:
        raise StartFailed(f"{file} is not a backup of Duologue.") from error
    with archive:
        yield archive


def _read(archive: tarfile.TarFile, file: Path, copy: Path, store: BackedUpFiles) -> int:
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
            _keep(_content(archive, member), copy.with_name(f"{match[2]}.restored"), match[2], file, store)
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


def _keep(content: IO[bytes], unfinished: Path, hash: str, file: Path, store: BackedUpFiles) -> None:
    digest = hashlib.sha256()
    with _removed_unless_renamed(unfinished):
        with unfinished.open("wb") as output:
            while piece := content.read(_PIECE):
                digest.update(piece)
                output.write(piece)
        if digest.hexdigest() != hash:
            raise StartFailed(
                f"{file} is damaged: the content of {hash} does not match its name. Nothing is restored."
            )
        store.keep(hash, unfinished)


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
    aside = place_aside(data, kind, now)
    for suffix in ("-wal", "-shm"):
        # The new database must not meet the log of the old one.
        if (log := data / f"{FILE}{suffix}").exists():
            log.rename(aside.with_name(f"{aside.name}{suffix}"))
    (data / f"{FILE}{MARK}").unlink(missing_ok=True)
    return database.rename(aside)


def place_aside(data: Path, kind: str, now: int) -> Path:
    """Where a former database is kept: in the folder of copies."""
    copies = data / COPIES_FOLDER
    copies.mkdir(exist_ok=True)
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime(now / 1000))
    return copies / f"{kind}-{stamp}.db"
