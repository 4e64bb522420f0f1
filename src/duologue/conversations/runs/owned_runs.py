"""What other gateways tell this one about the runs that it writes.

Used by `service.py`. A notice may get lost, so after a time without notices everything stored is read again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, cast

import anyio.abc

from duologue.conversations.agent.approvals import ApprovalReply
from duologue.conversations.runs.run import ActiveRun
from duologue.errors import Problem
from duologue.store.cluster.cluster_link import ClusterLink
from duologue.values.cluster.notices import ApprovalGiven, RunSteered, RunStopped, RunWatched

if TYPE_CHECKING:
    from duologue.store.approvals import StoredApproval
    from duologue.store.stores import Store, Stores

log = logging.getLogger(__name__)


class OwnedRuns:
    """`runs` are those under way here, by id; `tasks` is where answers are read."""

    def __init__(
        self,
        stores: Stores,
        cluster: ClusterLink,
        runs: Mapping[str, ActiveRun],
        tasks: anyio.abc.TaskGroup,
    ) -> None:
        self._stores = stores
        self._runs = runs
        self._tasks = tasks
        notices = cluster.notices
        notices.on(RunWatched, lambda notice: self._of(notice.run, ActiveRun.quicken))
        notices.on(RunStopped, lambda notice: self._of(notice.run, ActiveRun.stop))
        notices.on(RunSteered, lambda notice: self._of(notice.run, ActiveRun.steer))
        notices.on(ApprovalGiven, lambda notice: self._of(notice.run, self._read_answers))
        notices.when_blind(self._look_again)
        if cluster.shared:
            tasks.start_soon(self._look_for_answers, cluster)

    def _of(self, run: str, act: Callable[[ActiveRun], None]) -> None:
        if (active := self._runs.get(run)) is not None and not active.over:
            act(active)

    def _look_again(self) -> None:
        for run in tuple(self._runs.values()):
            self._tasks.start_soon(self._look, run)

    def _read_answers(self, run: ActiveRun) -> None:
        self._tasks.start_soon(self._answer, run)

    async def _look_for_answers(self, cluster: ClusterLink) -> None:
        """A run may wait minutes for its user, so it checks repeatedly for an answer whose notice was lost."""
        while True:
            await cluster.looked.wait()
            for run in tuple(self._runs.values()):
                if not run.over:
                    await self._answer(run)

    async def _look(self, run: ActiveRun) -> None:
        await self._answer(run)
        try:
            waiting = await self._stores.of(run.view.conversation).pending.of(run.view.conversation)
        except Problem as problem:
            log.warning("run %s does not know whether it is steered: %s", run.view.id, problem.message)
            return
        if any(message.how == "steer" for message in waiting) and not run.over:
            run.steer()

    async def _answer(self, run: ActiveRun) -> None:
        """Pass on the answers that are stored to the questions this run has open."""
        store = self._stores.of(run.view.conversation)
        for approval in run.questions:
            try:
                stored = await store.approvals.get(run.user, approval.id)
                if stored.answered and stored.decision is not None:
                    await pass_on(store, run, stored)
            except Problem as problem:
                log.warning("an answer to run %s was not read: %s", run.view.id, problem.message)


async def pass_on(store: Store, run: ActiveRun, stored: StoredApproval) -> None:
    """Give a run the stored answer to its question. One about a whole tool or server also answers the other open questions that it
    covers. Raises Unavailable."""
    approval, reply = stored.approval, stored.decision
    assert reply is not None
    covered = []
    if reply in ("tool", "server"):
        covered = run.open_approvals(approval.server, approval.tool if reply == "tool" else "*")
    run.answer(approval.id, cast(ApprovalReply, reply), stored.values)
    for other in covered:
        if other != approval.id:
            await store.approvals.answer(other, "once")
            run.answer(other, "once", {})
