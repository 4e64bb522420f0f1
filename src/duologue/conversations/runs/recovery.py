"""After a start: what the last process left running is ended in order, with everything that was kept of it.

Owns what an interrupted run looks like. Knows no task; nothing runs yet.
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
    """End every run that was cut off, and every row that is still written. Gives (user, run) of each. Raises
    Unavailable."""
    runs = await store.runs.unfinished()
    rows = await store.messages.unfinished()
    asked = await store.approvals.open()
    found = []
    for run in runs:
        user, _ = await store.runs.request(run.id)
        ended = msgspec.structs.replace(run, ended=now, outcome="interrupted", waiting="")
        mine = [interrupted(row) for row in rows if row.run == run.id]
        await _end(store, ended, mine, [question for question in asked if question.approval.run == run.id])
        found.append((user, ended))
    known = {run.id for run in runs}
    lost = [interrupted(row) for row in rows if row.run not in known]
    await store.messages.save(*lost)
    for question in asked:
        if question.approval.run not in known:
            await store.approvals.answer(question.approval.id, None)
    if found:
        log.info("%d replies were cut off by the last end of this server; what they had is kept", len(found))
    return found


def interrupted(row: StoredMessage) -> StoredMessage:
    """A running row as it ends when its process is gone. A call answers its model, so that the history is whole."""
    if row.role != "tool" or row.call is None:
        return msgspec.structs.replace(row, status="interrupted", tool_calls=(), error=None)
    began = row.call.state == "running"
    return msgspec.structs.replace(
        row,
        status="failed",
        content=(TextContent(INTERRUPTED_RUNNING if began else INTERRUPTED),),
        call=msgspec.structs.replace(row.call, state="failed", expires=0),
        error=None,
    )


async def _end(store: Store, run: Run, rows: list[StoredMessage], asked: Iterable[StoredApproval]) -> None:
    run_log = RunLog(await store.runs.log(run.id))
    events: list[RunEvent] = [ApprovalAnswered(question.approval.id, None) for question in asked]
    events += [ToolResult(row) if row.role == "tool" else MessageDone(row) for row in rows]
    events.append(RunDone("interrupted", turns=run.turns))
    for number, event in enumerate(events):
        run_log.leave_gap(event) if number == 0 else run_log.add(event)
    async with store.writing() as connection:
        for question in asked:
            await store.approvals.answer(question.approval.id, None, within=connection)
        await store.messages.save(*rows, within=connection)
        await store.runs.append(run.id, run_log.unsaved(), within=connection)
        await store.runs.end(run, within=connection)
