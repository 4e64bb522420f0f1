"""What two gateways do at the same moment, one behind the other in the database: `from tests.support.at_once import done_before`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import anyio
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from duologue.store.database import Database

_WAITED_FOR = text(
    "SELECT count(*) FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))"
)


class Within:
    """A database of which everything that is done is part of one transaction, `connection`."""

    def __init__(self, database: Database, connection: AsyncConnection) -> None:
        self.connection = connection
        self.is_postgresql = database.is_postgresql
        self._database = database

    def writing(self, within: AsyncConnection | None = None) -> AbstractAsyncContextManager[AsyncConnection]:
        return self._database.writing(within or self.connection)

    reading = writing


async def is_waited_for(connection: AsyncConnection) -> bool:
    """Whether another transaction waits for this one."""
    return bool(await connection.scalar(_WAITED_FOR))


@asynccontextmanager
async def done_before(
    first: Database,
    act: Callable[[], Awaitable[Any]],
    then: Callable[[Any], Awaitable[Any]] | None = None,
) -> AsyncIterator[tuple[Any, list[Any]]]:
    """What the block does with the database that it gets is stored when `act`, at another gateway, waits for that or is over; `then` is done
    with it just before. What `act` gave or raised is in the list afterwards."""
    results: list[Any] = []

    async def run() -> None:
        try:
            results.append(await act())
        except Exception as error:
            results.append(error)

    async with anyio.create_task_group() as tasks, first.writing() as connection:
        yield Within(first, connection), results
        tasks.start_soon(run)
        while not results and not await is_waited_for(connection):  # noqa: ASYNC110 (the database notifies nobody)
            await anyio.sleep(0.01)
        if then is not None:
            await then(Within(first, connection))
