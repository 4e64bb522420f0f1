"""Storing a run while it is written: its rows and its log together, at an interval and at every end.

Used by `record.py`. While the store fails, everything stays in memory and is tried again. Only one task saves, so two saves
never overlap.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Awaitable, Callable, Sequence

import anyio
from anyio.abc import TaskStatus

from duologue.conversations.runs.event_log import LogEntry, RunLog
from duologue.errors import Problem
from duologue.values.conversations import StoredMessage

log = logging.getLogger(__name__)

INTERVAL = 0.5
"""Seconds between two saves of a growing text."""
QUICK_INTERVAL = 0.1
"""The same while somebody follows the run at another gateway, who reads what is stored."""
QUICK_S = 10.0
"""Seconds for which one such reader counts."""
RETRY = 1.0
"""Seconds before a failed save is tried again."""

Save = Callable[[Sequence[StoredMessage], Sequence[LogEntry]], Awaitable[None]]


class _Attempt:
    """One save, for the tasks that wait for its result."""

    def __init__(self) -> None:
        self.ended = anyio.Event()
        self.problem: Problem | None = None


class Autosave:
    """What of a run is not stored yet. `row` gives a row as it is now, `save` stores rows and entries in one transaction,
    `on_save` is called after every save with its Problem, or None for success."""

    def __init__(
        self,
        log: RunLog,
        *,
        row: Callable[[str], StoredMessage],
        save: Save,
        on_save: Callable[[Problem | None], None],
        interval: float = INTERVAL,
        retry: float = RETRY,
    ) -> None:
        self._log = log
        self._row = row
        self._save = save
        self._on_save = on_save
        self._interval = interval
        self._retry = retry
        self._quick_until = float("-inf")
        self._changed: set[str] = set()
        self._dirty = anyio.Event()
        self._urgent = anyio.Event()
        self._attempt = _Attempt()
        self._scope = anyio.CancelScope()
        self._is_looping = False
        self._ended = anyio.Event()

    def touch(self, *ids: str) -> None:
        """These rows have changed; without ids, only the log."""
        self._changed.update(ids)
        self._dirty.set()

    def quicken(self) -> None:
        """The stored text has readers: save more often for a while."""
        self._quick_until = anyio.current_time() + QUICK_S

    @property
    def is_quick(self) -> bool:
        """Whether the stored text has readers."""
        return anyio.current_time() < self._quick_until

    def unsaved(self) -> tuple[list[StoredMessage], list[LogEntry]]:
        """What is not stored yet. Does not mark it as stored."""
        return [self._row(id) for id in sorted(self._changed)], self._log.unsaved()

    async def flush(self) -> None:
        """Save now. Raises the Problem of the store; the rest is saved later."""
        if not self._is_looping:
            if (problem := await self._save_changes()) is not None:
                raise problem
            return
        attempt = self._attempt
        self._dirty.set()
        self._urgent.set()
        await attempt.ended.wait()
        if attempt.problem is not None:
            raise attempt.problem

    async def loop(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Save changes as they come, until `close`."""
        self._is_looping = True
        task_status.started()
        try:
            with self._scope:
                while True:
                    await self._dirty.wait()
                    self._dirty, self._urgent = anyio.Event(), anyio.Event()
                    start = anyio.current_time()
                    failed = await self._run_attempt() is not None
                    if failed:
                        self._dirty.set()
                    interval = min(QUICK_INTERVAL, self._interval) if self.is_quick else self._interval
                    pause = self._retry if failed else pause_after(start, anyio.current_time(), interval)
                    with anyio.move_on_after(pause):
                        await self._urgent.wait()
        finally:
            self._is_looping = False
            self._ended.set()
            self._attempt.ended.set()

    async def close(self) -> None:
        """End the loop, after the save that is in progress."""
        self._scope.cancel()
        if self._is_looping:
            await self._ended.wait()

    async def _run_attempt(self) -> Problem | None:
        attempt, self._attempt = self._attempt, _Attempt()
        # Shielded with its bookkeeping: a cancellation in between would store the same log entries twice.
        with anyio.CancelScope(shield=True):
            attempt.problem = await self._save_changes()
        attempt.ended.set()
        return attempt.problem

    async def _save_changes(self) -> Problem | None:
        ids, self._changed = self._changed, set()
        rows = [self._row(id) for id in sorted(ids)]
        entries = self._log.unsaved()
        if not rows and not entries:
            return None
        problem = await try_save(lambda: self._save(rows, entries))
        if problem is not None:
            self._changed |= ids
        elif entries:
            self._log.mark_saved(entries[-1].last)
        self._on_save(problem)
        return problem


def pause_after(start: float, now: float, interval: float) -> float:
    """Seconds until the next save, after one that took from `start` to `now`. All runs are due at the same ticks, so that one transaction
    stores them. Counted from the start: a slow store must not increase how much text is at risk."""
    tick = (math.floor(start / interval) + 1) * interval
    return max(tick - now, interval / 5)


async def try_save(save: Callable[[], Awaitable[None]]) -> Problem | None:
    """Why the save failed; None for success. A bug counts as a failure too, because the text in memory must survive it."""
    try:
        await save()
    except Problem as problem:
        return problem
    except Exception:
        log.exception("a run could not be saved")
        return Problem("The reply could not be saved. The server's log says more.")
    return None
