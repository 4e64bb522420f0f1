"""`duologue backup`: copy all stored data into one file, and restore it.

A copy can be made while a server runs; restoring takes the lock of the data folder, so no server may run.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from duologue.cli import Config, Data
from duologue.cli.accounts.account_store import RecordedAct, record
from duologue.errors import StartFailed

if TYPE_CHECKING:
    from duologue.store.backup.archive import Backup


def backup(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="The backup, a .tar file; to restore, also a .db file of the data folder's backups.",
        ),
    ],
    restore: Annotated[
        bool, typer.Option("--restore", help="Restore the backup; the server must be stopped.")
    ] = False,
    config: Config = None,
    data: Data = None,
) -> None:
    """Back up all data into FILE, or restore it with --restore."""
    from duologue.config import load
    from duologue.store.accounts.audit_file import carry_over
    from duologue.store.backup import archive
    from duologue.store.database import FILE

    settings = load(config, os.environ, {"data": data})
    if settings.database is not None:
        raise StartFailed(
            "Conversations are stored in PostgreSQL. Back them up with `pg_dump --format=custom --file=duologue.dump DATABASE`, "
            f"restore them with `pg_restore`, and copy the folder {settings.data / archive.BLOBS} with the files."
        )
    if not restore:
        copy = archive.back_up(settings.data, file, _now)
        record(settings, RecordedAct("backup.create", str(file)))
        print(f"{file}: {_count(copy)}, {copy.size / 1e6:.1f} MB.")
        if copy.missing:
            print(f"{copy.missing} files referenced by conversations are missing and not in the backup.")
        return
    from duologue.gateway import process_lock

    if not file.is_file():
        raise StartFailed(f"There is no file {file}.")
    with process_lock.data_folder(settings.data, "duologue backup --restore"):
        restored = archive.restore(file, settings.data, _now)
        if restored.replaced is not None:
            carry_over(restored.replaced, settings.data / FILE)
        record(settings, RecordedAct("backup.restore", str(file)))
    print(f"{settings.data} now holds {_count(restored)}.")
    if restored.missing:
        print(f"{restored.missing} files referenced by conversations are missing.")
    if restored.replaced is not None:
        print(f"The previous database was moved to {restored.replaced}.")


def _count(backup: Backup) -> str:
    return f"{backup.conversations:,} conversations, {backup.files:,} files"


def _now() -> int:
    return time.time_ns() // 1_000_000
