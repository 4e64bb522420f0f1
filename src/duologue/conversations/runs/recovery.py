"""Recovery after a start: the runs that the last process left unfinished are ended, with everything that was stored of them.

Called by `service.py` before any run starts. Owns how an interrupted run looks.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec

from duologue.conversations.agent.loop import INTERRUPTED, INTERRUPTED_RUNNING
from duologue.conversations.runs.event_log import RunLog
from duologue.values.conversations import StoredMessage, TextContent
from duologue.values.runs import ApprovalAnswered, MessageDone, Run, RunDone, RunEvent, ToolResult

if TYPE_CHECKING:
    from duologue.store.approvals import StoredApproval
    from duologue.store.stores import Store

log = logging.getLogger(__name__)


async def recover(store: Store, now: int) -> list[tuple[str, Run]]:
    """End every unfinished run and every row that is still marked as running. Returns (user, run) of each. Raises
    Unavailable."""
    runs = await store.runs.unfinished()
    rows = await store.messages.unfinished()
    approvals = await store.approvals.open()
    recovered = []
    for run in runs:
        user, _ = await store.runs.request(run.id)
        ended = msgspec.structs.replace(run, ended=now, outcome="interrupted", waiting="")
        own_rows = [interrupted(row) for row in rows if row.run == run.id]
        own_approvals = [stored for stored in approvals if stored.approval.run == run.id]
        await _end(store, ended, own_rows, own_approvals)
        recovered.append((user, ended))
    known = {run.id for run in runs}
    # Rows and questions whose run is unknown: without this they would stay open for ever.
    orphans = [interrupted(row) for row in rows if row.run not in known]
    await store.messages.save(*orphans)
    for stored in approvals:
        if stored.approval.run not in known:
            await store.approvals.answer(stored.approval.id, None)
    if recovered:
        log.info(
            "%d replies were interrupted when the server last stopped; their text is kept", len(recovered)
        )
    return recovered


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


async def _end(
    store: Store, run: Run, rows: list[StoredMessage], approvals: Iterable[StoredApproval]
) -> None:
    run_log = RunLog(await store.runs.log(run.id))
    events: list[RunEvent] = [ApprovalAnswered(stored.approval.id, None) for stored in approvals]
    events += [ToolResult(row) if row.role == "tool" else MessageDone(row) for row in rows]
    events.append(RunDone("interrupted", turns=run.turns))
    for number, event in enumerate(events):
        run_log.leave_gap(event) if number == 0 else run_log.add(event)
    async with store.writing() as connection:
        for stored in approvals:
            await store.approvals.answer(stored.approval.id, None, within=connection)
        await store.messages.save(*rows, within=connection)
        await store.runs.append(run.id, run_log.unsaved(), within=connection)
        await store.runs.end(run, within=connection)
