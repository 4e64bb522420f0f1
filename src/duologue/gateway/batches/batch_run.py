"""One batch that runs: its input is checked, its requests are carried out, its results become stored files.

Owns the states of a batch. Each is in the database before what follows it, and each result is on the disk before it counts, so a batch
goes on where it was after any end of the server. Made by `service`.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, aclosing
from pathlib import Path
from typing import Any, Protocol

import anyio
import anyio.abc
from msgspec.structs import replace

from duologue import caller, telemetry
from duologue.config.sections.batches import BatchSettings
from duologue.errors import AccessRevoked, NotFound, Problem
from duologue.fair_lane import FairLane
from duologue.gateway.batches.line_executor import LineExecutor
from duologue.gateway.batches.line_reader import InputLine, read_lines
from duologue.gateway.batches.result_files import ResultFiles, ResultProgress
from duologue.gateway.files.stored_files import StoredFiles, new_file_id
from duologue.threads import disk_io
from duologue.values.batches.stored_batch import BatchStatus, LineCounts, LineError, StoredBatch
from duologue.wire.batches.batch_lines import (
    InputCheck,
    RequestLine,
    ResultLine,
    answered,
    request_line,
    tokens_of,
    unanswered,
)

log = logging.getLogger(__name__)

MEGABYTE = 2**20
SAVE_MS = 5000
"""How far a batch is, is stored that often."""
EXPIRED = "This request could not be carried out before the batch's time was over."
FULL = "Your stored files take all the space they may (setting files.user_gb), so this request was not carried out."
OUTCOMES: tuple[BatchStatus, ...] = ("failed", "expired", "completed")
"""What a batch becomes once its results are stored; one without any of these was cancelled."""


async def _at_once() -> None:
    pass


class SaveBatch(Protocol):
    async def save(self, batch: StoredBatch) -> None: ...


class Access(Protocol):
    """Who may have a batch go on. `role`: what a user may do, None for one who may do nothing any more; `allowed`: a context that is
    cancelled when the key that made the batch is revoked or its user disabled, and raises AccessRevoked then."""

    def role(self, user: str) -> str | None: ...

    def allowed(self, user: str, key: str) -> AbstractContextManager[None]: ...


class BatchRun:
    """`lane`: the places of all requests of batches; `now` gives milliseconds since 1970; `accepting` returns when new work is taken."""

    def __init__(
        self,
        batch: StoredBatch,
        settings: BatchSettings,
        rows: SaveBatch,
        files: StoredFiles,
        results: ResultFiles,
        executor: LineExecutor,
        lane: FairLane,
        *,
        access: Access,
        now: Callable[[], int],
        accepting: Callable[[], Awaitable[None]] = _at_once,
    ) -> None:
        self.batch = batch
        self._settings, self._rows, self._files, self._results = settings, rows, files, results
        self._executor, self._lane, self._access, self._now = executor, lane, access, now
        self._accepting = accepting
        self._scope: anyio.CancelScope | None = None
        self._done = ResultProgress(set())
        self._held = 0
        self._saved = now()
        self._expired = False
        self._failure: Problem | None = None
        self._revoked: AccessRevoked | None = None

    async def run(self) -> None:
        """Run the batch to its end. Raises Problem where the disk or the database fails: it can be run again."""
        # Limits and usage are those of the key that the batch was made with, whatever task carries it out.
        caller.key_id.set(self.batch.key or "")
        try:
            if self.batch.status == "validating" and not await self._validate():
                return
            if self.batch.status == "in_progress":
                await self._carry_out()
            await self._finish()
        finally:
            self._files.hold(self.batch.user, -self._held)
            self._held = 0

    async def cancel(self) -> None:
        """What runs of it ends at once; what is complete is kept. The batch is `cancelling` until that is stored. Without effect on
        one that is past that."""
        if self.batch.status not in ("validating", "in_progress"):
            return
        if self._scope is not None:
            self._scope.cancel()
        await self._become("cancelling")

    # ---- its input

    async def _validate(self) -> bool:
        """Check the input; whether it can be carried out."""
        check = InputCheck(self.batch.endpoint, self._settings.lines)
        try:
            with anyio.CancelScope() as self._scope:
                async with aclosing(self._blocks()) as blocks:
                    async for block in blocks:
                        await disk_io(_check_block, check, block, self._settings.line_mb)
                        if check.is_over:
                            break
                check.finish()
        except Problem as problem:
            if problem.status >= 500:
                raise
            check.errors.append(LineError(problem.code, problem.message))
        if self.batch.status == "cancelling":
            return True
        if check.errors:
            await self._become("failed", errors=tuple(check.errors))
            return False
        await self._become("in_progress", counts=LineCounts(check.total), model=check.model)
        return True

    async def _blocks(self) -> AsyncGenerator[list[InputLine]]:
        path = await self._files.source(self.batch.input_file)
        async with aclosing(read_lines(path, self._settings.line_mb * MEGABYTE)) as blocks:
            async for block in blocks:
                yield block

    async def _requests(self) -> AsyncGenerator[RequestLine]:
        """The requests that have no result yet, a few of them in memory at a time."""
        async with aclosing(self._blocks()) as blocks:
            async for block in blocks:
                for request in await disk_io(_requests_in, block, self._done.keys):
                    yield request

    # ---- its requests

    async def _carry_out(self) -> None:
        self._done = await self._results.recover()
        self._hold(self._done.size)
        self._count()
        left = (self.batch.expires - self._now()) / 1000
        with anyio.CancelScope(deadline=anyio.current_time() + left) as self._scope:
            try:
                with self._access.allowed(self.batch.user, self.batch.key or ""):
                    if self.batch.status == "in_progress":  # it may have been cancelled meanwhile
                        await self._answer_all()
            except AccessRevoked as revoked:
                self._revoked = revoked
        if self._failure is not None:
            raise self._failure
        if self.batch.status == "in_progress" and self._scope.cancelled_caught:
            await self._expire()

    async def _answer_all(self) -> None:
        async with aclosing(self._requests()) as requests, anyio.create_task_group() as tasks:
            async for request in requests:
                if self._failure is not None:
                    break
                await tasks.start(self._answer, request)

    async def _answer(
        self,
        request: RequestLine,
        *,
        task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        """Carry out one request, once it is its turn."""
        user, told = self.batch.user, False
        try:
            async with self._lane.turn(user):
                task_status.started()
                told = True
                await self._accepting()
                id = f"batch_req_{secrets.token_hex(12)}"
                role = self._access.role(user)
                if role is None:
                    return  # the batch is about to end
                if await self._files.is_full(user):
                    await self._keep(request, unanswered(id, request.custom_id, "storage_full", FULL))
                    return
                answer = await self._executor.carry_out(self.batch.endpoint, request.body, user, role)
                result = answered(id, request.custom_id, answer.status, answer.request_id, answer.body)
                await self._keep(request, result, answer.body)
        except Problem as problem:
            # Not through the task group, which would wrap it.
            self._failure = problem
            if not told:
                task_status.started()
            if self._scope is not None:
                self._scope.cancel()

    async def _keep(self, request: RequestLine, result: ResultLine, body: bytes = b"") -> None:
        self._hold(await self._results.append([result]))
        self._done.keys.add(request.key)
        if result.succeeded:
            self._done.completed += 1
            self._done.usage = self._done.usage.plus(tokens_of(body))
        else:
            self._done.failed += 1
        telemetry.metrics().batch_request_ended(failed=not result.succeeded)
        self._count()
        if self._now() - self._saved >= SAVE_MS:
            await self._save()

    def _hold(self, size: int) -> None:
        self._held += size
        self._files.hold(self.batch.user, size)

    def _count(self) -> None:
        """How far it is; stored now and then, and counted again from the files after a restart."""
        counts = LineCounts(self.batch.counts.total, self._done.completed, self._done.failed)
        self.batch = replace(self.batch, counts=counts, usage=self._done.usage)

    async def _expire(self) -> None:
        """The requests that are left get an error."""
        self._expired = True
        left: list[ResultLine] = []
        async with aclosing(self._requests()) as requests:
            async for request in requests:
                id = f"batch_req_{secrets.token_hex(12)}"
                left.append(unanswered(id, request.custom_id, "batch_expired", EXPIRED))
                if len(left) == 1000:
                    await self._keep_expired(left)
                    left.clear()
        await self._keep_expired(left)

    async def _keep_expired(self, results: Sequence[ResultLine]) -> None:
        self._hold(await self._results.append(results))
        self._done.failed += len(results)
        self._count()

    # ---- its end

    async def _finish(self) -> None:
        """Store the results. Every step can be repeated."""
        await self._results.prepare()
        if self.batch.status == "in_progress":
            counts = self.batch.counts
            outcome: BatchStatus = "completed"
            if self._expired:
                outcome = "expired"
            elif counts.completed + counts.failed < counts.total:
                revoked = self._revoked or AccessRevoked()
                outcome = "failed"
                self.batch = replace(self.batch, errors=(LineError(revoked.code, revoked.message),))
            # The outcome is in the times from now on, so that it is the same after a restart, and nobody cancels it any more.
            self._enter("finalizing", outcome)
            await self._name_results()
        elif self.batch.status == "cancelling" and not (self.batch.output_file or self.batch.error_file):
            self._done = await self._results.recover()
            self._count()
            await self._name_results()
        await self._adopt(self.batch.output_file, self._results.output, "output")
        await self._adopt(self.batch.error_file, self._results.errors, "errors")
        outcome = next((state for state in OUTCOMES if state in self.batch.times), "cancelled")
        await self._become(outcome)
        await self._results.remove()
        batch, counts = self.batch, self.batch.counts
        log.info(
            "batch %s: %s, %d of %d requests succeeded", batch.id, outcome, counts.completed, counts.total
        )

    async def _name_results(self) -> None:
        """Give the files of the results their ids, so that a repetition stores them under the same ones."""
        output, failed = await self._results.sizes()
        self.batch = replace(
            self.batch,
            output_file=self.batch.output_file or (new_file_id() if output else ""),
            error_file=self.batch.error_file or (new_file_id() if failed else ""),
        )
        await self._save()

    async def _adopt(self, id: str, path: Path, what: str) -> None:
        if not id:
            return
        batch = self.batch
        name = f"{batch.id}_{what}.jsonl"
        try:
            await self._files.adopt(id, batch.user, path, name=name, seconds=batch.keep_seconds or None)
        except NotFound:
            log.warning("the %s of batch %s is gone: its owner may have deleted it", what, batch.id)

    def _enter(self, *states: BatchStatus, **changes: Any) -> None:
        """The batch is in the first of these states, and has the times of all."""
        times = {**self.batch.times} | {state: self._now() for state in states}
        self.batch = replace(self.batch, status=states[0], times=times, **changes)

    async def _become(self, status: BatchStatus, **changes: Any) -> None:
        self._enter(status, **changes)
        await self._save()

    async def _save(self) -> None:
        """Store how far it is. Two tasks may do so at once, the one that runs it and one that cancels it: the one that stored an older state
        stores the newer one."""
        self._saved = self._now()
        while True:
            batch = self.batch
            await self._rows.save(batch)
            if batch.times is self.batch.times:  # each state has times of its own
                return


def _requests_in(block: list[InputLine], done: set[bytes]) -> list[RequestLine]:
    """The requests of lines that were checked, without those that have a result."""
    requests = [request_line(line.data) for line in block if line.data is not None]
    return [request for request in requests if request.key not in done]


def _check_block(check: InputCheck, block: list[InputLine], line_mb: int) -> None:
    for line in block:
        check.add(line.number, line.data, line_mb)
