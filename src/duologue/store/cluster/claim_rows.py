"""Claims: which gateway does a piece of work that must be done once, or has something that only it can answer for.

One way for all of it: batches, responses in the background, rounds of deletion, temporary conversations. A claim holds for as long as the lease of its
gateway in `gateways` does, so nothing needs to be renewed but that one lease, and the claims of a dead gateway may be taken at once.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, literal, select

from duologue.store.cluster.database_clock import database_now
from duologue.store.schema.cluster_tables import gateways
from duologue.store.schema.sharing_tables import claims

if TYPE_CHECKING:
    from duologue.store.database import Database, Transaction


class ClaimRows:
    """`gateway`: the id of this one. Every method raises Unavailable as the database does."""

    def __init__(self, database: Database, gateway: str) -> None:
        self._database, self._gateway = database, gateway
        self._now = database_now(database)

    async def take(self, name: str, *, within: Transaction | None = None) -> bool:
        """Claim something that no living gateway has. Whether this gateway has it now, even if it had it before."""
        free = (claims.c.gateway == self._gateway) | ~self._is_living(claims.c.gateway)
        return await self._take(name, 0, free, within)

    async def take_turn(self, name: str, every_ms: int) -> bool:
        """Claim the next round of work that any gateway does, once in so many milliseconds. Whether it is this one's turn."""
        return await self._take(name, self._now + every_ms, claims.c.until <= self._now, None)

    async def _take(self, name: str, until: Any, free: Any, within: Transaction | None) -> bool:
        if self._database.is_postgresql:
            from sqlalchemy.dialects.postgresql import insert
        else:
            from sqlalchemy.dialects.sqlite import insert  # type: ignore[assignment]
        mine = {"gateway": self._gateway, "until": until}
        taken = (
            insert(claims)
            .values(name=name, **mine)
            .on_conflict_do_update(index_elements=[claims.c.name], set_=mine, where=free)
            .returning(claims.c.gateway)
        )
        async with self._database.writing(within) as connection:
            return (await connection.execute(taken)).first() is not None

    async def holds(self, name: str, *, within: Transaction) -> bool:
        """Whether this gateway has a claim and a lease that has not ended. Nobody else takes it before the transaction `within` is committed."""
        mine = select(claims.c.name).where(
            claims.c.name == name, claims.c.gateway == self._gateway, self._is_living(literal(self._gateway))
        )
        return (await within.execute(mine.with_for_update())).first() is not None

    async def owner(self, name: str) -> str | None:
        """The gateway that has something, living or not; None if it is not claimed."""
        async with self._database.reading() as connection:
            found: str | None = await connection.scalar(select(claims.c.gateway).where(claims.c.name == name))
        return found

    async def held_elsewhere(self, prefix: str) -> set[str]:
        """The names with this prefix that another living gateway has, without the prefix."""
        others = select(claims.c.name).where(
            claims.c.name.startswith(prefix, autoescape=True),
            claims.c.gateway != self._gateway,
            self._is_living(claims.c.gateway),
        )
        async with self._database.reading() as connection:
            return {name.removeprefix(prefix) for name in await connection.scalars(others)}

    async def release(self, names: Collection[str]) -> None:
        """Give claims back; without effect on those of others."""
        async with self._database.writing() as connection:
            mine = claims.c.gateway == self._gateway
            await connection.execute(delete(claims).where(mine, claims.c.name.in_(names)))

    async def forget_dead(self) -> None:
        """Delete the claims of gateways that are not listed any more, except those of rounds."""
        known = claims.c.gateway.in_(select(gateways.c.id))
        async with self._database.writing() as connection:
            await connection.execute(delete(claims).where(claims.c.until == 0, ~known))

    def _is_living(self, gateway: Any) -> Any:
        # No EXISTS: in an upsert that is about any row of the claims, not about the one in question.
        return gateway.in_(select(gateways.c.id).where(gateways.c.lease_until >= self._now))
