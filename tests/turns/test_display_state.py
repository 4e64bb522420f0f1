from __future__ import annotations

from duologue.turns.caller_turn import CallerTurn
from duologue.turns.display_state import state_of
from duologue.turns.facts import ReplyWaiting, SynthesisProgress
from duologue.turns.reply_state import ReplyState
from duologue.turns.settings import TurnSettings

OPEN = CallerTurn(2, 2)
DOUBTFUL = CallerTurn(2, 2, doubtful=True)


def create(*, sound: bool = False) -> ReplyState:
    replies = ReplyState(TurnSettings(pauses=True), lambda decision: None)
    replies.request(CallerTurn(1, 1, text="hello"), 0)
    replies.release(0)
    if sound:
        replies.take(SynthesisProgress(1, 1000), 0)
    return replies


def test_who_speaks_is_heard_and_what_is_waited_for_is_thought_about() -> None:
    idle = ReplyState(TurnSettings(), lambda decision: None)
    assert state_of(None, idle, turn_over=False) == "listening"
    assert state_of(OPEN, idle, turn_over=False) == "hearing"
    assert state_of(OPEN, idle, turn_over=True) == "thinking"
    assert state_of(None, create(), turn_over=False) == "thinking"


def test_what_sounds_comes_before_who_may_be_speaking() -> None:
    assert state_of(DOUBTFUL, create(sound=True), turn_over=False) == "speaking"
    assert state_of(OPEN, create(sound=True), turn_over=False) == "speaking"


def test_held_sound_is_paused_and_what_is_held_before_it_sounds_is_thought_about() -> None:
    replies = create(sound=True)
    replies.hold(0)
    assert state_of(DOUBTFUL, replies, turn_over=False) == "paused"
    silent = create()
    silent.hold(0)
    assert state_of(DOUBTFUL, silent, turn_over=False) == "thinking"


def test_a_tool_is_waited_for_once_what_was_said_is_over() -> None:
    replies = create(sound=True)
    replies.take(ReplyWaiting(1, True), 0)
    assert state_of(None, replies, turn_over=False) == "speaking"
    assert replies.main is not None
    replies.set_position(replies.main, 1000, 0)
    assert state_of(None, replies, turn_over=False) == "waiting"
