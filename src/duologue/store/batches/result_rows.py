"""The results of running batches when several gateways share the database: one for each request, whichever gateway answered it.

Used by `gateway/batches`. On a database in a file results are in files beside it, which cost less.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Literal, NamedTuple

from sqlalchemy import delete, func, select

from duologue.store.cluster.claim_rows import ClaimRows
from duologue.store.database import Database
from duologue.store.schema.sharing_tables import batch_results

ResultOutcome = Literal["output", "errors"]
AT_A_TIME = 500


class ResultRow(NamedTuple):
    """A result of one request, by the key of its line; `data`: the line of the results, with its end."""

    line: bytes
    outcome: ResultOutcome
    data: str


class ResultRows:
    """`claims`: of this gateway. Every method raises Unavailable as the database does."""

    def __init__(self, database: Database, claims: ClaimRows) -> None:
        self._database, self._claims = database, claims

    async def add(self, batch: str, claim: str, rows: Sequence[ResultRow]) -> bool:
        """Store results; those of requests that have one already are left out. False, and nothing is stored, where another gateway has taken the batch."""
        from sqlalchemy.dialects.postgresql import insert

        async with self._database.writing() as connection:
            if not await self._claims.holds(claim, within=connection):
                return False
            last = select(func.coalesce(func.max(batch_results.c.number), 0)).where(
                batch_results.c.batch == batch
            )
            number = int(await connection.scalar(last) or 0)
            values = [
                {"batch": batch, "number": number + place, **row._asdict()}
                for place, row in enumerate(rows, 1)
            ]
            await connection.execute(insert(batch_results).values(values).on_conflict_do_nothing())
        return True

    async def of(self, batch: str, outcome: ResultOutcome) -> AsyncIterator[list[tuple[bytes, str]]]:
        """Keys and lines of a batch in the order in which they came, some at a time."""
        after = 0
        while True:
            these = (
                select(batch_results.c.number, batch_results.c.line, batch_results.c.data)
                .where(
                    batch_results.c.batch == batch,
                    batch_results.c.outcome == outcome,
                    batch_results.c.number > after,
                )
                .order_by(batch_results.c.number)
                .limit(AT_A_TIME)
            )
            async with self._database.reading() as connection:
                rows = (await connection.execute(these)).all()
            if not rows:
                return
            after = rows[-1].number
            yield [(bytes(row.line), row.data) for row in rows]

    async def forget(self, batch: str) -> None:
        """Delete the results of a batch: they are stored files now."""
        async with self._database.writing() as connection:
            await connection.execute(delete(batch_results).where(batch_results.c.batch == batch))
