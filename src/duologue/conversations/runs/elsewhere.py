"""Runs that another gateway of the same database writes: followed, stopped, steered and answered from here.

Used by `service.py`. Commands to the owner are stored first or repeated until they have taken effect, because a notice may get lost. Readers
read what the owner has stored; it saves more often while it knows of a reader.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import anyio

from duologue.conversations.runs.event_log import RunLog
from duologue.errors import Unavailable
from duologue.notifier import Notifier
from duologue.store.cluster.cluster_link import ClusterLink
from duologue.values.cluster.notices import ApprovalGiven, RunSaved, RunSteered, RunStopped, RunWatched
from duologue.values.runs import Logged, Run, RunDone

if TYPE_CHECKING:
    from duologue.store.stores import Stores

LOOK_S = 1.0
"""Seconds after which a reader looks again without a notice, and a stop is repeated."""
WATCH_AGAIN_S = 3.0
"""Seconds between two notices to a run's owner that it still has readers elsewhere."""
LEASES = 2.0
"""How long a stop waits for the owner, in leases: by then a dead owner has been noticed and its run has been ended."""


class RunsElsewhere:
    """`cluster` says whether there are other gateways at all."""

    def __init__(self, stores: Stores, cluster: ClusterLink) -> None:
        self._stores = stores
        self._cluster = cluster
        self._followed: dict[str, _Followed] = {}
        cluster.notices.on(RunSaved, self._saved)
        cluster.notices.when_blind(self._look_again)

    async def running(self, user: str, run: str | None) -> Run | None:
        """The run of this id, if it is running and may belong to another gateway."""
        if run is None or not self._cluster.shared:
            return None
        _, view = await self._stores.find_run(user, run)
        return view if view.outcome is None else None

    async def viewer(self, user: str, run: str, after: int) -> AsyncIterator[Logged]:
        """The stored events of a run beyond number `after`, and those to come while it is under way; to its end. Raises NotFound."""
        store, view = await self._stores.find_run(user, run)
        at, told = after, float("-inf")
        with self._following(run) as followed:
            while True:
                saved = followed.pending()
                if self._cluster.shared and view.outcome is None and anyio.current_time() >= told:
                    self._cluster.notices.post(RunWatched(run))
                    told = anyio.current_time() + WATCH_AGAIN_S
                for logged in RunLog(await store.runs.log(run, at)).after(at):
                    at = logged.seq
                    yield logged
                    if isinstance(logged.event, RunDone):
                        return
                if view.outcome is not None or not self._cluster.shared:
                    # The log was deleted by retention, or has no end; the run itself is still stored.
                    yield Logged(at + 1, RunDone(view.outcome or "interrupted", view.error, view.turns))
                    return
                with anyio.move_on_after(LOOK_S):
                    await saved.wait()
                # Read before the log: once the run has ended, nothing is added to the log.
                view = await store.runs.get(user, run)

    async def stop(self, user: str, run: Run) -> Run:
        """Have the owner stop a run. Returns the run when it has ended, or its owner has died. Raises Unavailable when
        neither is known in time."""
        with self._following(run.id) as followed, anyio.move_on_after(LEASES * self._cluster.lease_s):
            while True:
                saved = followed.pending()
                self._cluster.notices.post(RunStopped(run.id))
                with anyio.move_on_after(LOOK_S):
                    await saved.wait()
                _, run = await self._stores.find_run(user, run.id)
                if run.outcome is not None:
                    return run
        raise Unavailable(
            "The server that writes this reply does not answer. Try to stop the reply again in a moment.",
            code="gateway_silent",
        )

    def steer(self, run: str) -> None:
        """A message that steers this run is stored."""
        self._cluster.notices.post(RunSteered(run))

    def answered(self, run: str, approval: str) -> None:
        """The answer to a question of this run is stored."""
        self._cluster.notices.post(ApprovalGiven(run, approval))

    @contextmanager
    def _following(self, run: str) -> Iterator[_Followed]:
        followed = self._followed.setdefault(run, _Followed())
        followed.readers += 1
        try:
            yield followed
        finally:
            followed.readers -= 1
            if not followed.readers:
                del self._followed[run]

    def _saved(self, notice: RunSaved) -> None:
        if (followed := self._followed.get(notice.run)) is not None:
            followed.notify()

    def _look_again(self) -> None:
        for followed in self._followed.values():
            followed.notify()


class _Followed(Notifier):
    """Wakes the readers of one run here."""

    def __init__(self) -> None:
        super().__init__()
        self.readers = 0
