"""The database: where it is, its connections, and transactions on them.

Knows no table by name beyond its version. SQLite has one connection that writes and a few that read; PostgreSQL the
same, so that commands happen in one order on both. A transaction that began is not cancelled in its middle: it takes
milliseconds, and whoever stops waiting finds all of it or nothing.
"""

from __future__ import annotations

import logging
import shlex
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio

from duologue.errors import Problem, StartFailed
from duologue.store.schema.outages import outage

if TYPE_CHECKING:
    from sqlalchemy import URL
    from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

    Transaction = AsyncConnection
    """What `writing` gives and `within` takes, by a name for rooms that know no SQLAlchemy."""

FILE = "duologue.db"
READERS = 4
WAIT_S = 15
"""Seconds a transaction waits for a connection, then it is refused."""
_PRAGMAS = "PRAGMA foreign_keys = {keys}; PRAGMA busy_timeout = 5000; PRAGMA temp_store = MEMORY; "
_FILE_PRAGMAS = "PRAGMA synchronous = NORMAL; PRAGMA cache_size = -16000; "


class Database:
    """An open database. `place` names it in sentences: the file, or the server without its password."""

    def __init__(
        self, writer: AsyncEngine, reader: AsyncEngine, place: str, file: Path | None = None
    ) -> None:
        self._writer = writer
        self._reader = reader
        self.place = place
        self.file = file

    @property
    def is_postgresql(self) -> bool:
        return self._writer.dialect.name == "postgresql"

    @staticmethod
    @asynccontextmanager
    async def opened(url: str | None, data: Path, *, now: Callable[[], int]) -> AsyncIterator[Database]:
        """The database at `url` (PostgreSQL), else the SQLite file in `data`; made, or brought to this version, first.
        Raises StartFailed with a sentence when it cannot be used or is of a newer program."""
        database = _postgresql(url) if url else _sqlite(data)
        try:
            with _starting(database.place):
                from duologue.store.schema import migrate

                await migrate.bring_up(database, data / migrate.COPIES_FOLDER, now)
            yield database
        finally:
            await database._close()

    @staticmethod
    @asynccontextmanager
    async def memory() -> AsyncIterator[Database]:
        """A database that ends with the block: for temporary chats, and for tests."""
        from duologue.store.schema import migrate

        engine = _sqlite_engine(
            ":memory:", size=1, begin="BEGIN IMMEDIATE", pragmas=_PRAGMAS.format(keys="ON")
        )
        database = Database(engine, engine, "the memory of this server")
        try:
            await migrate.bring_up(database, None, lambda: 0)
            yield database
        finally:
            await database._close()

    def writing(self, within: AsyncConnection | None = None) -> AbstractAsyncContextManager[AsyncConnection]:
        """A transaction that may change things, kept when the block ends without an error; or, `within` one that is
        already there, a part of it. Raises Unavailable(code="storage_unavailable")."""
        return _part_of(within) if within is not None else self._transaction(self._writer)

    def reading(self, within: AsyncConnection | None = None) -> AbstractAsyncContextManager[AsyncConnection]:
        """A transaction that sees one state of things and changes nothing. Raises as `writing`."""
        return _part_of(within) if within is not None else self._transaction(self._reader)

    @asynccontextmanager
    async def _transaction(self, engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
        with self._outages_said(), anyio.CancelScope(shield=True):
            async with engine.begin() as connection:
                yield connection

    @contextmanager
    def _outages_said(self) -> Iterator[None]:
        try:
            yield
        except Problem:
            raise
        except Exception as error:
            if (problem := outage(error, self.place)) is None:
                raise
            logging.getLogger(__name__).warning("%s (%s)", problem.message, type(error).__name__)
            raise problem from error

    async def _close(self) -> None:
        with anyio.CancelScope(shield=True):
            await self._reader.dispose()
            await self._writer.dispose()


@asynccontextmanager
async def _part_of(connection: AsyncConnection) -> AsyncIterator[AsyncConnection]:
    yield connection


@contextmanager
def _starting(place: str) -> Iterator[None]:
    """Whatever keeps the database from being opened, as StartFailed."""
    try:
        yield
    except StartFailed:
        raise
    except Problem as problem:
        raise StartFailed(problem.message) from problem
    except (ImportError, OSError) as error:
        if isinstance(error, ImportError):
            raise StartFailed(
                "PostgreSQL needs one more package. Install it: pip install 'duologue[postgres]'."
            ) from error
        raise StartFailed(f"{place} cannot be used: {error.strerror or error}.") from error


def _sqlite(data: Path) -> Database:
    with _starting(f"The data folder {data}"):
        data.mkdir(parents=True, exist_ok=True)
        file = data / FILE
        # SQLite gives what it puts beside the file the rights of the file.
        file.touch(mode=0o600)
    pragmas = _PRAGMAS.format(keys="ON") + _FILE_PRAGMAS
    writer = _sqlite_engine(
        str(file), size=1, begin="BEGIN IMMEDIATE", pragmas="PRAGMA journal_mode = WAL; " + pragmas
    )
    reader = _sqlite_engine(
        str(file), size=READERS, begin="BEGIN", pragmas=pragmas + "PRAGMA query_only = ON; "
    )
    return Database(writer, reader, f"The database {file}", file)


def migration_engine(file: Path) -> AsyncEngine:
    """A connection of its own for rebuilding tables of a SQLite file: foreign keys are not followed on the way."""
    pragmas = _PRAGMAS.format(keys="OFF") + _FILE_PRAGMAS
    return _sqlite_engine(str(file), size=1, begin="BEGIN IMMEDIATE", pragmas=pragmas)


def _sqlite_engine(file: str, *, size: int, begin: str, pragmas: str) -> AsyncEngine:
    from sqlalchemy import URL, AsyncAdaptedQueuePool, Connection, event
    from sqlalchemy.ext.asyncio import create_async_engine

    # At debug level it would log every statement with what people say in it.
    logging.getLogger("aiosqlite").setLevel(logging.WARNING)
    engine = create_async_engine(
        URL.create("sqlite+aiosqlite", database=file),
        poolclass=AsyncAdaptedQueuePool,
        pool_size=size,
        max_overflow=0,
        pool_timeout=WAIT_S,
        hide_parameters=True,
        # Python's own idea of when a transaction begins is too late for reading one state of things.
        connect_args={"isolation_level": None},
    )

    def connected(connection: Any, _record: object) -> None:
        connection.run_async(lambda driver: driver.executescript(pragmas))

    def begun(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    event.listen(engine.sync_engine, "connect", connected)
    event.listen(engine.sync_engine, "begin", begun)
    return engine


def _postgresql(url: str) -> Database:
    from sqlalchemy.exc import ArgumentError
    from sqlalchemy.ext.asyncio import create_async_engine

    try:
        address, options = _postgresql_address(url)
    except (ArgumentError, ValueError) as error:
        raise StartFailed(
            "`database` is no address of a PostgreSQL server. Write it as postgresql://user:password@host/database."
        ) from error

    def engine(size: int, **execution: object) -> AsyncEngine:
        return create_async_engine(
            address,
            pool_size=size,
            max_overflow=0,
            pool_timeout=WAIT_S,
            pool_pre_ping=True,
            hide_parameters=True,
            connect_args=options,
            execution_options=execution,
        )

    place = f"The PostgreSQL server {address.host or 'of this machine'}"
    with _starting(place):
        writer = engine(1)
        reader = engine(READERS, isolation_level="REPEATABLE READ", postgresql_readonly=True)
    return Database(writer, reader, place)


def _postgresql_address(url: str) -> tuple[URL, dict[str, object]]:
    """The address for the driver, and what it wants as arguments: libpq's `sslmode` and `options` are understood."""
    from sqlalchemy import make_url

    address = make_url(url)
    if address.drivername not in ("postgres", "postgresql", "postgresql+asyncpg"):
        raise ValueError(address.drivername)
    query = dict(address.query)
    arguments: dict[str, object] = {"timeout": WAIT_S}
    if mode := query.pop("sslmode", None):
        arguments["ssl"] = mode
    if options := query.pop("options", None):
        words = " ".join(shlex.split(str(options))).replace("-c ", "-c").split()
        pairs = (word.removeprefix("-c").partition("=") for word in words)
        arguments["server_settings"] = {name: value for name, _, value in pairs}
    return address.set(drivername="postgresql+asyncpg", query=query), arguments
