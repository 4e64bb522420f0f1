"""Rows in every table of a database, whatever its schema is: made from what the database says of its own tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    Float,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    insert,
    select,
    text,
)

NOT_CONTENTS = ("alembic_version", "message_words", "sqlite_", "gateways", "claims", "limit_parts")
ROWS = 3
"""Of each table. The first has every column; in the second everything is missing that may be."""


def tables_of(connection: Connection) -> list[Table]:
    """The tables that have contents, each after those it refers to."""
    metadata = MetaData()
    metadata.reflect(connection, only=lambda name, _: not name.startswith(NOT_CONTENTS))
    return list(metadata.sorted_tables)


def fill(connection: Connection, known: list[Table] | None = None) -> None:
    """Add rows to every table that has none, of all or of the `known` ones. What refers to other rows refers to rows that are there."""
    every = known or tables_of(connection)
    made = contents(connection, every)
    for table in every:
        if made[table.name]:
            continue
        for number in range(1, ROWS + 1):
            row = filled_row(table, number, made)
            if number == 2:
                row.update({column.name: None for column in table.columns if column.nullable})
            connection.execute(insert(table), [row])
            made[table.name].append(row)


def filled_row(table: Table, number: int, made: Mapping[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """A row with every column. It refers to `made` rows: of its own table, to the last one."""
    row = {column.name: _value(column, number) for column in table.columns}
    for constraint in table.foreign_key_constraints:
        referred = made.get(constraint.referred_table.name, [])
        place = -1 if constraint.referred_table is table else (number - 1) % max(len(referred), 1)
        for name, element in zip(constraint.column_keys, constraint.elements, strict=True):
            row[name] = referred[place][element.column.name] if referred else None
    if table.name == "messages":
        # A message and its parent are in the same conversation.
        row["conversation"] = made["conversations"][0]["id"]
    return row


def fill_words(connection: Connection) -> None:
    """Put the messages into the search index."""
    from duologue.store.search.index import _POSTGRESQL_WRITE, _SQLITE_WRITE, _vector, owner_token

    is_postgresql = connection.dialect.name == "postgresql"
    found = connection.execute(
        text(
            'SELECT m.sequence, c."user" FROM messages AS m JOIN conversations AS c ON c.id = m.conversation'
        )
    )
    for sequence, user in found.all():
        words = f"rain number{sequence} again"
        row = {"message": sequence, "words": words, "owner": owner_token(user)}
        if is_postgresql:
            row["vector"] = _vector(row["owner"], words)
        connection.execute(_POSTGRESQL_WRITE if is_postgresql else _SQLITE_WRITE, row)


def contents(connection: Connection, known: list[Table] | None = None) -> dict[str, list[dict[str, Any]]]:
    """Every row of every table with contents, of all or of the `known` ones."""
    return {
        table.name: [
            dict(row)
            for row in connection.execute(select(table).order_by(*table.primary_key.columns)).mappings()
        ]
        for table in known or tables_of(connection)
    }


def _value(column: Column[Any], number: int) -> object:
    match column.type:
        case Boolean():
            return number % 2 == 1
        case BigInteger() | Integer():
            return 1_700_000_000_000 + number if isinstance(column.type, BigInteger) else number
        case Float():
            return number / 4
        case LargeBinary():
            return b"\0\xff" + number.to_bytes(3, "big") * 5
        case _:
            return f"{column.table.name} {column.name} {number} 'Grüße' \U0001f44b \\u0000"
