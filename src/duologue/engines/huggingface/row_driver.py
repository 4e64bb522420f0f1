"""Keeps the batch going while anyone waits for it: steps in the engine's one thread, their items to the tasks that read them.

Made by `engine`. Each reply has a task that runs the next step whenever the thread is free, for all rows and not only its own; so a step
always has every row that is ready, whoever runs it, and none runs when nobody reads. Who leaves waits for one step.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import anyio
from anyio import lowlevel

from duologue.engines.huggingface.batch_plan import ROOM, RowState, StepPlan, plan_step
from duologue.engines.huggingface.reply_rows import Item, Outcome, PromptRow, ReplyRow
from duologue.errors import Problem
from duologue.notifier import Notifier
from duologue.threads import ThreadLane, in_thread

RunStep = Callable[[PromptRow | None, Sequence[ReplyRow], int], list[Outcome]]


class DrivenRow:
    """A row, and what its reader has not taken yet. Iterating gives its items, and raises its failure."""

    def __init__(self, row: PromptRow, number: int, taken: Notifier) -> None:
        self.row, self.number, self._taken = row, number, taken
        self._unread: deque[Item] = deque()
        self._arrived = Notifier()
        self.ended = False
        self.failure: Problem | None = None

    @property
    def state(self) -> RowState:
        """What the plan knows of it."""
        return RowState(self.number, self.row.reads, len(self._unread))

    def deliver(self, outcome: Outcome) -> None:
        """Take what a step gave."""
        if isinstance(outcome, Problem):
            self.failure, self.ended = outcome, True
        else:
            self._unread.extend(outcome)
            self.ended = self.row.ended
        self._arrived.notify()

    def __aiter__(self) -> DrivenRow:
        return self

    async def __anext__(self) -> Item:
        await lowlevel.checkpoint()
        while not self._unread:
            if self.failure is not None:
                raise self.failure
            if self.ended:
                raise StopAsyncIteration
            await self._arrived.wait()
        if len(self._unread) == ROOM:
            self._taken.notify()
        return self._unread.popleft()


class RowDriver:
    """`lane` has one thread; `run` runs a step in it."""

    def __init__(self, lane: ThreadLane, run: RunStep) -> None:
        self._lane, self._run = lane, run
        self._rows: dict[int, DrivenRow] = {}
        self._count = 0
        self._last_read = -1
        self._changed = Notifier()

    @asynccontextmanager
    async def drive(self, row: PromptRow) -> AsyncIterator[DrivenRow]:
        """The items of a row; leaving takes it out of the batch, once the step it may be in has ended."""
        driven = DrivenRow(row, self._count, self._changed)
        self._count += 1
        self._rows[driven.number] = driven
        self._changed.notify()
        failure: Exception | None = None
        async with anyio.create_task_group() as group:
            group.start_soon(self._keep_going, driven)
            try:
                yield driven
            except Exception as error:  # noqa: BLE001
                # Carried around the task group, which would wrap it in an ExceptionGroup.
                failure = error
            finally:
                self._rows.pop(driven.number, None)
                group.cancel_scope.cancel()
        with anyio.CancelScope(shield=True):
            async with self._lane.turn(never_refused=True):
                pass  # a step that another task runs may still have this row
        if failure is not None:
            raise failure

    async def _keep_going(self, driven: DrivenRow) -> None:
        while not driven.ended:
            changed = self._changed.pending()
            async with self._lane.turn(never_refused=True):
                if driven.ended:
                    return
                plan = plan_step([each.state for each in self._rows.values()], self._last_read)
                if not plan.is_empty:
                    with anyio.CancelScope(shield=True):
                        await self._step(plan)
                    continue
            await changed.wait()

    async def _step(self, plan: StepPlan) -> None:
        reading = None if plan.reading is None else self._rows[plan.reading]
        writing = [self._rows[number] for number in plan.writing]
        if plan.reading is not None:
            self._last_read = plan.reading
        replies = [each.row for each in writing if isinstance(each.row, ReplyRow)]
        targets = [*([] if reading is None else [reading]), *writing]
        outcomes: Sequence[Outcome]
        try:
            outcomes = await in_thread(
                self._run, None if reading is None else reading.row, replies, plan.share
            )
        except Problem as problem:  # the model is being unloaded
            outcomes = [problem] * len(targets)
        for driven, outcome in zip(targets, outcomes, strict=True):
            driven.deliver(outcome)
            if driven.ended:
                self._rows.pop(driven.number, None)
        self._changed.notify()
