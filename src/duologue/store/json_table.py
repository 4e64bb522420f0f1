"""A table with one JSON object per key, in the columns `value` and `updated`: for drafts, settings and tokens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from sqlalchemy import Table, delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from duologue.store.database import Database
from duologue.store.schema.rows import json

_object = msgspec.json.Decoder(dict[str, Any]).decode


class JsonTable:
    """The objects of one table. A key is the table's primary key, by column. `now` gives milliseconds since 1970 (UTC)."""

    def __init__(self, database: Database, table: Table, now: Callable[[], int]) -> None:
        self._database = database
        self._table = table
        self._now = now

    async def get(self, *, within: AsyncConnection | None = None, **key: str) -> dict[str, Any] | None:
        async with self._database.reading(within) as connection:
            value = await connection.scalar(select(self._table.c.value).filter_by(**key))
        return None if value is None else _object(value)

    async def put(self, value: dict[str, Any], *, within: AsyncConnection | None = None, **key: str) -> None:
        columns = {"value": json(value), "updated": self._now()}
        async with self._database.writing(within) as connection:
            result = await connection.execute(update(self._table).filter_by(**key).values(columns))
            if result.rowcount == 0:
                await connection.execute(insert(self._table).values(**key, **columns))

    async def delete(self, *, within: AsyncConnection | None = None, **key: str) -> bool:
        """Delete an object. Whether there was one."""
        async with self._database.writing(within) as connection:
            return (await connection.execute(delete(self._table).filter_by(**key))).rowcount > 0
