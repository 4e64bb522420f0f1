from __future__ import annotations

from duologue.turns.caller_turn import CallerTurn
from duologue.turns.display_state import state_of
from duologue.turns.facts_and_decisions import SoundMade, Worked
from duologue.turns.reply_state import ReplyState
from duologue.turns.settings import TurnSettings

OPEN = CallerTurn(2, 2)
DOUBTFUL = CallerTurn(2, 2, doubtful=True)


def made(*, sound: bool = False) -> ReplyState:
    mouth = ReplyState(TurnSettings(pauses=True), lambda decision: None)
    mouth.ask(CallerTurn(1, 1, text="hello"), 0)
    mouth.release(0)
    if sound:
        mouth.take(SoundMade(1, 1000), 0)
    return mouth


def test_who_speaks_is_heard_and_what_is_waited_for_is_thought_about() -> None:
    idle = ReplyState(TurnSettings(), lambda decision: None)
    assert state_of(None, idle, ended=False) == "listening"
    assert state_of(OPEN, idle, ended=False) == "hearing"
    assert state_of(OPEN, idle, ended=True) == "thinking"
    assert state_of(None, made(), ended=False) == "thinking"


def test_what_sounds_comes_before_who_may_be_speaking() -> None:
    assert state_of(DOUBTFUL, made(sound=True), ended=False) == "speaking"
    assert state_of(OPEN, made(sound=True), ended=False) == "speaking"


def test_held_sound_is_paused_and_what_is_held_before_it_sounds_is_thought_about() -> None:
    mouth = made(sound=True)
    mouth.hold(0)
    assert state_of(DOUBTFUL, mouth, ended=False) == "paused"
    silent = made()
    silent.hold(0)
    assert state_of(DOUBTFUL, silent, ended=False) == "thinking"


def test_a_tool_is_waited_for_once_what_was_said_is_over() -> None:
    mouth = made(sound=True)
    mouth.take(Worked(1, True), 0)
    assert state_of(None, mouth, ended=False) == "speaking"
    assert mouth.main is not None
    mouth.played(mouth.main, 1000, 0)
    assert state_of(None, mouth, ended=False) == "waiting"
