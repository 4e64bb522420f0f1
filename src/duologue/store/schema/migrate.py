"""Brings a database to the schema of this program: creates an empty one, migrates an older one, refuses a newer one.

Alembic takes a third of a second to import, so it is imported only when there is something to migrate.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Dialect, insert, text
from sqlalchemy.engine.mock import MockConnection
from sqlalchemy.exc import DBAPIError

from duologue.errors import StartFailed
from duologue.store.schema import tables

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection

    from duologue.store.database import Database

MIGRATIONS = Path(__file__).parent / "migrations"
PRIVATE = 0o600
"""Conversations are private, whatever the umask is."""
_ALONE = "SELECT pg_advisory_xact_lock(hashtext('duologue ' || current_schema()))"
COPIES_FOLDER = "backups"
COPIES = 3
"""Number of copies from before migrations that are kept."""


async def bring_up(
    database: Database, copies: Path | None, now: Callable[[], int], *, head: str = tables.HEAD
) -> None:
    """Bring `database` to the version `head`. `copies`: where a SQLite file is copied to before it is migrated. Raises
    StartFailed when the database is newer, or not a database of Duologue."""
    async with database.writing() as connection:
        if database.is_postgresql:
            # Of several gateways that start at once, one makes the tables.
            await connection.execute(text(_ALONE))
        version = await version_of(connection)
        if version is None:
            try:
                await connection.run_sync(create)
            except DBAPIError as error:
                if "fts5" in str(error.orig):
                    raise StartFailed(
                        "The SQLite of this Python cannot search texts (it has no FTS5). Use the Python of your system "
                        "or of python.org, or keep conversations in PostgreSQL (DUOLOGUE_DATABASE)."
                    ) from error
                raise StartFailed(
                    f"{database.place} contains tables of another program. Choose a database of its own."
                ) from error
            return
        if database.is_postgresql and version < head:
            await _refuse_under_others(connection, version, head, database.place)
            await connection.run_sync(_upgrade, head)
            return
    if version == head:
        return
    if version > head:
        raise StartFailed(
            f"{database.place} was written by a newer Duologue (version {version} of the tables; this program knows "
            f"{head}). Install the newer program again, or start this one with another --data (DUOLOGUE_DATA)."
        )
    if copies is not None:
        await _copy(database, copies, f"duologue-{version}-{_stamp(now())}.db")
    if database.file is not None:
        await _migrate_file(database.file, head)


async def _refuse_under_others(connection: AsyncConnection, version: str, head: str, place: str) -> None:
    """Raises StartFailed where a migration to come changes what older gateways that run now still use."""
    contracting = contracting_between(version, head)
    if not contracting or (await connection.execute(text("SELECT to_regclass('gateways')"))).scalar() is None:
        return
    living = await connection.scalar(
        text(
            "SELECT count(*) FROM gateways WHERE lease_until >= CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)"
        )
    )
    if living:
        raise StartFailed(
            f"{place} is used by {living} older gateways, and this version changes tables that they use (revision "
            f"{contracting[0]}). Stop all gateways, then start this one first."
        )


def contracting_between(version: str, head: str) -> list[str]:
    """The revisions after `version` up to `head` under which older programs cannot go on: those that say `kind = "contract"`."""
    from alembic.script import ScriptDirectory

    revisions = ScriptDirectory(str(MIGRATIONS)).iterate_revisions(head, version)
    return sorted(
        script.revision for script in revisions if getattr(script.module, "kind", "expand") == "contract"
    )


async def version_of(connection: AsyncConnection) -> str | None:
    """The revision a database says it has; None for an empty one."""
    if connection.dialect.name == "postgresql":
        there = text("SELECT to_regclass('alembic_version')")
    else:
        there = text("SELECT name FROM sqlite_master WHERE name = 'alembic_version'")
    if (await connection.execute(there)).scalar() is None:
        return None
    return (await connection.execute(text("SELECT version_num FROM alembic_version"))).scalar()


def create(connection: Connection) -> None:
    """Make every table of this version in an empty database."""
    for statement in _statements(connection.dialect):
        connection.exec_driver_sql(statement)
    if connection.dialect.name == "sqlite":
        for statement in tables.SQLITE_SEARCH:
            connection.exec_driver_sql(statement)
    connection.execute(insert(tables.revision).values(version_num=tables.HEAD))


_written: dict[str, tuple[str, ...]] = {}
"""The statements that make the tables, by the name of the dialect."""


def _statements(dialect: Dialect) -> tuple[str, ...]:
    """What makes the tables, in the database's own SQL. Writing it takes longer than running it, and a server runs it
    twice: in its file, and in the memory that temporary chats are in."""
    if dialect.name not in _written:
        written: list[str] = []
        recorder = MockConnection(
            dialect, lambda made, *_: written.append(str(made.compile(dialect=dialect)))
        )
        tables.metadata.create_all(recorder, checkfirst=False)
        if dialect.name == "postgresql":
            tables.postgresql_metadata.create_all(recorder, checkfirst=False)
        _written[dialect.name] = tuple(written)
    return _written[dialect.name]


async def _migrate_file(file: Path, head: str) -> None:
    from duologue.store.database import migration_engine

    engine = migration_engine(file)
    try:
        async with engine.begin() as connection:
            await connection.run_sync(_upgrade, head)
            broken = (await connection.execute(text("PRAGMA foreign_key_check"))).first()
            if broken is not None:
                raise StartFailed(
                    f"The database {file} was not migrated and is as it was: a row of `{broken[0]}` would have lost "
                    "what it belongs to. Please report this."
                )
    finally:
        await engine.dispose()


def _upgrade(connection: Connection, head: str) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    command.upgrade(config, head)


async def _copy(database: Database, folder: Path, name: str) -> None:
    """A consistent copy, made by SQLite itself: a plain copy of the file would miss what is still in its log."""
    import aiosqlite

    unfinished = _cleared(folder / f"{name}.part")
    async with database.reading() as connection, aiosqlite.connect(unfinished) as copy:
        source = (await connection.get_raw_connection()).driver_connection
        assert isinstance(source, aiosqlite.Connection)
        await source.backup(copy)
    unfinished.rename(folder / name)
    _drop_oldest(folder)


def _cleared(file: Path) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.unlink(missing_ok=True)
    file.touch(mode=PRIVATE)
    return file


def _drop_oldest(folder: Path) -> None:
    for old in sorted(folder.glob("duologue-*.db"), key=lambda path: path.stat().st_mtime)[:-COPIES]:
        old.unlink()


def _stamp(now: int) -> str:
    return time.strftime("%Y%m%d-%H%M%S", time.gmtime(now / 1000))
