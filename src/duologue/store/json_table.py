"""A table with one JSON object per key, in the columns `value` and `updated`: for drafts, settings and tokens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from sqlalchemy import Table, delete, select
from sqlalchemy.ext.asyncio import AsyncConnection

from duologue.store.database import Database
from duologue.store.schema.locking import replaced
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
        row = key | {"value": json(value), "updated": self._now()}
        async with self._database.writing(within) as connection:
            await connection.execute(replaced(connection, self._table, row))

    async def change(
        self,
        change: Callable[[dict[str, Any]], dict[str, Any]],
        *,
        within: AsyncConnection | None = None,
        **key: str,
    ) -> dict[str, Any]:
        """Store what `change` makes of the object, an empty one where there was none; no other change comes in between. Returns it."""
        updated = {"updated": self._now()}
        held = key | updated | {"value": "{}"}
        async with self._database.writing(within) as connection:
            # The row is written before it is read, so that it is held also where it is new.
            await connection.execute(replaced(connection, self._table, held, updated))
            new = change(await self.get(within=connection, **key) or {})
            await self.put(new, within=connection, **key)
        return new

    async def delete(self, *, within: AsyncConnection | None = None, **key: str) -> bool:
        """Delete an object. Whether there was one."""
        async with self._database.writing(within) as connection:
            return (await connection.execute(delete(self._table).filter_by(**key))).rowcount > 0
