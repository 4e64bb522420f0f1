"""The command `duologue backup`: everything that is kept, into one file and back. Thin, as `cli` is.

Owns its flags and what it prints. It copies while a server runs, and restores only where none does.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from duologue.cli import Config, Data
from duologue.errors import StartFailed

if TYPE_CHECKING:
    from duologue.store.backup import Backup


def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The copy: one .tar file.")],
    restore: Annotated[
        bool, typer.Option("--restore", help="Put the copy back; the server must be stopped.")
    ] = False,
    config: Config = None,
    data: Data = None,
) -> None:
    """Copy all conversations and files into FILE. With --restore put them back."""
    from duologue.config import load
    from duologue.store import backup as copying

    settings = load(config, os.environ, {"data": data})
    if settings.database is not None:
        raise StartFailed(
            "Conversations are kept in PostgreSQL. Copy them with `pg_dump --format=custom --file=duologue.dump DATABASE`, "
            f"put them back with `pg_restore`, and copy the folder {settings.data / copying.BLOBS} with the files."
        )
    if not restore:
        made = copying.back_up(settings.data, file, _now)
        print(f"{file}: {_count(made)}, {made.size / 1e6:.1f} MB.")
        if made.missing:
            print(f"{made.missing} files that conversations name were not there and are not in the copy.")
        return
    from duologue.gateway import process_lock

    if not file.is_file():
        raise StartFailed(f"There is no file {file}.")
    with process_lock.data_folder(settings.data, "duologue backup --restore"):
        put_back = copying.restore(file, settings.data, _now)
    print(f"{settings.data} holds {_count(put_back)} again.")
    if put_back.replaced is not None:
        print(f"The conversations that were there before are in {put_back.replaced}.")


def _count(made: Backup) -> str:
    return f"{made.conversations:,} conversations, {made.files:,} files"


def _now() -> int:
    return time.time_ns() // 1_000_000
