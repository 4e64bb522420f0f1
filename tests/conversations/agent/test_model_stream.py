"""Listening to a model that is played."""

import anyio
import pytest
from tests.conversations.fakes.provisions import ScriptedModel, says

from duologue.conversations.agent.model_stream import listen
from duologue.conversations.agent.turn import ModelTurn
from duologue.values.conversations import StoredMessage
from duologue.values.events import Done, Queued, TextDelta
from duologue.values.messages import user
from duologue.values.requests import ChatRequest

pytestmark = pytest.mark.anyio
REQUEST = ChatRequest((user("Hello"),))


async def heard_of(model, *, silence_s=60.0, wanted=lambda event: True):
    turn = ModelTurn(StoredMessage("a", "c", None, "assistant", status="running"))

    def heard(turn, events):
        for event in events:
            turn.feed(event)
        return all(map(wanted, events))

    await listen(model, REQUEST, turn, run="r", user="ann", silence_s=silence_s, heard=heard)
    return turn


async def test_everything_is_heard_and_the_slot_is_given_back():
    model = ScriptedModel().plays(says("One two"))
    turn = await heard_of(model)
    assert turn.row().text == "One two"
    assert (model.open, model.users) == (0, ["ann"])


async def test_silence_ends_the_turn_but_not_in_the_queue():
    model = ScriptedModel().plays([TextDelta("x"), None], [Queued("q", 1, 1.0, 1), None])
    turn = await heard_of(model, silence_s=0.01)
    assert turn.ended.code == "model_silent"
    with anyio.move_on_after(0.05) as waiting:
        await heard_of(model, silence_s=0.01)
    assert waiting.cancelled_caught
    assert model.open == 0


async def test_a_stream_that_stops_in_the_middle_is_broken_off():
    turn = await heard_of(ScriptedModel().plays([TextDelta("x")]))
    assert turn.ended.code == "worker_lost"


async def test_listening_ends_when_nobody_wants_it_any_more():
    model = ScriptedModel().plays([TextDelta("x"), TextDelta("y"), Done("stop")])
    turn = await heard_of(model, wanted=lambda event: event != TextDelta("x"))
    assert turn.row().text == "x"
    assert model.open == 0
