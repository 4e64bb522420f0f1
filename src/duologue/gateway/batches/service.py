"""The batches of this server: made, listed, cancelled, and carried out one after another, those of several users side by side.

Owns which batches run, and that those of the last run of the server go on. A batch that runs is a `BatchRun`; `batch_routes` is the API.
"""

from __future__ import annotations

import logging
import secrets
import shutil
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import anyio.abc
from msgspec.structs import replace

from duologue import caller
from duologue.config.sections.batches import BatchSettings
from duologue.errors import BadRequest, Busy, NotFound, Problem, Unavailable, Unsupported
from duologue.fair_lane import FairLane
from duologue.gateway.batches.batch_claims import LOOK_S, TAKEN_OVER, BatchClaims
from duologue.gateway.batches.batch_run import Access, BatchRun
from duologue.gateway.batches.line_executor import LineExecutor
from duologue.gateway.files.stored_files import StoredFiles
from duologue.notifier import Notifier
from duologue.threads import disk_io
from duologue.values.batches.stored_batch import LineError, StoredBatch
from duologue.wire.batches.batch_object import BatchBody
from duologue.wire.validation_errors import shortened

if TYPE_CHECKING:
    from duologue.store.batches.batch_rows import BatchRows

log = logging.getLogger(__name__)

WINDOW_MS = 24 * 3_600_000
"""How long a batch may take."""
AT_A_TIME = 8
"""Batches that run side by side, each of another user: what each reads ahead is in memory."""
KEEP_MS = 90 * 24 * 3_600_000
"""How long a batch that has ended is listed."""
ROUND_S = 3600.0
"""Seconds between two rounds over those."""
AGAIN_S = 30.0
"""Seconds after which a batch is tried again whose files or rows could not be written."""


async def _at_once() -> None:
    pass


