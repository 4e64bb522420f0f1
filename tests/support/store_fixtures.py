"""Databases for tests, by name from every room: `from store_fixtures import clock, database`.

`database` gives each test a fresh SQLite file, a database in memory, and a schema of its own on PostgreSQL, if a server
answers on this machine (another one: DUOLOGUE_TEST_POSTGRESQL). `memory` is the one in memory alone, `both` is PostgreSQL
as two gateways have it.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from functools import cache
from itertools import count
from uuid import uuid4

import pytest

from duologue.store.database import Database
from duologue.store.schema import tables
from duologue.store.stores import Store
from duologue.values.conversations import Conversation, StoredMessage, TextContent
from duologue.values.messages import Role

POSTGRESQL = tuple(filter(None, (os.environ.get("DUOLOGUE_TEST_POSTGRESQL"),))) or tuple(
    f"postgresql://{user}@127.0.0.1:5432/test" for user in ("postgres", "root")
)
NO_SERVER = "no PostgreSQL server answers at 127.0.0.1:5432 (DUOLOGUE_TEST_POSTGRESQL names another)"
START = 1_800_000_000_000


class Clock:
    """A clock that stands still until it is moved; milliseconds since 1970."""

    def __init__(self, at: int = START) -> None:
        self.at = at

    def __call__(self) -> int:
        return self.at

    def forward(self, ms: int) -> None:
        self.at += ms


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["file", "memory", "postgresql"])
async def database(request, tmp_path, clock, anyio_backend) -> AsyncIterator[Database]:
    """A fresh database of each kind."""
    if request.param == "memory":
        async with Database.memory() as opened:
            yield opened
    elif request.param == "file":
        async with Database.opened(None, tmp_path / "data", now=clock) as opened:
            yield opened
    else:
        async with Database.opened(
            await shared_schema(request.session), tmp_path / "data", now=clock
        ) as opened:
            yield opened
            await emptied(opened)


@pytest.fixture
async def both(request, tmp_path, clock, anyio_backend) -> AsyncIterator[tuple[Database, Database]]:
    """One schema of PostgreSQL as two gateways have it open."""
    url = await shared_schema(request.session)
    async with (
        Database.opened(url, tmp_path / "one", now=clock) as one,
        Database.opened(url, tmp_path / "two", now=clock) as two,
    ):
        yield one, two
        await emptied(one)


@pytest.fixture
async def memory(anyio_backend) -> AsyncIterator[Database]:
    """A database in memory, for tests that ask nothing of the database itself."""
    async with Database.memory() as opened:
        yield opened


@pytest.fixture
def store(database: Database, clock: Clock) -> Store:
    return Store(database, clock)


async def make_schema(name: str) -> str:
    """Make an empty schema; gives its address. Skips the test where no server answers."""
    import asyncpg

    server = await _server()
    connection = await asyncpg.connect(server)
    await connection.execute(f"CREATE SCHEMA {name}")
    await connection.close()
    return f"{server}?options=-csearch_path%3D{name}"


async def drop_schema(name: str) -> None:
    import asyncpg

    connection = await asyncpg.connect(await _server())
    await connection.execute(f"DROP SCHEMA {name} CASCADE")
    await connection.close()


@cache
def _known() -> dict[str, str]:
    """What this process has found and made: the server, and the schema of all its tests."""
    return {}


async def _server() -> str:
    import asyncpg

    if "server" not in _known():
        _known()["server"] = ""
        for url in POSTGRESQL:
            try:
                connection = await asyncpg.connect(url, timeout=60)
            except (OSError, asyncpg.PostgresError, TimeoutError):
                continue
            await connection.close()
            _known()["server"] = url
            break
    if not _known()["server"]:
        pytest.skip(NO_SERVER)
    return _known()["server"]


async def shared_schema(session: pytest.Session) -> str:
    """The address of the schema all tests share, one after the other: making its tables takes longer than a test."""
    if "schema" not in _known():
        name = f"duologue_{uuid4().hex}"
        _known()["schema"] = await make_schema(name)
        session.addfinalizer(lambda: asyncio.run(drop_schema(name)))
    return _known()["schema"]


async def emptied(database: Database) -> None:
    """Remove every row, for the next test."""
    async with database.writing() as connection:
        for table in reversed(tables.metadata.sorted_tables):
            if table is not tables.revision:
                await connection.execute(table.delete())


_numbers = count()


def row(
    conversation: str, id: str, parent: str | None = None, text: str = "", role: Role = "user", **fields
) -> StoredMessage:
    """A message of plain text, or of other `fields`."""
    fields.setdefault("content", (TextContent(text),) if text else ())
    return StoredMessage(id=id, conversation=conversation, parent=parent, role=role, **fields)


async def conversation(
    store: Store, *texts: str, id: str = "", user: str = "local", **fields
) -> Conversation:
    """A conversation of these texts, the user's first, one below the other: m0, m1 ..."""
    made = await store.conversations.create(
        user, Conversation(id=id or f"conversation_{next(_numbers)}", **fields)
    )
    rows = [
        row(made.id, f"m{at}", f"m{at - 1}" if at else None, text, "assistant" if at % 2 else "user")
        for at, text in enumerate(texts)
    ]
    await store.messages.add(rows, leaf=rows[-1].id if rows else None)
    return await store.conversations.get(user, made.id)
