"""Keeping a run while it goes on: its rows and its log, together, at most so often and at every end.

Owns when to save, and what a failing store means: everything stays in memory and is tried again. One task saves, so
that no two of them tread on each other. Knows no model and no viewer.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence

import anyio
from anyio.abc import TaskStatus

from duologue.conversations.runs.event_log import LogEntry, RunLog
from duologue.errors import Problem
from duologue.values.conversations import StoredMessage

log = logging.getLogger(__name__)

EVERY = 0.5
"""Seconds between two savings of a growing text."""
RETRY = 1.0
"""Seconds until a failing store is tried again."""

Save = Callable[[Sequence[StoredMessage], Sequence[LogEntry]], Awaitable[None]]


class _Round:
    """One saving, for those who wait for it."""

    def __init__(self) -> None:
        self.over = anyio.Event()
        self.problem: Problem | None = None


class Autosave:
    """What of a run is not kept yet. `row` gives a row as it is now, `save` keeps rows and entries in one transaction,
    `told` hears of every saving: the Problem, or None when it went well."""

    def __init__(
        self,
        log: RunLog,
        *,
        row: Callable[[str], StoredMessage],
        save: Save,
        told: Callable[[Problem | None], None],
        every: float = EVERY,
        retry: float = RETRY,
    ) -> None:
        self._log = log
        self._row = row
        self._save_these = save
        self._told = told
        self._every = every
        self._retry = retry
        self._changed: set[str] = set()
        self._wanted = anyio.Event()
        self._urgent = anyio.Event()
        self._round = _Round()
        self._scope = anyio.CancelScope()
        self._looping = False
        self._ended = anyio.Event()

    def touch(self, *ids: str) -> None:
        """These rows, or the log alone, have changed."""
        self._changed.update(ids)
        self._wanted.set()

    def unsaved(self) -> tuple[list[StoredMessage], list[LogEntry]]:
        """What is not kept yet; it stays so."""
        return [self._row(id) for id in sorted(self._changed)], self._log.unsaved()

    async def flush(self) -> None:
        """Save now. Raises the Problem of the store; what was not saved stays to be."""
        if not self._looping:
            if (problem := await self._saved()) is not None:
                raise problem
            return
        this = self._round
        self._wanted.set()
        self._urgent.set()
        await this.over.wait()
        if this.problem is not None:
            raise this.problem

    async def loop(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Save as things change, until `close`."""
        self._looping = True
        task_status.started()
        try:
            with self._scope:
                while True:
                    await self._wanted.wait()
                    self._wanted, self._urgent = anyio.Event(), anyio.Event()
                    began = anyio.current_time()
                    failed = await self._turn() is not None
                    if failed:
                        self._wanted.set()
                    # From beginning to beginning: a slow store must not make the text at risk grow.
                    left = self._every - (anyio.current_time() - began)
                    with anyio.move_on_after(self._retry if failed else max(left, self._every / 5)):
                        await self._urgent.wait()
        finally:
            self._looping = False
            self._ended.set()
            self._round.over.set()

    async def close(self) -> None:
        """End the loop; a saving that has begun is waited for."""
        self._scope.cancel()
        if self._looping:
            await self._ended.wait()

    async def _turn(self) -> Problem | None:
        this, self._round = self._round, _Round()
        # A saving that began is finished, its bookkeeping too: what is kept must not be kept again.
        with anyio.CancelScope(shield=True):
            this.problem = await self._saved()
        this.over.set()
        return this.problem

    async def _saved(self) -> Problem | None:
        ids, self._changed = self._changed, set()
        rows = [self._row(id) for id in sorted(ids)]
        entries = self._log.unsaved()
        if not rows and not entries:
            return None
        problem = await kept(lambda: self._save_these(rows, entries))
        if problem is not None:
            self._changed |= ids
        elif entries:
            self._log.saved(entries[-1].last)
        self._told(problem)
        return problem


async def kept(save: Callable[[], Awaitable[None]]) -> Problem | None:
    """Why nothing was kept; None when it was. What is no Problem is a bug; the text in memory is worth more than it."""
    try:
        await save()
    except Problem as problem:
        return problem
    except Exception:
        log.exception("a run could not be saved")
        return Problem("The reply could not be saved. The server's log says more.")
    return None
