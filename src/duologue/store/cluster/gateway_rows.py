"""The gateways of this database, and until when each counts as living.

Used by `gateway/cluster/membership.py`. Leases are in the time of the database, so that no two machines need the same clock.
"""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import delete, func, insert, select, update

from duologue.store.cluster.database_clock import database_now
from duologue.store.database import Database
from duologue.store.schema.tables import gateways, runs
from duologue.values.cluster.gateway_entry import GatewayEntry

REMEMBERED_MS = 3_600_000
"""How long a gateway that has died is still listed."""
_COLUMNS = tuple(gateways.c[name] for name in GatewayEntry.__struct_fields__ if name != "living")


class GatewayWork(NamedTuple):
    """What the gateways do at this moment: `now` in milliseconds of the database's clock, and by the id of each how many replies of
    conversations it is writing."""

    now: int
    running: dict[str, int]


class GatewayRows:
    """Every method raises Unavailable as the database does."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._now = database_now(database)

    async def join(self, entry: GatewayEntry, lease_ms: int) -> None:
        """Add this gateway. Earlier processes of its data folder are dead, whatever their leases say, and long dead ones are
        forgotten."""
        async with self._database.writing() as connection:
            await connection.execute(
                delete(gateways).where(
                    (gateways.c.instance == entry.instance)
                    | (gateways.c.lease_until < self._now - REMEMBERED_MS)
                )
            )
            await connection.execute(
                insert(gateways).values(
                    id=entry.id,
                    instance=entry.instance,
                    address=entry.address,
                    version=entry.version,
                    protocol=entry.protocol,
                    started=self._now,
                    lease_until=self._now + lease_ms,
                )
            )

    async def renew(self, id: str, lease_ms: int) -> bool:
        """Prolong a lease from now on. Whether it had not ended before; False also when the gateway is not listed any more."""
        alive = select(gateways.c.id).where(gateways.c.id == id, gateways.c.lease_until >= self._now)
        async with self._database.writing() as connection:
            was_alive = (await connection.execute(alive)).first() is not None
            await connection.execute(
                update(gateways).where(gateways.c.id == id).values(lease_until=self._now + lease_ms)
            )
        return was_alive

    async def leave(self, id: str) -> None:
        """Remove a gateway that stops."""
        async with self._database.writing() as connection:
            await connection.execute(delete(gateways).where(gateways.c.id == id))

    async def all(self) -> tuple[GatewayEntry, ...]:
        """Every gateway that lives or has died lately, the oldest first."""
        living = (gateways.c.lease_until >= self._now).label("living")
        these = (
            select(*_COLUMNS, living)
            .where(gateways.c.lease_until >= self._now - REMEMBERED_MS)
            .order_by(gateways.c.started, gateways.c.id)
        )
        async with self._database.reading() as connection:
            return tuple(GatewayEntry(**row) for row in (await connection.execute(these)).mappings())

    async def work(self) -> GatewayWork:
        """Not read with `all`, which every gateway does while its lease runs: the table of replies may be large."""
        counts = select(runs.c.gateway, func.count()).where(runs.c.ended == 0).group_by(runs.c.gateway)
        async with self._database.reading() as connection:
            now: int = (await connection.execute(select(self._now))).scalar_one()
            found = await connection.execute(counts)
            return GatewayWork(now, {row[0]: row[1] for row in found})
