"""The revisions, from the first to the last, make the tables that an empty database gets."""

from __future__ import annotations

import pytest
from sqlalchemy import create_engine, text
from tests.support.store_fixtures import drop_schema, make_schema

from duologue.store.database import Database
from duologue.store.schema import migrate, tables

pytestmark = pytest.mark.anyio

COLUMNS = text(
    "SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns "
    "WHERE table_schema = current_schema() ORDER BY table_name, column_name"
)
INDEXES = text(
    "SELECT replace(indexdef, current_schema() || '.', '') FROM pg_indexes "
    "WHERE schemaname = current_schema() ORDER BY indexname"
)
CONSTRAINTS = text(
    "SELECT conname, replace(pg_get_constraintdef(oid), current_schema() || '.', '') FROM pg_constraint "
    "WHERE connamespace = current_schema()::regnamespace ORDER BY conname"
)


def sqlite_schema(make) -> list[tuple[str, str, list[str]]]:
    """What there is after `make`: its kind, its name and the lines of its SQL, in whatever order."""
    engine = create_engine("sqlite://")
    with engine.begin() as connection:
        make(connection)
        found = connection.execute(text("SELECT type, name, sql FROM sqlite_master ORDER BY type, name"))
        return [
            (kind, name, sorted(normal(sql)))
            for kind, name, sql in found
            if sql and name != "alembic_version"
        ]


def normal(sql: str) -> list[str]:
    lines = [
        " ".join(line.replace('"', "").split()).rstrip(",")
        # A column that was added later follows on the line of the last one.
        for line in sql.replace(" (", "\n(").replace("BEGIN ", "BEGIN\n").replace(", ", ",\n").splitlines()
    ]
    # Where nothing follows the columns, it stands before the bracket that closes the table.
    closed = [line[:-1] if line.count(")") > line.count("(") else line for line in lines]
    return [line for line in closed if line.strip("() ,")]


async def test_on_sqlite_it_makes_what_an_empty_database_gets():
    made = sqlite_schema(migrate.create)
    assert sqlite_schema(lambda connection: migrate._upgrade(connection, tables.HEAD)) == made
    assert len(made) > 30


async def test_on_postgresql_it_makes_what_an_empty_database_gets(tmp_path, anyio_backend):
    found = []
    for migrated in (False, True):
        schema = f"duologue_revision_{migrated}".lower()
        url = await make_schema(schema)
        try:
            async with Database.opened(url, tmp_path, now=lambda: 0) as database:
                async with database.writing() as connection:
                    if migrated:
                        await connection.execute(text(f"DROP SCHEMA {schema} CASCADE"))
                        await connection.execute(text(f"CREATE SCHEMA {schema}"))
                        await connection.run_sync(migrate._upgrade, tables.HEAD)
                async with database.reading() as connection:
                    questions = (COLUMNS, INDEXES, CONSTRAINTS)
                    rows = [(await connection.execute(question)).all() for question in questions]
            found.append([[row for row in some if "alembic" not in str(row)] for some in rows])
        finally:
            await drop_schema(schema)
    assert found[0] == found[1]
