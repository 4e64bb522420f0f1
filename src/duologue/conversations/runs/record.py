"""The record of one run: its rows as they are now, its numbered log, its viewers, and that all of it gets stored.

Used by `run.py` and `model_turns.py`. While the store fails, the row being written carries the error, its text stays in memory,
and storing is tried again.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Sequence

import anyio
import msgspec
from anyio.abc import TaskStatus

from duologue.conversations.agent.turn import ModelTurn, row_error
from duologue.conversations.runs.event_log import LogEntry, RunLog
from duologue.conversations.runs.repository import RunRepository
from duologue.conversations.runs.saving.autosave import INTERVAL, RETRY, Autosave, try_save
from duologue.errors import Problem, Unavailable
from duologue.notifier import Notifier
from duologue.store.cluster.run_claims import RunLost
from duologue.values.conversations import RowError, StoredMessage
from duologue.values.runs import Logged, MessageAdded, MessageDone, Run, RunDone, RunEvent

log = logging.getLogger(__name__)


class RunRecord:
    """`on_deleted` is called when the rows can never be stored, because the conversation was deleted."""

    def __init__(
        self,
        run: str,
        repository: RunRepository,
        *,
        on_deleted: Callable[[Problem], None],
        interval: float = INTERVAL,
        retry: float = RETRY,
    ) -> None:
        self._run = run
        self._repository = repository
        self._on_deleted = on_deleted
        self._retry = retry
        self._log = RunLog()
        self._notifier = Notifier()
        self._store_error: RowError | None = None
        self._autosave = Autosave(
            self._log,
            row=self.row,
            save=lambda rows, entries: repository.save(run, rows, entries),
            on_save=self._on_save,
            interval=interval,
            retry=retry,
        )
        self._hurry = anyio.Event()
        self.rows: dict[str, StoredMessage] = {}
        """The run's rows, in order. `row` gives the one that is being written as it is now."""
        self.turn: ModelTurn | None = None
        """The model turn that is being written."""
        self.ended = False
        """Whether the end was published. No event follows it."""
        self.lost = False
        """Whether another gateway has ended the run. Nothing of it is stored any more, and the viewers read its end there."""

    def row(self, id: str) -> StoredMessage:
        row = self.turn.row() if self.turn is not None and self.turn.id == id else self.rows[id]
        if self._store_error is not None and row.status == "running" and row.error is None:
            return msgspec.structs.replace(row, error=self._store_error)
        return row

    def publish(self, *events: RunEvent) -> None:
        """Log events and wake the viewers."""
        if self.ended or not events:
            return
        for event in events:
            self._log.add(event)
        self._autosave.touch()
        self._notifier.notify()

    def put(self, row: StoredMessage) -> None:
        """Replace a row and have it stored."""
        self.rows[row.id] = row
        self._autosave.touch(row.id)

    def grow(self, turn: ModelTurn, events: Sequence[RunEvent]) -> None:
        """The row of `turn` has grown by these events."""
        self._autosave.touch(turn.id)
        self.publish(*events)

    async def add(self, rows: Sequence[StoredMessage]) -> tuple[StoredMessage, ...]:
        """Store and publish new rows; the last becomes the conversation's leaf. Raises what the store raises."""
        added = await self._repository.add(self._run, rows)
        for row in added:
            self.rows[row.id] = row
            self.publish(MessageAdded(row))
        return added

    async def viewer(self, after: int) -> AsyncIterator[Logged]:
        """Everything beyond number `after`, then everything that comes, to the end. Viewers are not waited for: each
        reads the log at its own pace."""
        at = after
        while True:
            # Read again until there is nothing new: while a reader takes these, more are added, the last one too.
            entries = self._log.after(at)
            for logged in entries:
                at = logged.seq
                yield logged
                if isinstance(logged.event, RunDone):
                    return
            if entries:
                continue
            if self.ended:
                return
            await self._notifier.wait()

    async def keep(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Autosave until the end. For a task of its own."""
        await self._autosave.loop(task_status=task_status)

    async def flush(self) -> None:
        """Store now. When that fails, autosave tries again later."""
        try:
            await self._autosave.flush()
        except Problem as problem:
            log.warning("run %s is not saved yet: %s", self._run, problem.message)

    def quicken(self) -> None:
        """Somebody follows the run at another gateway."""
        self._autosave.quicken()

    def hurry(self) -> None:
        """The server shuts down: stop retrying a store that fails."""
        self._hurry.set()

    def close(self) -> None:
        """End the viewers, also without an end event."""
        self.ended = True
        self._notifier.notify()

    async def end(self, run: Run, done: RunDone) -> None:
        """Store everything, then publish the end, so that a client that reads the conversation after the end event finds all
        of it. While the store fails, the end is published at once with the error, and storing is retried."""
        await self._autosave.close()
        while (problem := await self._store_end(run, done)) is not None:
            if isinstance(problem, RunLost):
                self.lost = True
                self.close()
                return
            log.warning("the end of run %s is not saved yet: %s", self._run, problem.message)
            if not self.ended:
                self._publish_unsaved_end(done, row_error(problem.code, problem.message))
            if self._hurry.is_set() or not isinstance(problem, Unavailable):
                return
            with anyio.move_on_after(self._retry):
                await self._hurry.wait()
        if not self.ended:
            self._publish_end(done)

    async def _store_end(self, run: Run, done: RunDone) -> Problem | None:
        rows, entries = self._autosave.unsaved()
        if not self.ended:
            number = self._log.last + 1
            entries = [*entries, LogEntry(number, number, (), msgspec.json.encode(done))]
        with anyio.CancelScope(shield=True):
            problem = await try_save(lambda: self._repository.end(run, rows, entries))
        return problem

    def _publish_unsaved_end(self, done: RunDone, error: RowError) -> None:
        for row in self.rows.values():
            if row.role == "assistant" and row.error is None:
                self.publish(MessageDone(msgspec.structs.replace(row, error=error)))
        self._publish_end(msgspec.structs.replace(done, error=done.error or error))

    def _publish_end(self, done: RunDone) -> None:
        self._log.add(done)
        self.close()

    def _on_save(self, problem: Problem | None) -> None:
        """Show at the row being written that the store fails, or works again."""
        if problem is None and self._autosave.is_quick:
            self._repository.tell_saved(self._run)
        if isinstance(problem, RunLost):
            self.lost = True
            self._on_deleted(problem)
            return
        if (self._store_error is None) == (problem is None):
            return
        self._store_error = RowError("server", problem.code, problem.message) if problem is not None else None
        if self.turn is not None:
            self.publish(MessageAdded(msgspec.structs.replace(self.turn.row(), error=self._store_error)))
        if problem is not None and not isinstance(problem, Unavailable):
            self._on_deleted(problem)
