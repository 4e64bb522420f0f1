"""From SQLite to PostgreSQL and back, with rows in every table."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from tests.support.filled_tables import contents, fill, fill_words
from tests.support.store_fixtures import drop_schema, make_schema

from duologue.store.backup.table_copy import copied_tables, copy_tables
from duologue.store.database import Database

pytestmark = pytest.mark.anyio

SCHEMA = "duologue_table_copy"


@asynccontextmanager
async def both(tmp_path: Path) -> AsyncIterator[tuple[Database, Database]]:
    """A SQLite file and a PostgreSQL schema, both empty."""
    url = await make_schema(SCHEMA)
    try:
        async with (
            Database.opened(None, tmp_path, now=lambda: 0) as sqlite,
            Database.opened(url, tmp_path, now=lambda: 0) as postgresql,
        ):
            yield sqlite, postgresql
    finally:
        await drop_schema(SCHEMA)


async def rows(database: Database) -> dict[str, list[dict[str, Any]]]:
    async with database.reading() as connection:
        return await connection.run_sync(contents)


async def found(database: Database) -> list[int]:
    """The messages that a search for a word finds."""
    from duologue.store.search.index import match_query, newest
    from duologue.store.search.tokenizer import Term

    async with database.reading() as connection:
        dialect = connection.dialect.name
        user = str(await connection.scalar(text('SELECT "user" FROM conversations ORDER BY id LIMIT 1')))
        query = match_query(dialect, user, [Term(("rain",), False)])
        given = {"query": query, "user": user, "most": 10, "reach": 5, "archived": True}
        return [row[0] for row in await connection.execute(newest(dialect), given)]


@pytest.mark.parametrize("to", ["postgresql", "sqlite"])
async def test_every_row_comes_over_and_comes_back(tmp_path: Path, anyio_backend: str, to: str) -> None:
    async with both(tmp_path) as (sqlite, postgresql):
        first, second = (sqlite, postgresql) if to == "postgresql" else (postgresql, sqlite)
        async with first.writing() as connection:
            await connection.run_sync(fill)
            await connection.run_sync(fill_words)
            await connection.execute(text("UPDATE conversations SET deleted = 0"))
            # A folder that was made after the one it is in, and the number of a message that is gone.
            await connection.execute(
                text("UPDATE folders SET parent = (SELECT max(id) FROM folders) WHERE parent IS NULL")
            )
            gone = "SELECT max(sequence) FROM messages"
            if first is postgresql:  # numbers that were given do not count there
                counter = "pg_get_serial_sequence('messages', 'sequence')"
                await connection.execute(text(f"SELECT setval({counter}, ({gone}))"))
            await connection.execute(text(f"DELETE FROM messages WHERE sequence = ({gone})"))
        before = await rows(first)
        assert {table.name for table in copied_tables()} == set(before), "no table is forgotten"
        assert all(before.values())
        await copy_tables(first, second)
        await copy_tables(first, second)  # over what is there
        assert await rows(second) == before
        assert await found(second) == await found(first) != []
        number = await _next_message(second)
        assert number > max(row["sequence"] for row in before["messages"]) + 1, "no number is given twice"
        await copy_tables(second, first)
        assert len((await rows(first))["messages"]) == len(before["messages"]) + 1


async def _next_message(database: Database) -> int:
    """The number that a new message gets."""
    async with database.writing() as connection:
        columns = next(iter((await connection.execute(text("SELECT * FROM messages"))).mappings()))
        names = [name for name in columns if name not in ("sequence", "parent")]
        listed = ", ".join(f'"{name}"' for name in names)
        values = {name: columns[name] for name in names} | {"id": "new"}
        places = ", ".join(f":{name}" for name in names)
        await connection.execute(text(f"INSERT INTO messages ({listed}) VALUES ({places})"), values)
        return int(await connection.scalar(text("SELECT max(sequence) FROM messages")) or 0)
