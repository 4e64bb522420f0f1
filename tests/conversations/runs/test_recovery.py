"""What a start finds of a process that was cut off, on every kind of database."""

import pytest
from tests.conversations.fakes.world import seen
from tests.support.store_fixtures import clock, conversation, database, row, store

from duologue.conversations.agent.loop import INTERRUPTED, INTERRUPTED_RUNNING
from duologue.conversations.runs.event_log import RESTART_GAP, LogEntry, RunLog
from duologue.conversations.runs.recovery import end_abandoned, recover
from duologue.values.conversations import Approval, ToolCallRecord
from duologue.values.runs import ApprovalAnswered, MessageAdded, Run, RunDelta, RunDone, RunStarted

__all__ = ["clock", "database", "store"]
pytestmark = pytest.mark.anyio


async def cut_off(store):
    """A run of ann that was writing, and whose call was asked about, when the process ended."""
    await conversation(store, "Hello", id="c", user="ann")
    rows = [
        row("c", "a", "m0", "Half", "assistant", status="running", run="r"),
        row(
            "c",
            "t",
            "a",
            "",
            "tool",
            status="running",
            run="r",
            call=ToolCallRecord("x", state="asked", expires=9),
        ),
        row("c", "t2", "t", "", "tool", status="running", run="r", call=ToolCallRecord("x", state="running")),
    ]
    await store.messages.add(rows)
    await store.runs.begin(Run("r", "c", 1, turns=2), "ann", b"{}")
    await store.approvals.ask("ann", Approval("t", "r", "c"))
    log = RunLog()
    log.add(RunStarted("r", "c"))
    log.add(MessageAdded(row("c", "a", "m0", "", "assistant", status="running", run="r")))
    log.add(RunDelta("a", "text", "Ha"))
    await store.runs.append("r", log.unsaved())


async def test_rows_questions_and_runs_are_ended_with_what_they_had(store):
    await cut_off(store)
    ((user, run),) = await recover(store, 77)
    assert (user, run.outcome, run.ended, run.turns) == ("ann", "interrupted", 77, 2)
    assert await store.runs.get("ann", "r") == run
    rows = {found.id: found for found in await store.messages.all("c")}
    assert (rows["a"].status, rows["a"].text) == ("interrupted", "Half")
    assert (rows["t"].status, rows["t"].call.state, rows["t"].text) == ("failed", "failed", INTERRUPTED)
    assert rows["t"].call.expires == 0
    assert rows["t2"].text == INTERRUPTED_RUNNING
    assert await store.approvals.pending("ann") == []
    assert (await store.conversations.get("ann", "c")).running is None


async def test_the_log_ends_in_order_beyond_what_any_viewer_saw(store):
    await cut_off(store)
    await recover(store, 77)
    log = RunLog(await store.runs.log("r"))
    late = log.after(900)
    assert late[0].seq == 3 + RESTART_GAP
    assert late[0].event == ApprovalAnswered("t", None)
    assert isinstance(late[-1].event, RunDone)
    assert late[-1].event.outcome == "interrupted"
    assert seen(logged.event for logged in log.after(0))["a"] == "Half"


async def test_a_second_start_finds_nothing(store):
    await cut_off(store)
    await recover(store, 77)
    before = await store.messages.all("c")
    assert await recover(store, 78) == []
    assert await store.messages.all("c") == before


async def test_rows_without_a_run_are_ended_too(store):
    await conversation(store, "Hello", id="c", user="ann")
    await store.messages.add([row("c", "a", "m0", "Half", "assistant", status="running", run="gone")])
    assert await recover(store, 77) == []
    assert (await store.messages.get("c", "a")).status == "interrupted"


async def test_a_run_with_an_event_of_a_newer_gateway_is_ended_too(store):
    await cut_off(store)
    await store.runs.append("r", [LogEntry(4, 6, (), b'{"type":"of_tomorrow"}')])
    ((_, run),) = await recover(store, 77)
    assert run.outcome == "interrupted"
    late = RunLog(await store.runs.log("r")).after(3)
    assert late[0].seq == 6 + RESTART_GAP
    assert isinstance(late[-1].event, RunDone)


async def test_a_run_that_cannot_be_read_keeps_no_other_from_being_ended_and_is_left_alone(
    store, monkeypatch
):
    await cut_off(store)
    await conversation(store, "Hello", id="d", user="ann")
    await store.runs.begin(Run("r0", "d", 0), "ann", b"{}")
    unfinished = store.messages.unfinished

    async def unreadable(run=None, **fields):
        if run == "r":
            raise ValueError("of another version")
        return await unfinished(run, **fields)

    monkeypatch.setattr(store.messages, "unfinished", unreadable)
    given_up: set[str] = set()
    assert [run.id for _, run in await end_abandoned(store, 77, None, given_up)] == ["r0"]
    assert given_up == {"r"}
    assert (await store.runs.get("ann", "r")).outcome is None
    monkeypatch.undo()
    assert await end_abandoned(store, 77, None, given_up) == []
