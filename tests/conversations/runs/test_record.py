"""The record of a run: rows, log and viewers, over a store that is played."""

from typing import Any

import anyio
import pytest
from tests.support.stand_in import StandIn
from tests.support.store_fixtures import row

from duologue.conversations.agent.turn import ModelTurn
from duologue.conversations.runs.record import RunRecord
from duologue.errors import NotFound, Unavailable
from duologue.values.events import TextDelta
from duologue.values.runs import MessageAdded, Run, RunDelta, RunDone

pytestmark = pytest.mark.anyio

ANSWER = row("c", "a", "u", "", "assistant", status="running")


class Desk(StandIn):
    def __init__(self):
        self.saved = []
        self.ends = []
        self.problem = None
        self.gone: list[Any] = []
        self.told: list[str] = []
        self.record = RunRecord("r", self, on_deleted=self.gone.append, interval=60, retry=0.001)

    async def add(self, run, rows):
        return tuple(rows)

    def tell_saved(self, run):
        self.told.append(run)

    async def save(self, run, rows, entries):
        if self.problem is not None:
            raise self.problem
        self.saved.append(([row.text for row in rows], [entry.last for entry in entries]))

    async def end(self, run, rows, entries):
        if self.problem is not None:
            raise self.problem
        self.ends.append((run, [(row.id, row.text) for row in rows], [entry.last for entry in entries]))

    def write(self, text):
        if self.record.turn is None:
            self.record.rows["a"] = ANSWER
            self.record.turn = ModelTurn(ANSWER)
        turn = self.record.turn
        self.record.grow(turn, turn.feed(TextDelta(text)))


@pytest.fixture
async def desk(anyio_backend):
    desk = Desk()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(desk.record.keep)
        await anyio.wait_all_tasks_blocked()
        yield desk
        tasks.cancel_scope.cancel()


async def everything(record, after=0):
    return [logged async for logged in record.viewer(after)]


async def test_a_slow_viewer_gets_the_pieces_joined_and_a_quick_one_each(desk):
    quick = []

    async def watch():
        async for logged in desk.record.viewer(0):
            quick.append(logged.event)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(watch)
        for piece in ("a", "b"):
            desk.write(piece)
            await anyio.wait_all_tasks_blocked()
        await desk.record.end(Run("r", "c", 1, 2, "done"), RunDone("done"))
    assert quick == [RunDelta("a", "text", "a"), RunDelta("a", "text", "b"), RunDone("done")]
    slow = [logged.event for logged in await everything(desk.record)]
    assert "".join(event.text for event in slow[:-1]) == "ab"


async def test_new_rows_are_told_as_they_are_kept(desk):
    await desk.record.add([row("c", "u", None, "Hello")])
    assert "u" in desk.record.rows
    desk.record.close()
    assert [logged.event for logged in await everything(desk.record)] == [
        MessageAdded(row("c", "u", None, "Hello"))
    ]


async def test_the_end_is_kept_before_it_is_said_and_nothing_follows(desk):
    desk.write("x")
    await desk.record.end(Run("r", "c", 1, 2, "done"), RunDone("done"))
    assert desk.saved == [(["x"], [1])]
    assert desk.ends == [(Run("r", "c", 1, 2, "done"), [], [2])]
    desk.record.publish(RunDelta("a", "text", "late"))
    assert (await everything(desk.record))[-1].event == RunDone("done")


async def test_trouble_is_said_at_the_row_that_is_written_and_taken_back(desk):
    desk.problem = Unavailable("The disk is full.", code="storage_unavailable")
    desk.write("x")
    await desk.record.flush()
    assert desk.record.row("a").error.code == "storage_unavailable"
    desk.problem = None
    desk.write("y")
    await desk.record.flush()
    assert desk.record.row("a").error is None
    desk.record.close()
    told = [logged.event for logged in await everything(desk.record)]
    errors = [event.message.error for event in told if isinstance(event, MessageAdded)]
    assert [error and error.code for error in errors] == ["storage_unavailable", None]
    assert [event.message.text for event in told if isinstance(event, MessageAdded)] == ["x", "xy"]
    assert not desk.gone


async def test_rows_that_are_gone_are_told_to_the_run(desk):
    desk.problem = NotFound("The message is there no more.")
    desk.write("x")
    await desk.record.flush()
    assert desk.gone == [desk.problem]
    with anyio.fail_after(60):
        await desk.record.end(Run("r", "c", 1), RunDone("failed"))
    assert desk.record.ended


async def test_an_end_that_cannot_be_kept_is_said_with_the_error_and_tried_again(desk):
    desk.record.put(row("c", "a", "u", "Whole", "assistant"))
    desk.problem = Unavailable("The disk is full.", code="storage_unavailable")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(desk.record.end, Run("r", "c", 1, 2, "done"), RunDone("done"))
        told = await everything(desk.record)
        assert told[-1].event.error.code == "storage_unavailable"
        assert told[-2].event.message.error.code == "storage_unavailable"
        desk.problem = None
    ((run, rows, entries),) = desk.ends
    assert (run.outcome, rows) == ("done", [("a", "Whole")])
    assert entries[-1] == told[-1].seq


async def test_a_server_that_goes_down_does_not_wait_for_a_failing_store(desk):
    desk.problem = Unavailable("The disk is full.")
    desk.record.hurry()
    with anyio.fail_after(60):
        await desk.record.end(Run("r", "c", 1), RunDone("interrupted"))
    assert desk.ends == []
