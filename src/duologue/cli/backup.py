"""`duologue backup`: copy all stored data into one file, and restore it.

A copy can be made while a server runs; restoring takes the lock of the data folder, so no server may run, and of PostgreSQL no gateway.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import anyio
import typer

from duologue.cli import Config, Data
from duologue.cli.accounts.account_store import RecordedAct, record
from duologue.errors import StartFailed

if TYPE_CHECKING:
    from duologue.config import Settings
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

    settings = load(config, os.environ, {"data": data})
    if restore:
        if not file.is_file():
            raise StartFailed(f"There is no file {file}.")
        _restore(settings, file)
    else:
        _back_up(settings, file)


def _back_up(settings: Settings, file: Path) -> None:
    from duologue.cli.files.backed_up_files import backed_up_files
    from duologue.store.backup import archive

    url = settings.database_url
    if url is None:
        copy = archive.back_up(settings.data, file, _now, backed_up_files(settings))
    else:
        from duologue.store.backup.postgresql_backup import back_up_to_file

        copy = archive.write(
            file, _now, lambda path: anyio.run(back_up_to_file, url, path), backed_up_files(settings)
        )
    record(settings, RecordedAct("backup.create", str(file)))
    print(f"{file}: {_count(copy)}, {copy.size / 1e6:.1f} MB.")
    if copy.missing:
        print(f"{copy.missing} files referenced by conversations are missing and not in the backup.")


def _restore(settings: Settings, file: Path) -> None:
    from duologue.cli.files.backed_up_files import backed_up_files
    from duologue.gateway import process_lock
    from duologue.store.accounts.audit_file import carry_over
    from duologue.store.backup import archive
    from duologue.store.database import FILE

    url = settings.database_url
    with process_lock.data_folder(settings.data, "duologue backup --restore"):
        if url is None:
            restored = archive.restore(file, settings.data, _now, backed_up_files(settings))
            if restored.replaced is not None:
                carry_over(restored.replaced, settings.data / FILE)
        else:
            restored = _restore_postgresql(url, settings, file)
        record(settings, RecordedAct("backup.restore", str(file)))
    place = settings.data if url is None else "The PostgreSQL database"
    print(f"{place} now holds {_count(restored)}.")
    if restored.missing:
        print(f"{restored.missing} files referenced by conversations are missing.")
    if restored.replaced is not None:
        moved = "was moved" if url is None else "was copied"
        print(f"The previous database {moved} to {restored.replaced}.")


def _restore_postgresql(url: str, settings: Settings, file: Path) -> Backup:
    import tempfile

    from duologue.cli.files.backed_up_files import backed_up_files
    from duologue.store.backup import archive
    from duologue.store.backup.postgresql_backup import refuse_while_serving, restore_from_file
    from duologue.store.database import FILE

    # Asked before the files are added, too.
    anyio.run(refuse_while_serving, url)
    with (
        archive.unpacked(file, settings.data, backed_up_files(settings)) as (copy, restored),
        tempfile.TemporaryDirectory(dir=settings.data, prefix=".replaced-") as folder,
    ):
        aside = Path(folder, FILE)
        anyio.run(restore_from_file, url, copy, aside, _now)
        replaced = archive.place_aside(settings.data, "replaced", _now())
        aside.rename(replaced)
    return restored._replace(replaced=replaced)


def _count(backup: Backup) -> str:
    return f"{backup.conversations:,} conversations, {backup.files:,} files"


def _now() -> int:
    return time.time_ns() // 1_000_000
