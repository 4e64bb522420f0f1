"""The audit log: `record` is what every part calls for an act of an admin, or of the server itself.

Owns that no act is lost in silence. Each is a line of the log too; a row that the database does not take is logged as an error, whole, kept
in memory, and written with the next one. Old rows are deleted here.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import anyio
import anyio.abc
import msgspec

from duologue.config.sections.audit import AuditSettings
from duologue.errors import Problem, Unavailable
from duologue.store.cluster.work_turns import EVERY_TURN, WorkTurns

if TYPE_CHECKING:
    from duologue.store.accounts.audit_rows import AuditRow, AuditRows, Outcome

DAY_MS = 24 * 3600 * 1000
SWEEP_S = 3600.0
MOST_UNWRITTEN = 1000
"""Rows kept for a database that is away; the oldest beyond them are in the log alone."""

log = logging.getLogger(__name__)


class Actor(NamedTuple):
    """Who acts: a user by id and name, with the id of the key, and a group of addresses."""

    name: str
    user: str = ""
    key: str = ""
    address: str = ""


COMMAND_LINE = Actor("command line")
SERVER = Actor("server")


class AuditLog:
    """`now` gives milliseconds since 1970. Until `run` has begun, rows wait for the database."""

    def __init__(self, settings: AuditSettings, now: Callable[[], int]) -> None:
        self._settings = settings
        self._now = now
        self._rows: AuditRows | None = None
        self.turns: WorkTurns = EVERY_TURN
        self._unwritten: deque[AuditRow] = deque(maxlen=MOST_UNWRITTEN)

    async def run(
        self, rows: AuditRows, *, task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED
    ) -> None:
        """Write to these rows, and delete old ones every hour, until cancelled."""
        self._rows = rows
        await self._write()
        task_status.started()
        while True:
            try:
                if await self.turns.mine("audit", SWEEP_S):
                    await self._forget_old(rows)
            except Problem as problem:
                log.warning("old rows of the audit log could not be deleted: %s", problem.message)
            await self._write()
            await anyio.sleep(SWEEP_S)

    async def _forget_old(self, rows: AuditRows) -> None:
        before = self._now() - int(self._settings.keep_days * DAY_MS)
        await rows.forget(before=before, most=self._settings.rows)

    async def record(
        self,
        actor: Actor,
        act: str,
        target: str = "",
        *,
        outcome: Outcome = "done",
        details: Mapping[str, Any] | None = None,
    ) -> None:
        """Record one act, such as `key.create`. Never raises for a database that is away; the details must hold no secret."""
        from duologue.store.accounts.audit_rows import AuditRow

        row = AuditRow(
            self._now(),
            actor.name,
            act,
            target,
            outcome,
            actor.user,
            actor.key,
            actor.address,
            dict(details or {}),
        )
        log.info("audit: %s", described(row))
        with anyio.CancelScope(shield=True):
            await self._write(row)

    async def page(self, *, before: int, limit: int, actor: str, act: str) -> list[AuditRow]:
        """The newest rows first; see `AuditRows.page`. Raises Unavailable."""
        if self._rows is None:
            raise Unavailable("The server is still starting; try again in a moment.")
        return await self._rows.page(before=before, limit=limit, actor=actor, act=act)

    async def _write(self, *new: AuditRow) -> None:
        rows = [*self._unwritten, *new]
        self._unwritten.clear()
        if not rows:
            return
        try:
            if self._rows is None:
                raise Unavailable("The database is not open yet.")
            await self._rows.append(rows)
        except Problem as problem:
            self._unwritten.extend(rows)
            for row in new:
                log.error("not in the audit log yet (%s): %s", problem.message, described(row))
        except Exception:
            # The act has been done whatever went wrong here. These rows are not tried again: they would keep others out.
            log.exception("not in the audit log: %s", " ".join(map(described, rows)))


def described(row: AuditRow) -> str:
    """A row as one line of JSON."""
    return msgspec.json.encode(row).decode()
