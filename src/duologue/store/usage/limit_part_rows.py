"""The rows in which gateways divide the limits of keys: read and written under a lock, one transaction for several keys.

Used by `gateway/usage/shared`, which decides what the parts become. Only on PostgreSQL: a database in a file has one gateway.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import delete, func, select, update

from duologue.store.cluster.database_clock import database_now
from duologue.store.schema.sharing_tables import limit_parts
from duologue.store.schema.usage_tables import usage

if TYPE_CHECKING:
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

    async def change(self, keys: Collection[str], day: str, decide: Callable[[KeyRow], str]) -> None:
        """Replace the parts of these keys by what `decide` makes of them, while no other gateway can. A row without parts is removed."""
        from sqlalchemy.dialects.postgresql import insert

        # In one order for everybody: two gateways never wait for each other's rows.
        names = sorted(keys)
        tokens = func.sum(usage.c.prompt - usage.c.cached + usage.c.completion)
        async with self._database.writing() as connection:
            fresh = insert(limit_parts).values([{"key": name, "parts": NO_PARTS} for name in names])
            await connection.execute(fresh.on_conflict_do_nothing())
            these = select(limit_parts.c.key, limit_parts.c.parts, database_now(self._database))
            locked = these.where(limit_parts.c.key.in_(names)).order_by(limit_parts.c.key).with_for_update()
            rows = (await connection.execute(locked)).all()
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
