"""One JSON object a key, in a table with a `value` and an `updated`: what drafts, settings and tokens have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from sqlalchemy import Table, delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from duologue.store.database import Database
from duologue.store.schema.rows import json

_object = msgspec.json.Decoder(dict[str, Any]).decode


class Documents:
    """The objects of one table; a key is its primary key, by column. `now` gives milliseconds since 1970 (UTC)."""

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
            changed = await connection.execute(update(self._table).filter_by(**key).values(columns))
            if changed.rowcount == 0:
                await connection.execute(insert(self._table).values(**key, **columns))

    async def delete(self, *, within: AsyncConnection | None = None, **key: str) -> bool:
        """Whether there was one."""
        async with self._database.writing(within) as connection:
            return (await connection.execute(delete(self._table).filter_by(**key))).rowcount > 0
