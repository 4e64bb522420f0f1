"""The rows in which gateways divide the limits of keys: read and written under a lock, one transaction for several keys.

Used by `gateway/usage/shared`, which decides what the parts become. Only on PostgreSQL: a database in a file has one gateway.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import delete, func, select, update

from duologue.store.cluster.database_clock import database_now
from duologue.store.schema.repeating import repeated
from duologue.store.schema.sharing_tables import limit_parts
from duologue.store.schema.usage_tables import usage

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection

    from duologue.store.database import Database

NO_PARTS = "{}"


class KeyRow(NamedTuple):
    """What is known of a key: its `parts`, JSON; `spent`: its tokens of the day in the rows of the usage; `now`: ms of the database's clock."""

    key: str
    parts: str
    spent: int
    now: int


class LimitPartRows:
    """Every method raises Unavailable as the database does."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @repeated
    async def change(self, keys: Collection[str], day: str, decide: Callable[[KeyRow], str]) -> None:
        """Replace the parts of these keys by what `decide` makes of them, while no other gateway can. A row without parts is removed. `decide` may be
        called again for a key where PostgreSQL had to undo what was written."""
        # In one order for everybody: two gateways never wait for each other's rows.
        names = sorted(keys)
        tokens = func.sum(usage.c.prompt - usage.c.cached + usage.c.completion)
        async with self._database.writing() as connection:
            rows = await self._locked(connection, names)
            # After the lock: what another gateway moved to the usage before it gave its part back is seen here.
            counted = select(usage.c.key, tokens).where(usage.c.day == day, usage.c.key.in_(names))
            spent = {
                key: int(count) for key, count in await connection.execute(counted.group_by(usage.c.key))
            }
            for key, parts, now in rows:
                after = decide(KeyRow(key, parts, spent.get(key, 0), now))
                this = limit_parts.c.key == key
                if after == NO_PARTS:
                    await connection.execute(delete(limit_parts).where(this))
                elif after != parts:
                    await connection.execute(update(limit_parts).where(this).values(parts=after))

    async def _locked(self, connection: AsyncConnection, names: Sequence[str]) -> list[tuple[str, str, int]]:
        """The keys of these names with their parts and the time, as rows which nobody else changes until the transaction ends; made where they are missing."""
        from sqlalchemy.dialects.postgresql import insert

        columns = (limit_parts.c.key, limit_parts.c.parts, database_now(self._database))
        there = select(*columns).where(limit_parts.c.key.in_(names)).order_by(limit_parts.c.key)
        rows = [(row[0], row[1], row[2]) for row in await connection.execute(there.with_for_update())]
        known = {key for key, _, _ in rows}
        missing = [{"key": name, "parts": NO_PARTS} for name in names if name not in known]
        if missing:
            # Another gateway may make or remove one at this moment: then this waits for it, and has the row all the same.
            fresh = insert(limit_parts).values(missing)
            fresh = fresh.on_conflict_do_update(
                index_elements=[limit_parts.c.key], set_={"key": fresh.excluded.key}
            )
            made = await connection.execute(fresh.returning(*columns))
            rows += [(row[0], row[1], row[2]) for row in made]
        return rows
