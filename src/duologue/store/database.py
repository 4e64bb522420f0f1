"""The database: its location, its connections, and its transactions.

Used by every store. There is one connection for writing and a few for reading, on SQLite and PostgreSQL alike, so that writes
happen in the same order on both. A transaction is not cancelled halfway: it takes milliseconds, and a cancelled caller gets
all of it or nothing.
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
from duologue.threads import disk_io

if TYPE_CHECKING:
    from sqlalchemy import URL
    from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

    Transaction = AsyncConnection
    """What `writing` gives and `within` takes, under a name for packages that do not import SQLAlchemy."""

FILE = "duologue.db"
READERS = 4
WAIT_S = 15
"""Seconds a transaction waits for a connection before it is refused."""
_PRAGMAS = "PRAGMA foreign_keys = {keys}; PRAGMA busy_timeout = 5000; PRAGMA temp_store = MEMORY; "
_SESSION = (
    "SET tcp_keepalives_idle = 15; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3; "
    "SET idle_in_transaction_session_timeout = '60s'"
)
"""Of each connection to PostgreSQL: rows that a gateway holds are free again within a minute after its machine was cut off, or its process suspended, in the middle of
a transaction. PostgreSQL alone would keep them for hours, and every other gateway that needs one waits with all it writes."""
_FILE_PRAGMAS = "PRAGMA synchronous = NORMAL; PRAGMA cache_size = -16000; "


class Database:
    """An open database. `place` names it in error sentences: the file, or the server without its password."""

    def __init__(
        self,
        writer: AsyncEngine,
        reader: AsyncEngine,
        place: str,
        file: Path | None = None,
        *,
        is_checked: bool = True,
        own: Callable[[], AsyncEngine] | None = None,
    ) -> None:
        self._writer = writer
        self._reader = reader
        self.place = place
        self.file = file
        self._own = own
        self.is_checked = is_checked
        """Whether the file was checked for damage; a large one is still to be checked."""

    @property
    def is_postgresql(self) -> bool:
        return self._writer.dialect.name == "postgresql"

    @staticmethod
    @asynccontextmanager
    async def opened(url: str | None, data: Path, *, now: Callable[[], int]) -> AsyncIterator[Database]:
        """The PostgreSQL database at `url`, otherwise the SQLite file in `data`; created or migrated first. Raises StartFailed
        when it cannot be used, is damaged, or was written by a newer program."""
        if url:
            database = _postgresql(url)
        else:
            from duologue.store.backup.integrity import check_at_start

            database = _sqlite(data, is_checked=await disk_io(check_at_start, data / FILE))
        try:
            with _starting(database.place):
                from duologue.store.schema import migrate

                await migrate.bring_up(database, data / migrate.COPIES_FOLDER, now)
            yield database
        finally:
            await database._close()

    @staticmethod
    @asynccontextmanager
    async def unmigrated(url: str) -> AsyncIterator[Database]:
        """The PostgreSQL database at `url` as it is, for what must not change its schema. Raises StartFailed when it cannot be used."""
        database = _postgresql(url)
        try:
            with _starting(database.place):
                async with database.reading():
                    pass
            yield database
        finally:
            await database._close()

    @staticmethod
    @asynccontextmanager
    async def memory() -> AsyncIterator[Database]:
        """A database in memory that ends with the block: for temporary chats, and for tests."""
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
        """A write transaction, committed when the block ends without an error; or a part of the transaction `within`. Raises
        Unavailable(code="storage_unavailable")."""
        return _part_of(within) if within is not None else self._transaction(self._writer)

    def reading(self, within: AsyncConnection | None = None) -> AbstractAsyncContextManager[AsyncConnection]:
        """A read transaction on a consistent snapshot. Raises as `writing` does."""
        return _part_of(within) if within is not None else self._transaction(self._reader)

    @asynccontextmanager
    async def own_connection(self) -> AsyncIterator[Any]:
        """A connection of asyncpg to PostgreSQL outside of every pool and transaction, to listen on. Raises what the driver raises."""
        if self._own is None:
            raise RuntimeError(f"{self.place} has no connections of their own")
        engine = self._own()
        with anyio.fail_after(WAIT_S):
            pooled = await engine.raw_connection()
        driver: Any = pooled.driver_connection
        pooled.detach()
        try:
            yield driver
        finally:
            # Closing would wait for a server that may be gone.
            driver.terminate()

    @asynccontextmanager
    async def _transaction(self, engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
        with self._outages_raised(), anyio.CancelScope(shield=True):
            async with engine.begin() as connection:
                yield connection

    @contextmanager
    def _outages_raised(self) -> Iterator[None]:
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
    """Turns every error while the database is opened into StartFailed."""
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


def _sqlite(data: Path, *, is_checked: bool) -> Database:
    with _starting(f"The data folder {data}"):
        data.mkdir(parents=True, exist_ok=True)
        file = data / FILE
        # SQLite gives the files it creates beside the database the same permissions.
        file.touch(mode=0o600)
    pragmas = _PRAGMAS.format(keys="ON") + _FILE_PRAGMAS
    writer = _sqlite_engine(
        str(file), size=1, begin="BEGIN IMMEDIATE", pragmas="PRAGMA journal_mode = WAL; " + pragmas
    )
    reader = _sqlite_engine(
        str(file), size=READERS, begin="BEGIN", pragmas=pragmas + "PRAGMA query_only = ON; "
    )
    return Database(writer, reader, f"The database {file}", file, is_checked=is_checked)


def migration_engine(file: Path) -> AsyncEngine:
    """A separate engine for rebuilding tables of a SQLite file, with foreign keys switched off."""
    pragmas = _PRAGMAS.format(keys="OFF") + _FILE_PRAGMAS
    return _sqlite_engine(str(file), size=1, begin="BEGIN IMMEDIATE", pragmas=pragmas)


def _sqlite_engine(file: str, *, size: int, begin: str, pragmas: str) -> AsyncEngine:
    from sqlalchemy import URL, AsyncAdaptedQueuePool, Connection, event
    from sqlalchemy.ext.asyncio import create_async_engine

    # At debug level it would log every statement, with the text of conversations.
    logging.getLogger("aiosqlite").setLevel(logging.WARNING)
    engine = create_async_engine(
        URL.create("sqlite+aiosqlite", database=file),
        poolclass=AsyncAdaptedQueuePool,
        pool_size=size,
        max_overflow=0,
        pool_timeout=WAIT_S,
        hide_parameters=True,
        # By default Python begins a transaction only at the first write, too late for a consistent read.
        connect_args={"isolation_level": None},
    )

    def on_connect(connection: Any, _record: object) -> None:
        connection.run_async(lambda driver: driver.executescript(pragmas))

    def on_begin(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    event.listen(engine.sync_engine, "connect", on_connect)
    event.listen(engine.sync_engine, "begin", on_begin)
    return engine


def _postgresql(url: str) -> Database:
    from sqlalchemy import NullPool
    from sqlalchemy.exc import ArgumentError

    try:
        address, options = _postgresql_address(url)
    except (ArgumentError, ValueError) as error:
        raise StartFailed(
            "`database` is not the address of a PostgreSQL server. Write it as postgresql://user:password@host/database."
        ) from error

    def engine(size: int, **execution: object) -> AsyncEngine:
        return _postgresql_engine(
            address,
            options,
            pool_size=size,
            max_overflow=0,
            pool_timeout=WAIT_S,
            pool_pre_ping=True,
            execution_options=execution,
        )

    def own() -> AsyncEngine:
        return _postgresql_engine(address, options, poolclass=NullPool)

    place = f"The PostgreSQL server {address.host or 'of this machine'}"
    with _starting(place):
        writer = engine(1)
        reader = engine(READERS, isolation_level="REPEATABLE READ", postgresql_readonly=True)
    return Database(writer, reader, place, own=own)


def _postgresql_engine(address: URL, options: dict[str, object], **pool: Any) -> AsyncEngine:
    from sqlalchemy import event
    from sqlalchemy.ext.asyncio import create_async_engine

    def on_connect(connection: Any, _record: object) -> None:
        connection.run_async(lambda driver: driver.execute(_SESSION))

    engine = create_async_engine(address, hide_parameters=True, connect_args=options, **pool)
    event.listen(engine.sync_engine, "connect", on_connect)
    return engine


def _postgresql_address(url: str) -> tuple[URL, dict[str, object]]:
    """The address and the arguments for the driver; libpq's `sslmode` and `options` are translated."""
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