class BatchService:
    """`run` serves until cancelled; before that there are no batches. `access` says who may have one go on; `now` gives milliseconds since
    1970; `accepting` returns when new work is taken."""

    def __init__(
        self,
        settings: BatchSettings,
        folder: Path,
        files: StoredFiles,
        executor: LineExecutor,
        *,
        access: Access,
        now: Callable[[], int],
        again: float = AGAIN_S,
        accepting: Callable[[], Awaitable[None]] = _at_once,
    ) -> None:
        self._settings, self._folder, self._files, self._executor = settings, folder, files, executor
        self._access, self._now, self._again = access, now, again
        self._accepting = accepting
        self._lane = FairLane(settings.requests, patience=None)
        self._rows: BatchRows | None = None
        self._waiting: dict[str, StoredBatch] = {}
        self._running: dict[str, BatchRun] = {}
        self._elsewhere: dict[str, StoredBatch] = {}
        """What other gateways carry out, as of the last look."""
        self._taking: set[str] = set()
        self.claims = BatchClaims()
        self._adding: Counter[str] = Counter()
        self._news = Notifier()
        files.in_use = self._inputs

    @property
    def rows(self) -> BatchRows:
        if self._rows is None:
            raise Unavailable("The server is starting. Try again in a moment.")
        return self._rows

    async def run(
        self,
        rows: BatchRows,
        models_ready: Callable[[], Awaitable[None]] = _at_once,
        *,
        task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        """Serve until cancelled. No batch runs until `models_ready` returns: its model may be one that this start still loads."""
        self._rows = rows
        await self._look()
        await self._sweep()
        task_status.started()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._forget_old)
            if self.claims.shared:
                tasks.start_soon(self._keep_looking)
            await models_ready()
            while True:
                while (batch := self._next()) is not None:
                    del self._waiting[batch.id]
                    if await self._take(batch):
                        tasks.start_soon(self._carry_out, batch.id)
                await self._news.wait()

    async def _look(self) -> None:
        """See which batches have not ended, and which of them other gateways carry out."""
        claimed = await self.claims.elsewhere()
        unended = {batch.id: batch for batch in await self.rows.running()}
        self._elsewhere = {id: batch for id, batch in unended.items() if id in claimed}
        busy = {*claimed, *self._taking, *self._running}
        self._waiting = {id: batch for id, batch in unended.items() if id not in busy}

    async def _keep_looking(self) -> None:
        while True:
            await anyio.sleep(LOOK_S)
            try:
                await self._look()
            except Problem as problem:
                log.warning("the batches of other servers could not be checked: %s", problem.message)
            self._news.notify()

    async def _take(self, batch: StoredBatch) -> bool:
        """Have a batch for this gateway, as its row says now: another one may have begun it, or its user cancelled it there."""
        if self.claims.shared:
            self._taking.add(batch.id)
            try:
                if not await self.claims.take(batch.id):
                    return False
                batch = await self.rows.get(batch.user, batch.id)
                if batch.ended:
                    # Another one has carried it out since the last look.
                    await self.claims.release(batch.id)
                    return False
            except Problem as problem:
                log.warning("batch %s is not begun yet: %s", batch.id, problem.message)
                return False
            finally:
                self._taking.discard(batch.id)
        self._running[batch.id] = self._run_of(batch)
        return True

    async def _sweep(self) -> None:
        """Remove the results of batches that ended when the server did."""
        try:
            await disk_io(_remove_others, self._folder, set(self._waiting))
        except (Problem, OSError) as error:
            log.warning("the results of former batches were not looked through: %s", error)

    async def _forget_old(self) -> None:
        while True:
            try:
                if await self.claims.turns.mine("batches", ROUND_S):
                    await self.rows.forget(KEEP_MS)
            except Problem as problem:
                log.warning("old batches were not deleted: %s", problem.message)
            await anyio.sleep(ROUND_S)

    def _next(self) -> StoredBatch | None:
        """The oldest batch that may run now: a user has one at a time. Ending a cancelled one is short, and never waits."""
        users = {run.batch.user for run in self._running.values()}
        users |= {batch.user for batch in self._elsewhere.values()}
        for batch in self._waiting.values():
            if batch.status == "cancelling":
                return batch
            if batch.user not in users and len(self._running) < AT_A_TIME:
                return batch
        return None

    def _run_of(self, batch: StoredBatch) -> BatchRun:
        return BatchRun(
            batch,
            self._settings,
            self.claims.saver(self.rows, batch.id),
            self._files,
            self.claims.results(self._folder / batch.id, batch.id),
            self._executor,
            self._lane,
            access=self._access,
            now=self._now,
            accepting=self._accepting,
        )

    async def _carry_out(self, id: str) -> None:
        run = self._running[id]
        try:
            await run.run()
            await self.claims.release(id)
        except Problem as problem:
            if problem.code == TAKEN_OVER:
                log.warning("batch %s is carried out by another server now", id)
                del self._running[id]
                return
            log.warning("batch %s is tried again in %g s: %s", id, self._again, problem.message)
            await anyio.sleep(self._again)
            self._waiting[id] = run.batch
        except Exception:
            log.exception("batch %s failed", id)
            await self._give_up(run.batch)
        del self._running[id]
        self._news.notify()

    async def _give_up(self, batch: StoredBatch) -> None:
        """A bug in the server must not run for ever."""
        error = LineError("internal_error", "An internal error occurred. The log has the details.")
        times = {**batch.times, "failed": self._now()}
        try:
            # Before the results go: where another server has the batch by now, it needs them.
            await self.claims.saver(self.rows, batch.id).save(
                replace(batch, status="failed", times=times, errors=(error,))
            )
            await self.claims.results(self._folder / batch.id, batch.id).remove()
        except Problem as problem:
            log.warning("batch %s could not be ended: %s", batch.id, problem.message)

    def _inputs(self) -> set[str]:
        """The files that batches still read."""
        running = (run.batch for run in self._running.values())
        every = (*self._waiting.values(), *running, *self._elsewhere.values())
        return {batch.input_file for batch in every}

    # ---- what users do

    async def create(self, user: str, body: BatchBody) -> StoredBatch:
        """Make a batch. Raises BadRequest, Unsupported, Busy, Unavailable."""
        rows = self.rows
        if body.endpoint not in self._executor.paths:
            known = ", ".join(self._executor.paths)
            raise Unsupported(
                f"A batch cannot have the endpoint {shortened(body.endpoint)}; choose one of: {known}.",
                param="endpoint",
            )
        try:
            file = await self._files.get(user, body.input_file_id)
        except NotFound as missing:
            raise BadRequest(
                "You have no stored file with this id.", code=missing.code, param="input_file_id"
            ) from None
        if file.purpose != "batch":
            raise BadRequest(
                f"The file was stored with the purpose {file.purpose}; a batch needs one with the purpose batch.",
                param="input_file_id",
            )
        if self._unended(user) >= self._settings.per_user:
            raise Busy(
                f"You have {self._settings.per_user} batches that have not ended, as many as one user may have (setting "
                "batches.per_user). Wait for one, or cancel it.",
                code="too_many_batches",
            )
        now = self._now()
        batch = StoredBatch(
            f"batch_{secrets.token_hex(16)}",
            user,
            body.endpoint,
            file.id,
            now,
            now + WINDOW_MS,
            metadata=dict(body.metadata),
            keep_seconds=body.output_expires_after.seconds if body.output_expires_after else 0,
            key=caller.key_id.get() or None,
        )
        # Counted before its row is there: others are made meanwhile.
        self._adding[user] += 1
        try:
            await rows.add(batch)
            self._waiting[batch.id] = batch
        finally:
            self._adding[user] -= 1
            self._adding += Counter()  # drops the entries that are zero
        self._news.notify()
        return batch

    def _unended(self, user: str) -> int:
        """How many batches of this user have not ended."""
        running = (run.batch for run in self._running.values())
        batches = [*self._waiting.values(), *running, *self._elsewhere.values()]
        return self._adding[user] + sum(batch.user == user and not batch.ended for batch in batches)

    async def get(self, user: str, id: str) -> StoredBatch:
        """A batch, as far as it is. Raises NotFound, also for another user's."""
        running = dict(self._running)
        return self._current(await self.rows.get(user, id), running)

    async def list(self, user: str, *, after: str, limit: int) -> list[StoredBatch]:
        """Those of this user, the newest first. Raises NotFound for an unknown `after`."""
        behind = await self.rows.get(user, after) if after else None
        running = dict(self._running)
        return [
            self._current(batch, running) for batch in await self.rows.of(user, after=behind, limit=limit)
        ]

    async def cancel(self, user: str, id: str) -> StoredBatch:
        """Cancel a batch. Raises NotFound; Problem (`batch_ended`) for one that has ended or is about to."""
        batch = await self.get(user, id)
        if batch.status == "cancelling":
            return batch
        if batch.ended or batch.status == "finalizing":
            raise Problem(
                f"The batch cannot be cancelled: it is {batch.status}.",
                code="batch_ended",
                status=409,
                param="batch_id",
            )
        if id not in self._running:
            times = {**batch.times, "cancelling": self._now()}
            batch = replace(batch, status="cancelling", times=times)
            if id in self._waiting:
                self._waiting[id] = batch
            if not await self.rows.cancel(batch):
                # It has ended since it was read, at another server.
                return await self.cancel(user, id)
            self._news.notify()
        if id in self._running:  # it may have begun meanwhile
            await self._running[id].cancel()
        return await self.get(user, id)

    def counts(self) -> dict[str, int]:
        """How many batches wait for their turn, and how many run."""
        return {"waiting": len(self._waiting), "running": len(self._running)}

    def _current(self, batch: StoredBatch, running: Mapping[str, BatchRun]) -> StoredBatch:
        """What is known of a batch: of one that runs, more than its row tells. `running`: what ran before the row was read; it may
        have ended while an older row was on its way."""
        run = self._running.get(batch.id) or running.get(batch.id)
        return batch if run is None or batch.ended else run.batch


def _remove_others(folder: Path, known: set[str]) -> None:
    if folder.is_dir():
        for path in folder.iterdir():
            if path.name.startswith("batch_") and path.name not in known:
                shutil.rmtree(path, ignore_errors=True)
