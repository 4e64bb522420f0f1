"""Recovery: ends abandoned runs, with everything that was stored of them.

Called by `service.py`: before any run starts, and again and again for the runs of other gateways that die. Owns how an interrupted run
looks.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import msgspec

from duologue.conversations.agent.loop import INTERRUPTED, INTERRUPTED_RUNNING
from duologue.conversations.runs.event_log import RunLog
from duologue.errors import Problem
from duologue.store.cluster.cluster_link import ClusterLink, alone
from duologue.store.schema.repeating import repeated
from duologue.values.cluster.notices import RunSaved
from duologue.values.conversations import StoredMessage, TextContent
from duologue.values.runs import ApprovalAnswered, MessageDone, Run, RunDone, RunEvent, ToolResult

if TYPE_CHECKING:
    from duologue.store.approvals import StoredApproval
    from duologue.store.stores import Store

log = logging.getLogger(__name__)


class AbandonedRuns:
    """The abandoned runs in a store that several gateways may share. `publish` tells the user about each end."""

    def __init__(
        self, store: Store, cluster: ClusterLink, now: Callable[[], int], publish: Callable[[str, Run], None]
    ) -> None:
        self._store, self._cluster, self._now, self._publish = store, cluster, now, publish
        self._given_up: set[str] = set()

    async def recover(self) -> None:
        """End the runs that the last process left unfinished. Called before any run starts."""
        for user, run in await recover(self._store, self._now(), self._cluster):
            self._publish(user, run)

    async def end_them(self) -> None:
        """End the runs of dead gateways, each time this one has read the list of gateways. Runs in a task of its own."""
        while self._cluster.shared:
            await self._cluster.looked.wait()
            try:
                await self.end()
            except Problem as problem:
                log.warning("runs of other gateways could not be checked: %s", problem.message)

    async def end(self) -> None:
        """End the runs whose gateway is gone. Raises Unavailable."""
        for user, run in await end_abandoned(self._store, self._now(), self._cluster, self._given_up):
            log.warning("run %s was interrupted: its gateway is gone", run.id)
            self._publish(user, run)


async def recover(store: Store, now: int, cluster: ClusterLink | None = None) -> list[tuple[str, Run]]:
    """After a start: end the runs that nobody writes any more, and, if no other gateway can be writing them, every row that is still
    marked as running. Returns (user, run) of each. Raises Unavailable."""
    ended = await end_abandoned(store, now, cluster)
    if ended:
        log.info("%d replies were interrupted when the server last stopped; their text is kept", len(ended))
    if cluster is None or not cluster.shared:
        await _end_orphans(store)
    return ended


async def end_abandoned(
    store: Store, now: int, cluster: ClusterLink | None = None, given_up: set[str] | None = None
) -> list[tuple[str, Run]]:
    """End the runs whose gateway is gone; those that another gateway ends at the same time are left to it. `given_up`: runs for which this
    failed before; those for which it fails now are added. Returns (user, run) of each. Raises Unavailable."""
    cluster, given_up = cluster or alone(), set() if given_up is None else given_up
    ended = []
    for run in await store.runs.abandoned(cluster.gateway):
        if run in given_up:
            continue
        try:
            taken = await _end(store, run, now, cluster)
        except Problem:
            raise
        except Exception:
            # What was stored of one cannot be read: that must not keep this gateway from starting, nor the others from being ended.
            log.exception("run %s could not be ended", run)
            given_up.add(run)
            continue
        if taken is not None:
            ended.append(taken)
    return ended


async def _end_orphans(store: Store) -> None:
    """Rows and questions whose run is unknown: without this they would stay open for ever."""
    await store.messages.save(*map(interrupted, await store.messages.unfinished()))
    for stored in await store.approvals.open():
        await store.approvals.answer(stored.approval.id, None)


def interrupted(row: StoredMessage) -> StoredMessage:
    """A running row as it ends when its process is gone. A tool call gets a result, so that the history stays valid."""
    if row.role != "tool" or row.call is None:
        return msgspec.structs.replace(row, status="interrupted", tool_calls=(), error=None)
    was_running = row.call.state == "running"
    return msgspec.structs.replace(
        row,
        status="failed",
        content=(TextContent(INTERRUPTED_RUNNING if was_running else INTERRUPTED),),
        call=msgspec.structs.replace(row.call, state="failed", expires=0),
        error=None,
    )


@repeated
async def _end(store: Store, id: str, now: int, cluster: ClusterLink) -> tuple[str, Run] | None:
    """End one run; None when another gateway has. What was stored is read after the run is taken, so that nothing its old owner has
    written until then is missing."""
    async with store.writing() as connection:
        if (taken := await store.runs.take(id, cluster.gateway, within=connection)) is None:
            return None
        user, run = taken
        run = msgspec.structs.replace(run, ended=now, outcome="interrupted", waiting="")
        rows = [interrupted(row) for row in await store.messages.unfinished(id, within=connection)]
        approvals = await store.approvals.open(id, within=connection)
        run_log = RunLog(await store.runs.log(id, within=connection))
        for number, event in enumerate(_last_events(run, rows, approvals)):
            run_log.leave_gap(event) if number == 0 else run_log.add(event)
        for stored in approvals:
            await store.approvals.answer(stored.approval.id, None, within=connection)
        await store.messages.save(*rows, within=connection)
        await store.runs.append(id, run_log.unsaved(), within=connection)
        await store.runs.end(run, within=connection)
        await store.pending.change_all(run.conversation, "hold", within=connection)
        await cluster.notices.publish(RunSaved(id, run_log.last, ended=True), within=connection)
    return user, run


def _last_events(
    run: Run, rows: Iterable[StoredMessage], approvals: Iterable[StoredApproval]
) -> list[RunEvent]:
    events: list[RunEvent] = [ApprovalAnswered(stored.approval.id, None) for stored in approvals]
    events += [ToolResult(row) if row.role == "tool" else MessageDone(row) for row in rows]
    return [*events, RunDone("interrupted", turns=run.turns)]
