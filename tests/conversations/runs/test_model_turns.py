"""The turns of a run, with the model played and the record's store too."""

from typing import Any

import anyio
import pytest
from tests.conversations.fakes.run_dependencies import Surroundings, fails, says
from tests.support.stand_in import StandIn
from tests.support.store_fixtures import Clock, row

from duologue.conversations.agent.turn import ModelTurn
from duologue.conversations.runs.model_turns import ModelTurns
from duologue.conversations.runs.record import RunRecord
from duologue.values.events import Done, Fitted, FittingNote, Queued, TextDelta, Usage
from duologue.values.messages import user
from duologue.values.requests import ChatRequest
from duologue.values.runs import MessageDone

pytestmark = pytest.mark.anyio

ANSWER = row("c", "a", "u", "", "assistant", status="running")


class Desk(StandIn):
    """Turns in a task group; `over` are those that ended. It plays the prompting: every request is the same."""

    can_make_room = False
    path = ()

    def __init__(self, tasks):
        self.around = Surroundings(Clock())
        self.asked = []
        self.over = []
        self.heard = 0
        unused: Any = None
        self.record = RunRecord("r", unused, on_deleted=unused)
        self.record.rows["a"] = ANSWER
        self.spawn = tasks.start_soon
        self.turns = self.model_turns(silence_s=60)

    def model_turns(self, silence_s):
        return ModelTurns(
            "r",
            "ann",
            self.record,
            self,
            self.around.dependencies(),
            silence_s=silence_s,
            spawn=self.spawn,
            on_end=self.over.append,
            on_events=self.count,
        )

    def count(self):
        self.heard += 1

    async def request(self, row, own, *, continues, make_room):
        self.asked.append((continues, make_room))
        return ChatRequest((user("Hello"),))

    async def ended(self):
        with anyio.fail_after(60):
            while not self.over:
                await anyio.lowlevel.checkpoint()
        return self.over.pop()


@pytest.fixture
async def desk(anyio_backend):
    async with anyio.create_task_group() as tasks:
        yield Desk(tasks)
        tasks.cancel_scope.cancel()


async def test_a_turn_that_the_model_ends_settles_as_its_row(desk):
    desk.around.model.plays(says("One two", usage=Usage(10, 2)))
    desk.turns.begin(ModelTurn(ANSWER))
    ended_row = desk.turns.finish(await desk.ended())
    assert (ended_row.text, ended_row.status, ended_row.error) == ("One two", "done", None)
    assert (desk.turns.usage, desk.record.turn, desk.heard) == (Usage(10, 2), None, 4)
    desk.record.close()
    told = [logged.event async for logged in desk.record.viewer(0)]
    assert told[-1] == MessageDone(ended_row)


async def test_the_row_has_what_was_made_of_files_for_this_turn_alone(desk):
    old, new = (FittingNote(f"messages[{place}].content[0]", "video", "frames", 3) for place in (0, 2))
    desk.path = (row("c", "before", None, "", "assistant", fitted=Fitted((), (old,))),)
    desk.around.model.plays([Fitted((), (old, new)), TextDelta("x"), Done("stop")])
    desk.turns.begin(ModelTurn(ANSWER))
    assert desk.turns.finish(await desk.ended()).fitted == Fitted((), (new,))


async def test_a_turn_that_fails_settles_with_its_error(desk):
    desk.around.model.plays(fails("engine_failed", "It broke.", TextDelta("Half")))
    desk.turns.begin(ModelTurn(ANSWER))
    ended_row = desk.turns.finish(await desk.ended())
    assert (ended_row.text, ended_row.status, ended_row.error.kind) == ("Half", "failed", "model")
    assert desk.turns.usage == Usage()


async def test_nothing_is_heard_of_a_turn_that_was_cut(desk):
    gate = anyio.Event()
    desk.around.model.plays([TextDelta("Half"), gate, TextDelta(" and more"), Done("stop")])
    desk.turns.begin(turn := ModelTurn(ANSWER))
    await anyio.wait_all_tasks_blocked()
    desk.turns.cut()
    gate.set()
    assert await desk.ended() is turn
    assert desk.turns.finish(turn) is None
    desk.turns.end_cut("stopped", None)
    assert (desk.record.rows["a"].text, desk.record.rows["a"].status) == ("Half", "stopped")
    assert desk.around.model.open == 0
    desk.turns.end_cut("failed", None)
    assert desk.record.rows["a"].status == "stopped"


async def test_a_prompt_that_is_too_long_begins_again_once_with_room_made(desk):
    desk.can_make_room = True
    desk.around.model.plays(fails("context_length_exceeded"), fails("context_length_exceeded"))
    desk.turns.begin(ModelTurn(ANSWER, continues=True))
    assert desk.turns.finish(await desk.ended()) is None
    ended_row = desk.turns.finish(await desk.ended())
    assert ended_row.error.kind == "context"
    assert desk.asked == [(True, False), (True, True)]


async def test_silence_ends_a_turn_but_not_in_the_queue(desk):
    desk.turns = desk.model_turns(silence_s=0.01)
    desk.around.model.plays([TextDelta("x"), None], [Queued("q", 1, 1.0, 1), None])
    desk.turns.begin(ModelTurn(ANSWER))
    row = desk.turns.finish(await desk.ended())
    assert (row.text, row.status, row.error.code) == ("x", "failed", "model_silent")
    assert desk.around.model.open == 0
    desk.turns.begin(ModelTurn(ANSWER))
    with anyio.move_on_after(0.05) as waiting:
        await desk.ended()
    assert waiting.cancelled_caught
    assert desk.around.model.open == 1


async def test_a_stream_that_stops_in_the_middle_is_broken_off(desk):
    desk.around.model.plays([TextDelta("x")])
    desk.turns.begin(ModelTurn(ANSWER))
    row = desk.turns.finish(await desk.ended())
    assert (row.text, row.error.code) == ("x", "worker_lost")


async def test_a_bug_on_the_way_to_the_model_fails_the_turn(desk, caplog):
    desk.around.model.plays([RuntimeError("a secret")])
    desk.turns.begin(ModelTurn(ANSWER))
    ended_row = desk.turns.finish(await desk.ended())
    assert ended_row.error.code == "internal_error"
    assert "a secret" in caplog.text
