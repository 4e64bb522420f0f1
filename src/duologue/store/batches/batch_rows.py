"""The batches of requests: what each is asked for, how far it is, and where its results are.

Used by `gateway/batches`. Every read for a user is by owner: a batch of another user does not exist.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec
from sqlalchemy import and_, delete, insert, or_, select, update

from duologue.errors import NotFound
from duologue.store.database import Database
from duologue.store.schema.batch_tables import batches
from duologue.store.schema.rows import json
from duologue.values.batches.stored_batch import (
    RUNNING,
    BatchStatus,
    BatchUsage,
    LineCounts,
    LineError,
    StoredBatch,
)

if TYPE_CHECKING:
    from duologue.store.database import Transaction

CANCELLABLE: tuple[BatchStatus, ...] = ("validating", "in_progress")
"""The states in which a batch can be cancelled: later its results are being stored, or it has ended."""
_DECODERS: Mapping[str, msgspec.json.Decoder[Any]] = {
    "times": msgspec.json.Decoder(dict[str, int]),
    "counts": msgspec.json.Decoder(LineCounts),
    "usage": msgspec.json.Decoder(BatchUsage),
    "errors": msgspec.json.Decoder(tuple[LineError, ...]),
    "metadata": msgspec.json.Decoder(dict[str, str]),
}
"""Of the columns that are JSON."""


class BatchRows:
    """`now` gives milliseconds since 1970 (UTC). Every method raises Unavailable as the database does."""

    def __init__(self, database: Database, now: Callable[[], int]) -> None:
        self._database = database
        self._now = now

    async def add(self, batch: StoredBatch) -> None:
        async with self._database.writing() as connection:
            await connection.execute(insert(batches).values(_columns(batch)))

    async def save(self, batch: StoredBatch, *, within: Transaction | None = None) -> None:
        """Store how far it is; without effect if it does not exist."""
        async with self._database.writing(within) as connection:
            this = update(batches).where(batches.c.id == batch.id)
            await connection.execute(this.values(_columns(batch)))

    async def cancel(self, batch: StoredBatch) -> bool:
        """Store that a batch is to be cancelled, and when. False, and nothing is stored, where another gateway has just ended it or stores its results."""
        async with self._database.writing() as connection:
            this = update(batches).where(batches.c.id == batch.id, batches.c.status.in_(CANCELLABLE))
            columns = _columns(batch)
            changed = await connection.execute(this.values(status=columns["status"], times=columns["times"]))
        return changed.rowcount > 0

    async def get(self, user: str, id: str) -> StoredBatch:
        """Raises NotFound, also for another user's."""
        found = await self._read(select(batches).where(batches.c.id == id, batches.c.user == user))
        if not found:
            raise NotFound("There is no such batch.", code="batch_not_found")
        return found[0]

    async def of(self, user: str, *, after: StoredBatch | None = None, limit: int = 20) -> list[StoredBatch]:
        """Those of this user, the newest first, from behind the batch `after`."""
        created, id = batches.c.created, batches.c.id
        these = select(batches).where(batches.c.user == user)
        if after is not None:
            same = and_(created == after.created, id < after.id)
            these = these.where(or_(created < after.created, same))
        return await self._read(these.order_by(created.desc(), id.desc()).limit(limit))

    async def running(self) -> list[StoredBatch]:
        """Those that have not ended, of every user, the oldest first."""
        these = select(batches).where(batches.c.status.in_(RUNNING))
        return await self._read(these.order_by(batches.c.created, batches.c.id))

    async def forget(self, older_than_ms: int) -> None:
        """Delete those that have ended and were made longer ago than that, of every user."""
        old = batches.c.created < self._now() - older_than_ms
        async with self._database.writing() as connection:
            await connection.execute(delete(batches).where(old, batches.c.status.not_in(RUNNING)))

    async def _read(self, these: Any) -> list[StoredBatch]:
        async with self._database.reading() as connection:
            rows = (await connection.execute(these)).mappings().all()
        return [_batch(dict(row)) for row in rows]


def _columns(batch: StoredBatch) -> dict[str, Any]:
    values = msgspec.structs.asdict(batch)
    return values | {name: json(values[name]) for name in _DECODERS}


def _batch(row: dict[str, Any]) -> StoredBatch:
    return StoredBatch(**row | {name: decoder.decode(row[name]) for name, decoder in _DECODERS.items()})
