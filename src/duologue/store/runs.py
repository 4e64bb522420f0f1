"""Runs and their logs, as they are stored. Active runs are in `conversations/runs`.

A run belongs to the gateway that writes it. One that has not ended although its gateway is gone was interrupted; whoever takes it
first ends it, and the row is locked meanwhile, so that its old owner, should it live after all, writes nothing over that end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy import Row, bindparam, delete, exists, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from duologue.errors import BadRequest, NotFound
from duologue.store.cluster.database_clock import database_now
from duologue.store.cluster.run_claims import RunLost, RunTaken
from duologue.store.database import Database
from duologue.store.log_entry import LogEntry
from duologue.store.schema.locking import replacing
from duologue.store.schema.rows import json, optional_json
from duologue.store.schema.tables import conversations, gateways, run_log, runs
from duologue.values.conversations import RowError
from duologue.values.runs import Run

__all__ = ["LogEntry", "Runs"]

_COLUMNS = tuple(runs.c[name] for name in Run.__struct_fields__)
_HELD = (
    select(runs.c.id)
    .where(runs.c.id.in_(bindparam("ids", expanding=True)), runs.c.gateway == bindparam("of_gateway"))
    .order_by(runs.c.id)
    .with_for_update()
)
_error = msgspec.json.Decoder(RowError).decode
_lengths = msgspec.json.Decoder(tuple[int, ...]).decode


class Runs:
    """`now` gives milliseconds since 1970 (UTC). Every method raises Unavailable as the database does."""

    def __init__(self, database: Database, now: Callable[[], int]) -> None:
        self._database = database
        self._now = now

    async def begin(
        self,
        run: Run,
        user: str,
        request_json: bytes,
        *,
        gateway: str = "",
        within: AsyncConnection | None = None,
    ) -> Run:
        """Store a new run with its user, its request and the gateway that writes it, and make it the conversation's active run.
        Idempotent by id within the conversation. Raises BadRequest `id_taken`, NotFound (the conversation)."""
        async with self._database.writing(within) as connection:
            row = (await connection.execute(_one(run.id))).first()
            if row is not None:
                if row.user != user or row.conversation != run.conversation:
                    raise BadRequest(
                        "A run with this id exists already. Choose another id.", code="id_taken", param="run"
                    )
                return _run(row)
            if not await _set_running(connection, run.conversation, run.id):
                raise NotFound("There is no such conversation.")
            values = _values(run) | {"user": user, "request": request_json, "gateway": gateway}
            await connection.execute(insert(runs).values(values))
        return run

    async def append(
        self, run_id: str, entries: Sequence[LogEntry], *, within: AsyncConnection | None = None
    ) -> None:
        """Append entries to a log. An entry that is there already is replaced: after a commit whose answer was lost it comes again."""
        await self.append_all({run_id: entries}, within=within)

    async def append_all(
        self, entries: Mapping[str, Sequence[LogEntry]], *, within: AsyncConnection | None = None
    ) -> None:
        """`append` for the logs of several runs."""
        values = [
            {
                "run": run,
                "first": entry.first,
                "last": entry.last,
                "lengths": json(entry.lengths),
                "event": entry.event,
            }
            for run, new in entries.items()
            for entry in new
        ]
        if not values:
            return
        async with self._database.writing(within) as connection:
            await connection.execute(replacing(connection, run_log), values)

    async def log(
        self, run_id: str, after: int = 0, *, within: AsyncConnection | None = None
    ) -> list[LogEntry]:
        """The entries that hold anything later than number `after`, in order; the first may begin before it."""
        these = (
            select(run_log.c.first, run_log.c.last, run_log.c.lengths, run_log.c.event)
            .where(run_log.c.run == run_id, run_log.c.last > after)
            .order_by(run_log.c.first)
        )
        async with self._database.reading(within) as connection:
            results = (await connection.execute(these)).all()
        return [LogEntry(first, last, _lengths(lengths), event) for first, last, lengths, event in results]

    async def save(self, run: Run, *, within: AsyncConnection | None = None) -> None:
        """Write how a run stands."""
        async with self._database.writing(within) as connection:
            await connection.execute(update(runs).where(runs.c.id == run.id).values(_values(run)))

    async def end(self, run: Run, *, within: AsyncConnection | None = None) -> None:
        """Write how a run ended; its conversation is not running it any more."""
        async with self._database.writing(within) as connection:
            await self.save(run, within=connection)
            await connection.execute(
                update(conversations)
                .where(conversations.c.id == run.conversation, conversations.c.running == run.id)
                .values(running=None)
            )

    async def get(self, user: str, id: str) -> Run:
        """Raises NotFound, also for another user's run."""
        async with self._database.reading() as connection:
            row = (await connection.execute(_one(id))).first()
        if row is None or row.user != user:
            raise NotFound("There is no such run.")
        return _run(row)

    async def request(self, id: str) -> tuple[str, bytes]:
        """The user of a run, and its request as given to `begin`. Raises NotFound."""
        statement = select(runs.c.user, runs.c.request).where(runs.c.id == id)
        async with self._database.reading() as connection:
            row = (await connection.execute(statement)).first()
        if row is None:
            raise NotFound("There is no such run.")
        return row.user, row.request

    async def claim(self, run: Run, *, within: AsyncConnection) -> None:
        """Make sure that this run may begin in a conversation that the transaction holds. Raises RunTaken when one is under way there,
        or this one exists already."""
        others = select(runs.c.id).where(
            ((runs.c.conversation == run.conversation) & (runs.c.ended == 0)) | (runs.c.id == run.id)
        )
        if (await within.execute(others)).first() is not None:
            raise RunTaken

    async def hold(self, *ids: str, gateway: str, within: AsyncConnection) -> None:
        """Keep runs until the transaction ends. Raises RunLost when one is not this gateway's any more."""
        found = await within.execute(_HELD, {"ids": sorted(set(ids)), "of_gateway": gateway})
        if len(found.all()) < len(set(ids)):
            raise RunLost

    async def abandoned(self, gateway: str = "") -> list[str]:
        """The ids of the runs that have not ended although their gateway is gone, oldest first. Those of `gateway` itself are not,
        even when its lease has ended."""
        these = select(runs.c.id).where(runs.c.ended == 0, *self._is_abandoned(gateway))
        async with self._database.reading() as connection:
            return list(await connection.scalars(these.order_by(runs.c.started, runs.c.id)))

    async def take(self, id: str, gateway: str, *, within: AsyncConnection) -> tuple[str, Run] | None:
        """Take an abandoned run over to end it; its user and the run. None when it is not abandoned (any more)."""
        this = update(runs).where(runs.c.id == id, runs.c.ended == 0, *self._is_abandoned(gateway))
        if (await within.execute(this.values(gateway=gateway))).rowcount == 0:
            return None
        row = (await within.execute(_one(id))).one()
        return row.user, _run(row)

    def _is_abandoned(self, gateway: str) -> tuple[Any, ...]:
        living = exists().where(
            gateways.c.id == runs.c.gateway, gateways.c.lease_until >= database_now(self._database)
        )
        return (~living, *((runs.c.gateway != gateway,) if gateway else ()))

    async def forget_logs(self, older_than_ms: int) -> int:
        """Delete the logs of runs that ended longer ago than that; the runs and messages stay. Returns the number of entries."""
        old = select(runs.c.id).where(runs.c.ended > 0, runs.c.ended <= self._now() - older_than_ms)
        async with self._database.writing() as connection:
            result = await connection.execute(delete(run_log).where(run_log.c.run.in_(old)))
        return result.rowcount


def _one(id: str) -> Any:
    return select(*_COLUMNS, runs.c.user).where(runs.c.id == id)


def _values(run: Run) -> dict[str, object]:
    values: dict[str, object] = {name: getattr(run, name) for name in Run.__struct_fields__}
    return values | {"error": optional_json(run.error)}


def _run(row: Row[Any]) -> Run:
    values = dict(zip(Run.__struct_fields__, row, strict=False))
    if values["error"] is not None:
        values["error"] = _error(values["error"])
    return Run(**values)


async def _set_running(connection: AsyncConnection, conversation: str, run: str) -> bool:
    result = await connection.execute(
        update(conversations).where(conversations.c.id == conversation).values(running=run)
    )
    return result.rowcount > 0
