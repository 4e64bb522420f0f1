"""Statements that are right when two gateways change the same rows at once.

Used by the stores (decision 67). On SQLite, where a file has one writer at a time, they are not needed and do no harm.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import text

if TYPE_CHECKING:
    from sqlalchemy import Table
    from sqlalchemy.ext.asyncio import AsyncConnection


# Such locks belong to a database, not to a schema, and several installations may share one.
_ALONE = text(
    "SELECT pg_advisory_xact_lock(hashtextextended('duologue ' || current_schema() || ' ' || :work, 0))"
)


def held(statement: Any) -> Any:
    """The selection, with its rows kept from other transactions that change or hold them. New rows may refer to them meanwhile: a
    message that waits to be sent is stored without waiting for the conversation."""
    return statement.with_for_update(key_share=True)


async def one_at_a_time(connection: AsyncConnection, work: str) -> None:
    """Wait until no other gateway does this work, and keep the others from it until the transaction ends. For what depends on rows that
    another transaction may add, which no lock of rows holds: what is read from here on is what they have left."""
    if connection.dialect.name == "postgresql":
        await connection.execute(_ALONE, {"work": work})


def inserted(connection: AsyncConnection, table: Table, values: Mapping[str, object]) -> Any:
    """The statement that adds a row, unless another gateway has just added it."""
    return _insert(connection.dialect.name, table).values(values).on_conflict_do_nothing()


def replaced(
    connection: AsyncConnection,
    table: Table,
    values: Mapping[str, object],
    changed: Mapping[str, object] | None = None,
) -> Any:
    """The statement that adds a row, or sets these values in the one with its primary key; `changed`: those set there instead. The
    row is held until the transaction ends."""
    key = [column.name for column in table.primary_key]
    new = {name: value for name, value in values.items() if name not in key} if changed is None else changed
    return (
        _insert(connection.dialect.name, table)
        .values(values)
        .on_conflict_do_update(index_elements=key, set_=new)
    )


def replacing(connection: AsyncConnection, table: Table) -> Any:
    """The statement that adds the rows it is executed with, in place of those with the same primary keys."""
    return _replacing(connection.dialect.name, table)


@cache
def _replacing(dialect: str, table: Table) -> Any:
    statement = _insert(dialect, table)
    key = [column.name for column in table.primary_key]
    new = {column.name: column for column in statement.excluded if column.name not in key}
    return statement.on_conflict_do_update(index_elements=key, set_=new)


def _insert(dialect: str, table: Table) -> Any:
    if dialect == "postgresql":
        from sqlalchemy.dialects.postgresql import insert
    else:
        from sqlalchemy.dialects.sqlite import insert  # type: ignore[assignment]
    return insert(table)
