"""Statements that are right when two gateways change the same rows at once.

Used by the stores. A SQLite file has one writer at a time, so there they are as others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sqlalchemy import Insert, Table
    from sqlalchemy.ext.asyncio import AsyncConnection


def held(statement: Any) -> Any:
    """The selection, with its rows kept from other transactions that change or hold them. New rows may refer to them meanwhile: a
    message that waits to be sent is stored without waiting for the conversation."""
    return statement.with_for_update(key_share=True)


def inserted(connection: AsyncConnection, table: Table, values: Mapping[str, object]) -> Insert:
    """The statement that adds a row, unless another gateway has just added it."""
    if connection.dialect.name == "postgresql":
        from sqlalchemy.dialects.postgresql import insert
    else:
        from sqlalchemy.dialects.sqlite import insert  # type: ignore[assignment]
    return insert(table).values(values).on_conflict_do_nothing()
