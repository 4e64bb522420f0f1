"""The daily copies of the database in `backups/` of the data folder: their names, making one, keeping the newest.

`conversations/daily_backups.py` decides when. Synchronous: it uses a thread. Files that people sent are not copied: they are never
changed, only removed when nothing refers to them any more.
"""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

from duologue.errors import Unavailable
from duologue.store.schema.migrate import COPIES_FOLDER
from duologue.store.schema.outages import CODE, outage

FOLDER = COPIES_FOLDER
PAGES = 2000
"""Pages copied in one step."""
PAUSE_S = 0.002
"""Seconds between steps, so that the disk has time for others."""
RESERVE = 256 * 2**20
"""Bytes that stay free on the disk: no backup is made that would leave less."""
_NAME = re.compile(r"daily-(\d{6,})-(\d{8}-\d{6})\.db")


class DailyCopy(NamedTuple):
    """A copy: its file, its place in the order in which copies were made, and when it was made (ms since 1970)."""

    file: Path
    number: int
    made: int


def copies(folder: Path) -> list[DailyCopy]:
    """Every daily copy, the oldest first. The order is that of their numbers: the clock may have been wrong."""
    found = []
    with suppress(OSError):
        for file in folder.iterdir():
            if match := _NAME.fullmatch(file.name):
                with suppress(ValueError, OverflowError):
                    made = _seconds_of(match[2]) * 1000
                    found.append(DailyCopy(file, int(match[1]), made))
    return sorted(found, key=lambda copy: copy.number)


def newest(folder: Path) -> DailyCopy | None:
    return next(reversed(copies(folder)), None)


def candidates(folder: Path) -> list[Path]:
    """The files to restore from, the best first: the daily copies, then those from before migrations."""
    daily = [copy.file for copy in reversed(copies(folder))]
    return daily + sorted(folder.glob("duologue-*.db"), key=lambda file: file.stat().st_mtime, reverse=True)


def make(source: Path, folder: Path, now: int, go_on: Callable[[], bool]) -> Path | None:
    """Copy the database `source` into `folder` as it is at one moment; others read and write it meanwhile. Returns the copy, which is
    still to be checked and then named by `keep`; None when `go_on` said no. Raises Unavailable: no room, or no access."""
    last = newest(folder)
    name = f"daily-{(last.number if last else 0) + 1:06d}-{_stamp(now)}.db"
    unfinished = folder / f"{name}.part"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for left in folder.glob("daily-*.part"):
            left.unlink()
        _check_room(source, folder)
        unfinished.touch(mode=0o600)
        with closing(sqlite3.connect(source)) as original, closing(sqlite3.connect(unfinished)) as target:
            _copy(original, target, go_on)
            # Leave one file, without a write-ahead log beside it.
            target.execute("PRAGMA journal_mode = DELETE")
        _flush(unfinished)
    except _Stopped:
        unfinished.unlink(missing_ok=True)
        return None
    except (OSError, sqlite3.Error) as error:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)
        told = outage(error, f"The disk of {folder}") if isinstance(error, sqlite3.Error) else None
        sentence = (
            told.message if told else f"{folder} cannot be written: {getattr(error, 'strerror', error)}."
        )
        raise Unavailable(f"No backup was made. {sentence}", code=CODE) from error
    return unfinished


def keep(unfinished: Path, most: int) -> DailyCopy:
    """Give a copy that was checked its name, and remove the oldest ones beyond `most`."""
    folder = unfinished.parent
    unfinished.rename(unfinished.with_suffix(""))
    _flush(folder)
    kept = copies(folder)
    for old in kept[:-most]:
        old.file.unlink(missing_ok=True)
    return kept[-1]


class _Stopped(Exception):
    pass


def _copy(original: sqlite3.Connection, target: sqlite3.Connection, go_on: Callable[[], bool]) -> None:
    def after_step(_status: int, _left: int, _all: int) -> None:
        if not go_on():
            raise _Stopped
        time.sleep(PAUSE_S)

    # The transaction keeps one state of things: without it, each write of others would begin the copy anew.
    original.execute("BEGIN")
    original.execute("SELECT count(*) FROM sqlite_master").fetchone()
    original.backup(target, pages=PAGES, progress=after_step)


def _check_room(source: Path, folder: Path) -> None:
    needed = source.stat().st_size + RESERVE
    if (free := shutil.disk_usage(folder).free) < needed:
        raise Unavailable(
            f"No backup was made. The disk of {folder} has {free / 1e6:,.0f} MB left, and a backup needs "
            f"{needed / 1e6:,.0f} MB. Free some space, or lower backups.keep (DUOLOGUE_BACKUPS__KEEP).",
            code=CODE,
        )


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _stamp(now: int) -> str:
    return time.strftime("%Y%m%d-%H%M%S", time.gmtime(now / 1000))


def _seconds_of(stamp: str) -> int:
    import calendar

    return calendar.timegm(time.strptime(stamp, "%Y%m%d-%H%M%S"))
