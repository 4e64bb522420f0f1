"""Which gateway carries out a batch when several share the database: the one that has claimed it, and another one once that is dead.

Used by `service`. What a gateway stores of a batch is stored in one transaction with a check of the claim, so a gateway that was suspended for too
long changes nothing. A gateway that is alone has every batch, and its results in files.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from duologue.errors import Unavailable
from duologue.gateway.batches.batch_run import SaveBatch
from duologue.gateway.batches.result_files import ResultFiles
from duologue.store.cluster.work_turns import EVERY_TURN, WorkTurns
from duologue.values.batches.stored_batch import StoredBatch

if TYPE_CHECKING:
    from duologue.store.batches.batch_rows import BatchRows
    from duologue.store.cluster.claim_rows import ClaimRows
    from duologue.store.database import Database

PREFIX = "batch:"
TAKEN_OVER = "batch_taken_over"
LOOK_S = 2.0
"""Seconds between two looks for batches of gateways that have died, and for what the living ones do."""


class BatchClaims:
    """Of a gateway that is alone. `SharedClaims` are those of one among others."""

    shared = False
    turns: WorkTurns = EVERY_TURN

    async def take(self, id: str) -> bool:
        """Have a batch for this gateway, if no other living one has it."""
        return True

    async def release(self, id: str) -> None:
        """A batch has ended."""

    async def elsewhere(self) -> set[str]:
        """The batches that other living gateways carry out."""
        return set()

    def results(self, folder: Path, id: str) -> ResultFiles:
        """Where the results of a batch that runs are."""
        return ResultFiles(folder)

    def saver(self, rows: BatchRows, id: str) -> SaveBatch:
        """What stores how far a batch is."""
        return rows


class SharedClaims(BatchClaims):
    shared = True

    def __init__(self, database: Database, claims: ClaimRows, turns: WorkTurns) -> None:
        from duologue.store.batches.result_rows import ResultRows

        self._database, self._claims, self.turns = database, claims, turns
        self._rows = ResultRows(database, claims)

    async def take(self, id: str) -> bool:
        return await self._claims.take(PREFIX + id)

    async def release(self, id: str) -> None:
        await self._claims.release([PREFIX + id])

    async def elsewhere(self) -> set[str]:
        return await self._claims.held_elsewhere(PREFIX)

    def results(self, folder: Path, id: str) -> ResultFiles:
        from duologue.gateway.batches.shared_results import SharedResults

        return SharedResults(folder, self._rows, id, PREFIX + id)

    def saver(self, rows: BatchRows, id: str) -> SaveBatch:
        return _ClaimedRow(self._database, self._claims, rows)


class _ClaimedRow:
    """Stores a batch as long as this gateway has it."""

    def __init__(self, database: Database, claims: ClaimRows, rows: BatchRows) -> None:
        self._database, self._claims, self._rows = database, claims, rows

    async def save(self, batch: StoredBatch) -> None:
        async with self._database.writing() as connection:
            if not await self._claims.holds(PREFIX + batch.id, within=connection):
                raise Unavailable(
                    "Another server of this installation has taken over this batch.", code=TAKEN_OVER
                )
            await self._rows.save(batch, within=connection)
