"""Statements that are right when two gateways change the same rows, on every kind of database."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from duologue.store.database import Database
from duologue.store.schema.locking import inserted, replaced, replacing
from duologue.store.schema.tables import user_settings

pytestmark = pytest.mark.anyio


def row(user: str, value: str, updated: int = 1) -> dict[str, Any]:
    return {"user": user, "value": value, "updated": updated}


async def stored(connection: AsyncConnection) -> list[tuple[Any, ...]]:
    rows = await connection.execute(select(user_settings).order_by(user_settings.c.user))
    return [tuple(found) for found in rows]


async def test_a_row_that_is_there_already_stays_as_it_is(database: Database) -> None:
    async with database.writing() as connection:
        for value in ("first", "second"):
            await connection.execute(inserted(connection, user_settings, row("ann", value)))
        assert await stored(connection) == [("ann", "first", 1)]


async def test_a_row_is_added_or_replaced_whole_or_in_part(database: Database) -> None:
    async with database.writing() as connection:
        await connection.execute(replaced(connection, user_settings, row("ann", "first")))
        await connection.execute(replaced(connection, user_settings, row("ann", "second", 2)))
        assert await stored(connection) == [("ann", "second", 2)]
        await connection.execute(replaced(connection, user_settings, row("ann", "third", 3), {"updated": 3}))
        assert await stored(connection) == [("ann", "second", 3)]


async def test_several_rows_are_added_in_place_of_those_with_their_keys(database: Database) -> None:
    async with database.writing() as connection:
        statement = replacing(connection, user_settings)
        await connection.execute(statement, [row("ann", "old"), row("bob", "kept")])
        await connection.execute(statement, [row("ann", "new", 2), row("eve", "other")])
        assert await stored(connection) == [("ann", "new", 2), ("bob", "kept", 1), ("eve", "other", 1)]
