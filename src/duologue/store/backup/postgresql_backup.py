"""Backup and restore of a PostgreSQL database, by way of a SQLite file: the same archive restores into either.

Used by the command line. A copy is one snapshot of the database, whatever gateways write meanwhile; a restore is
one transaction, and is refused while a gateway runs.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from duologue.errors import StartFailed
from duologue.store.backup.table_copy import copy_tables
from duologue.store.cluster.gateway_rows import GatewayRows
from duologue.store.database import FILE, Database
from duologue.store.schema import migrate, tables

GATEWAYS_SINCE = "0017"
"""The revision that made the table of gateways."""


async def copy_to_file(database: Database, file: Path) -> None:
    """Copy an open database into a new SQLite file, which has this name and a folder of its own. Raises StartFailed where its tables are
    not those of this program."""
    async with database.reading() as connection:
        version = await migrate.version_of(connection)
    if version is None:
        raise StartFailed(
            f"There is nothing to back up: {database.place} has no tables of Duologue in this database."
        )
    if version != tables.HEAD:
        raise StartFailed(
            f"{database.place} has version {version} of the tables, and this program has {tables.HEAD}. Back it up with the version of "
            "Duologue that uses it, or with pg_dump."
        )
    async with Database.opened(None, file.parent, now=lambda: 0) as copy:
        await copy_tables(database, copy)
    _in_one_file(file)


async def back_up_to_file(url: str, file: Path) -> None:
    """The same of the database at `url`, whose schema is not changed."""
    async with Database.unmigrated(url) as database:
        await copy_to_file(database, file)


async def restore_from_file(url: str, file: Path, aside: Path, now: Callable[[], int]) -> None:
    """Replace the contents of the database at `url` by those of a SQLite file, which is alone in its folder and is migrated first. The
    former contents are copied to `aside`, a file in a folder of its own. Raises StartFailed while a gateway runs."""
    from duologue.store.accounts.audit_file import carry_over

    async with Database.opened(url, file.parent, now=now) as database:
        await _refuse(database)
        await copy_to_file(database, aside)
        async with Database.opened(None, file.parent, now=now) as copy:
            pass
        _in_one_file(file)
        # What was done since the copy was made is not forgotten.
        carry_over(aside, file)
        async with Database.opened(None, file.parent, now=now) as copy:
            await copy_tables(copy, database)


async def refuse_while_serving(url: str) -> None:
    """Raises StartFailed while a gateway uses this database."""
    async with Database.unmigrated(url) as database:
        async with database.reading() as connection:
            version = await migrate.version_of(connection)
        if version is not None and version >= GATEWAYS_SINCE:
            await _refuse(database)


async def _refuse(database: Database) -> None:
    living = [gateway for gateway in await GatewayRows(database).all() if gateway.living]
    if living:
        names = ", ".join(gateway.address or gateway.id for gateway in living)
        raise StartFailed(
            f"A gateway of this database is running ({names}). Stop all gateways before you restore; one that was killed counts as "
            "running for a few more seconds."
        )


def _in_one_file(file: Path) -> None:
    """Leave no log beside the file."""
    assert file.name == FILE
    with closing(sqlite3.connect(file)) as database:
        database.execute("PRAGMA journal_mode = DELETE")
    file.chmod(0o600)
