"""The record of one run: its rows as they stand, its numbered log, who reads along, and that all of it is kept.

Owns what others see. A failing store is said at the row that is being written, whose text is safe in memory, and tried
again. Knows no model, no tool and no loop.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Sequence

import anyio
import msgspec
from anyio.abc import TaskStatus

from duologue.conversations.agent.turn import ModelTurn, row_error
from duologue.conversations.runs.autosave import EVERY, RETRY, Autosave, kept
from duologue.conversations.runs.event_log import LogEntry, RunLog
from duologue.conversations.runs.repository import RunRepository
from duologue.errors import Problem, Unavailable
from duologue.notifier import Notifier
from duologue.values.conversations import RowError, StoredMessage
from duologue.values.runs import Logged, MessageAdded, MessageDone, Run, RunDone, RunEvent

log = logging.getLogger(__name__)


class RunRecord:
    """`gone` is told when the rows have no place any more, because the conversation was deleted."""

    def __init__(
        self,
        run: str,
        keeping: RunRepository,
        *,
        gone: Callable[[Problem], None],
        every: float = EVERY,
        retry: float = RETRY,
    ) -> None:
        self._run = run
        self._keeping = keeping
        self._gone = gone
        self._retry = retry
        self._log = RunLog()
        self._notifier = Notifier()
        self._trouble: RowError | None = None
        self._saving = Autosave(
            self._log,
            row=self.row,
            save=lambda rows, entries: keeping.save(run, rows, entries),
            told=self._saved,
            every=every,
            retry=retry,
        )
        self._hurry = anyio.Event()
        self.rows: dict[str, StoredMessage] = {}
        """The run's rows, in the order they came; `row` has a growing one as it is now."""
        self.turn: ModelTurn | None = None
        """The turn that is being written."""
        self.ended = False
        """Whether the end was said: nothing comes after it."""

    def row(self, id: str) -> StoredMessage:
        row = self.turn.row() if self.turn is not None and self.turn.id == id else self.rows[id]
        if self._trouble is not None and row.status == "running" and row.error is None:
            return msgspec.structs.replace(row, error=self._trouble)
        return row

    def say(self, *events: RunEvent) -> None:
        """Log and tell viewers."""
        if self.ended or not events:
            return
        for event in events:
            self._log.add(event)
        self._saving.touch()
        self._notifier.notify()

    def put(self, row: StoredMessage) -> None:
        """A row is another than before: have it saved."""
        self.rows[row.id] = row
        self._saving.touch(row.id)

    def grew(self, turn: ModelTurn, events: Sequence[RunEvent]) -> None:
        """The row of `turn` grew by these events."""
        self._saving.touch(turn.id)
        self.say(*events)

    async def add(self, rows: Sequence[StoredMessage]) -> tuple[StoredMessage, ...]:
        """Keep new rows, the last of them the conversation's new leaf, and tell them. Raises what the store does."""
        added = await self._keeping.add(rows)
        for row in added:
            self.rows[row.id] = row
            self.say(MessageAdded(row))
        return added

    async def viewer(self, after: int) -> AsyncIterator[Logged]:
        """Everything beyond number `after`, then everything that comes, to the end. Viewers are not waited for: each
        reads the log at its own pace."""
        at = after
        while True:
            # The log is read again until it has nothing new: events, even the last one, are added while a reader takes these.
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
        """Save as things change, until the end. For a task of its own."""
        await self._saving.loop(task_status=task_status)

    async def flush(self) -> None:
        """Save now. A store that fails is tried again later."""
        try:
            await self._saving.flush()
        except Problem as problem:
            log.warning("run %s is not saved yet: %s", self._run, problem.message)

    def hurry(self) -> None:
        """The server goes down: a store that fails is not waited for any more."""
        self._hurry.set()

    def close(self) -> None:
        """Let viewers go, whatever was said."""
        self.ended = True
        self._notifier.notify()

    async def end(self, run: Run, done: RunDone) -> None:
        """Keep everything, then say the end: whoever reads the conversation after it finds all of it. While the store
        fails, the end is said at once with the error, and the keeping is tried again behind it."""
        await self._saving.close()
        while (problem := await self._kept(run, done)) is not None:
            log.warning("the end of run %s is not saved yet: %s", self._run, problem.message)
            if not self.ended:
                self._say_unsaved(done, row_error(problem.code, problem.message))
            if self._hurry.is_set() or not isinstance(problem, Unavailable):
                return
            with anyio.move_on_after(self._retry):
                await self._hurry.wait()
        if not self.ended:
            self._say_end(done)

    async def _kept(self, run: Run, done: RunDone) -> Problem | None:
        rows, entries = self._saving.unsaved()
        if not self.ended:
            number = self._log.last + 1
            entries = [*entries, LogEntry(number, number, (), msgspec.json.encode(done))]
        with anyio.CancelScope(shield=True):
            problem = await kept(lambda: self._keeping.end(run, rows, entries))
        return problem

    def _say_unsaved(self, done: RunDone, error: RowError) -> None:
        for row in self.rows.values():
            if row.role == "assistant" and row.error is None:
                self.say(MessageDone(msgspec.structs.replace(row, error=error)))
        self._say_end(msgspec.structs.replace(done, error=done.error or error))

    def _say_end(self, done: RunDone) -> None:
        self._log.add(done)
        self.close()

    def _saved(self, problem: Problem | None) -> None:
        """The store failed, or works again: say so at the row that is being written."""
        if (self._trouble is None) == (problem is None):
            return
        self._trouble = RowError("server", problem.code, problem.message) if problem is not None else None
        if self.turn is not None:
            self.say(MessageAdded(msgspec.structs.replace(self.turn.row(), error=self._trouble)))
        if problem is not None and not isinstance(problem, Unavailable):
            self._gone(problem)
