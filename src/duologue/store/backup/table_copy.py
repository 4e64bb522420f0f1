"""All rows of one database into another, SQLite or PostgreSQL, in one snapshot of the first and one transaction of the second.

Used by `postgresql_backup.py`. Owns what is not the same in both: the order of rows that refer to each other, the counters behind
numbered rows, and the search index. The types of the tables do the rest: times are numbers and JSON is text in both.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from itertools import groupby
from typing import Any

from sqlalchemy import Select, Table, func, insert, select, text, update
from sqlalchemy.ext.asyncio import AsyncConnection

from duologue.store.database import Database
from duologue.store.schema import tables
from duologue.store.search.index import index

AT_A_TIME = 200
"""Rows that are in memory at a time."""
LARGE = {"avatar_files", "custom_voices"}
"""Tables whose rows may have megabytes each: one at a time."""
OF_GATEWAYS = {"claims", "limit_parts"}
"""What gateways that run hold: it is emptied, and not copied."""
LEFT_OUT = {"alembic_version", "gateways"} | OF_GATEWAYS
"""What belongs to a database and not to its contents."""


def copied_tables() -> list[Table]:
    """The tables with contents, each after those it refers to."""
    return [table for table in tables.metadata.sorted_tables if table.name not in LEFT_OUT]


async def copy_tables(source: Database, target: Database) -> None:
    """Replace all contents of `target` by those of `source`. Both have the schema of this program."""
    async with source.reading() as reader, target.writing() as writer:
        await _empty(writer)
        for table in copied_tables():
            await _copy(reader, writer, table)
        await _copy_words(reader, writer)


async def _empty(writer: AsyncConnection) -> None:
    names = [*(table.name for table in copied_tables()), *OF_GATEWAYS]
    if writer.dialect.name == "postgresql":
        await writer.exec_driver_sql(f"TRUNCATE {', '.join(_quoted(name) for name in names)} CASCADE")
        return
    # Rows of one table may refer to rows that come later.
    await writer.exec_driver_sql("PRAGMA defer_foreign_keys = ON")
    for name in reversed(names):
        await writer.exec_driver_sql(f"DELETE FROM {_quoted(name)}")


async def _copy(reader: AsyncConnection, writer: AsyncConnection, table: Table) -> None:
    parents = _parents(table)
    rows = select(table).order_by(*table.primary_key)
    async for some in _some(reader, rows, 1 if table.name in LARGE else AT_A_TIME):
        values = [dict(row) for row in some]
        for row in values:
            row.update(dict.fromkeys(parents))
        await writer.execute(insert(table), values)
    for name in parents:
        # A row may refer to one that came after it: their references follow when all are there.
        (key,) = table.primary_key
        column = table.c[name]
        async for some in _some(reader, select(key, column).where(column.is_not(None)), AT_A_TIME):
            for row in some:
                await writer.execute(update(table).where(key == row[key.name]).values({name: row[name]}))
    await _copy_counter(reader, writer, table)


def _parents(table: Table) -> list[str]:
    """The columns that refer to rows of the same table and are checked at once."""
    return [
        constraint.column_keys[0]
        for constraint in table.foreign_key_constraints
        if constraint.referred_table is table and not constraint.deferrable
    ]


async def _some(connection: AsyncConnection, rows: Select[Any], size: int) -> AsyncIterator[Sequence[Any]]:
    result = (await connection.stream(rows, execution_options={"yield_per": size})).mappings()
    async for some in result.partitions(size):
        yield some


async def _copy_counter(reader: AsyncConnection, writer: AsyncConnection, table: Table) -> None:
    """Numbers are never given twice, also those of rows that are gone."""
    column = table.autoincrement_column
    if column is None:
        return
    last = await _counter(reader, table.name, column.name)
    last = max(last, int(await writer.scalar(select(func.coalesce(func.max(column), 0))) or 0))
    if not last:
        return
    if writer.dialect.name == "postgresql":
        await writer.execute(
            text("SELECT setval(pg_get_serial_sequence(:table, :column), :last)"),
            {"table": _quoted(table.name), "column": column.name, "last": last},
        )
        return
    given = {"name": table.name, "last": last}
    await writer.execute(text("DELETE FROM sqlite_sequence WHERE name = :name"), given)
    await writer.execute(text("INSERT INTO sqlite_sequence (name, seq) VALUES (:name, :last)"), given)


async def _counter(reader: AsyncConnection, table: str, column: str) -> int:
    if reader.dialect.name != "postgresql":
        last = await reader.scalar(
            text("SELECT seq FROM sqlite_sequence WHERE name = :name"), {"name": table}
        )
        return int(last or 0)
    name = await reader.scalar(
        text("SELECT pg_get_serial_sequence(:table, :column)"), {"table": _quoted(table), "column": column}
    )
    return int(
        await reader.scalar(text(f"SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM {name}")) or 0
    )


async def _copy_words(reader: AsyncConnection, writer: AsyncConnection) -> None:
    """The search index: the same words, in the form of each database."""
    key = "message" if reader.dialect.name == "postgresql" else "rowid"
    if writer.dialect.name != "postgresql":
        await writer.exec_driver_sql("DELETE FROM message_words")
    words = text(
        f'SELECT f.{key} AS message, f.words AS words, c."user" AS owner FROM message_words AS f '
        f"JOIN messages AS m ON m.sequence = f.{key} JOIN conversations AS c ON c.id = m.conversation "
        "ORDER BY m.sequence"
    )
    result = (await reader.stream(words, execution_options={"yield_per": AT_A_TIME})).mappings()
    async for some in result.partitions(AT_A_TIME):
        for user, rows in groupby(some, lambda row: str(row["owner"])):
            await index(writer, user, [(row["message"], row["words"]) for row in rows])


def _quoted(name: str) -> str:
    return f'"{name}"'
