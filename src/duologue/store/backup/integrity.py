"""Whether the file of the database is damaged, and what is said then.

`database` asks before it opens a file, `conversations/daily_backups.py` later about a file too large for that, and about every copy.
Synchronous: the callers use a thread.
"""

from __future__ import annotations

import shlex
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from duologue.errors import StartFailed
from duologue.store.backup import daily_copies

CHECKED_AT_START = 64 * 2**20
"""Bytes of the largest file that is checked before the server starts, which takes about a sixth of a second. A larger one is
checked while the server runs."""
MARK = "-damaged"
"""The suffix of an empty file beside a database that was found damaged while the server ran: the next start checks it, however large."""
STEPS = 10_000
MAGIC = b"SQLite format 3\0"


class DatabaseDamaged(Exception):
    """What is wrong with a database, in the words of SQLite."""


def always() -> bool:
    return True


def check(file: Path, go_on: Callable[[], bool] = always) -> bool:
    """Check the structure of a database. True: it is sound; False: `go_on` said no, or the file cannot be read now. Raises
    DatabaseDamaged.

    `go_on` is asked every few milliseconds, by SQLite before 3.41 about once for each gigabyte.
    """
    try:
        with closing(sqlite3.connect(file)) as database:
            database.set_progress_handler(lambda: not go_on(), STEPS)
            found = database.execute("PRAGMA quick_check(3)").fetchall()
    except sqlite3.DatabaseError as error:
        # The low byte is the kind. Other errors (locked, no access) are no damage, and are told when the database is opened.
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            raise DatabaseDamaged(str(error)) from error
        return False
    if found != [("ok",)]:
        raise DatabaseDamaged("; ".join(str(row[0]).replace("\n", " ") for row in found)[:300])
    return True


def check_at_start(file: Path) -> bool:
    """Check the database of a server that starts. True: it is sound or new; False: it is large, and still to be checked. Raises
    StartFailed with the command that restores the newest backup."""
    if not file.exists():
        return True
    folder = file.parent / daily_copies.FOLDER
    try:
        size = file.stat().st_size
        if size == 0 and daily_copies.newest(folder) is not None:
            raise DatabaseDamaged("the file is empty")
        if 0 < size < len(MAGIC) or (size and not _starts_like_a_database(file)):
            raise DatabaseDamaged("file is not a database")
        mark = file.with_name(file.name + MARK)
        if size > CHECKED_AT_START and not mark.exists():
            return False
        is_sound = check(file)
        if is_sound:
            mark.unlink(missing_ok=True)
        return is_sound
    except DatabaseDamaged as damage:
        raise StartFailed(damage_sentence(file, damage)) from damage
    except OSError:
        return True  # opening it says what is wrong


def mark_damaged(file: Path) -> None:
    """Have the next start check the database, however large it is."""
    file.with_name(file.name + MARK).touch(mode=0o600)


def damage_sentence(file: Path, damage: DatabaseDamaged) -> str:
    """What a person reads about a damaged database: the file, what is wrong, and the command that restores the newest backup."""
    said = f"The database {file} is damaged ({damage})."
    backup = newest_sound(file.parent / daily_copies.FOLDER)
    if backup is None:
        return (
            f"{said} There is no backup of it in {file.parent / daily_copies.FOLDER}. Restore one of your own with `duologue backup "
            "--restore FILE`, or move the file away to start without conversations."
        )
    made = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(backup.stat().st_mtime))
    command = shlex.join(["duologue", "backup", "--restore", str(backup), "--data", str(file.parent)])
    return f"{said} Stop the server and restore the newest backup, of {made}: {command}"


def newest_sound(folder: Path) -> Path | None:
    """The newest copy that passes its check."""
    for candidate in daily_copies.candidates(folder):
        try:
            check(candidate)
        except DatabaseDamaged:
            continue
        return candidate
    return None


def _starts_like_a_database(file: Path) -> bool:
    with file.open("rb") as opened:
        return opened.read(len(MAGIC)) == MAGIC
