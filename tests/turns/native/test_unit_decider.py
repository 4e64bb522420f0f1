"""The turns of a native call: when a model that does not decide is told to speak, what interrupts either, and what always holds."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import structs
from tests.support.native_stand_in import HUM, QUIET, SOUND, NativeStandIn

from duologue.turns.decisions import (
    CommitReply,
    CommitTurn,
    CutReply,
    HoldReply,
    ResumeReply,
    ShowState,
)
from duologue.turns.facts import Frame, PlaybackProgress
from duologue.turns.native.unit_decisions import (
    BeginReply,
    CutUnit,
    EndTurn,
    HearAgain,
    PassUnit,
    SilenceModel,
    UnitDue,
    UnitSpoke,
)
from duologue.turns.settings import TurnSettings, seconds
from duologue.values.call_events import CallSetup

PAGE = CallSetup(pauses=True, marks=True)
RULES = TurnSettings()
ECHO = Frame(0.9, -30.0, -6.0, playback_level=-20.0)
"""Speech that may well be the loudspeaker."""


def told(setup: CallSetup = PAGE, **more: Any) -> NativeStandIn:
    return NativeStandIn(setup, decides=False, **more)


def answering(setup: CallSetup = PAGE, *, decides: bool = False, length: int = 12) -> NativeStandIn:
    """A call in which a question is being answered aloud."""
    call = NativeStandIn(setup, decides=decides, length=length).quiet(0.5).say(1)
    call.wants_to_speak = decides
    call.quiet(1.5)
    assert call.machine.reply == 1
    call.decisions.clear()
    return call


# ---- who speaks


def test_a_model_that_does_not_decide_is_told_to_speak_once_the_caller_has_paused():
    call = told().quiet(0.5).say(1)
    assert set(call.passings) == {"listen"}
    call.quiet(0.6)
    assert "speak" not in call.passings
    call.quiet(1)
    [turn] = call.of(EndTurn)
    [reply] = call.of(BeginReply)
    assert (turn.turn, reply.turn, reply.reply) == (1, 1, 1)
    assert turn.since == pytest.approx(seconds(0.5) - RULES.pre_roll, abs=1024)
    assert seconds(1.5) <= turn.until <= seconds(1.8)
    assert call.of(CutUnit)
    assert "speak" in call.passings


def test_it_listens_again_when_all_of_the_reply_has_played():
    call = answering(length=4)
    call.quiet(3)
    assert "withhold" in call.passings, "it takes no sound while it plays"
    assert call.of(CommitReply) == [CommitReply(1, 4 * SOUND, "spoken")]
    assert call.passings[-1] == "listen"


def test_a_model_that_decides_is_asked_at_every_unit_and_its_word_stands():
    call = NativeStandIn(PAGE, decides=True).quiet(1).say(1).quiet(3)
    assert set(call.passings) == {"model"}
    assert not call.of(BeginReply), "it does not want to"
    call.wants_to_speak = True
    call.quiet(1)
    assert call.of(BeginReply) == [BeginReply(1, 1)]
    assert set(call.passings) == {"model"}


def test_a_model_that_answers_before_the_pause_is_long_enough_ends_the_turn():
    call = NativeStandIn(PAGE, decides=True).quiet(0.5).say(1)
    call.wants_to_speak = True
    call.say(0.6)
    assert [type(one) for one in call.decisions if isinstance(one, EndTurn | BeginReply)] == [
        EndTurn,
        BeginReply,
    ]


def test_a_model_may_begin_the_next_reply_while_the_one_before_still_plays():
    call = answering(decides=True, length=3)
    call.quiet(0.1)
    while call.left:
        call.unit()
    call.wants_to_speak = True
    call.unit()
    assert call.of(BeginReply) == [BeginReply(2, 1)]
    while call.left:
        call.unit()
    call.played[1] = call.made[1]
    call.take(PlaybackProgress(1, call.made[1]))
    call.quiet(4)
    assert [commit.ending for commit in call.of(CommitReply)] == ["spoken", "spoken"]


def test_a_pause_within_a_turn_is_learnt_and_the_turn_goes_on():
    call = told().quiet(0.5)
    for _ in range(4):
        call.say(0.6).quiet(0.6)
    assert not call.of(EndTurn)
    call.quiet(2)
    assert len(call.of(EndTurn)) == 1


def test_a_turn_without_a_pause_ends_at_its_limit():
    call = told().quiet(0.5).say(125)
    [turn] = call.of(EndTurn)
    assert turn.until - turn.since == pytest.approx(RULES.turn_limit, abs=1024)
    call.quiet(2)
    assert call.of(EndTurn)[1].since >= turn.until, "no sound is in two turns"


def test_a_unit_that_ends_before_the_callers_last_word_is_listened_to():
    late = NativeStandIn(structs.replace(PAGE, listens=False), decides=False)
    late.press(True).frames(15).press(False)
    early = late.take(UnitDue(5 * 512))
    assert PassUnit("listen") in early
    assert PassUnit("speak") in late.take(UnitDue(15 * 512))


def test_a_unit_that_must_be_silent_postpones_the_answer():
    call = told().quiet(0.5).say(1).quiet(3, forced=True)
    assert call.of(EndTurn)
    assert "speak" not in call.passings
    call.quiet(0.6)
    assert "speak" in call.passings


# ---- interruptions


@pytest.mark.parametrize("decides", [True, False])
def test_speech_over_a_reply_holds_it_and_cuts_it_once_it_lasts(decides):
    call = answering(decides=decides)
    call.say(0.5)
    assert call.of(HoldReply) == [HoldReply(1)]
    assert not call.of(CutReply)
    call.say(0.6)
    assert call.of(CutReply) == [CutReply(1)]
    [commit] = call.of(CommitReply)
    assert (commit.reply, commit.ending) == (1, "interrupted")
    assert commit.samples == call.played[1]
    assert call.machine.epoch == 1
    since = call.of(HearAgain)[-1].since
    assert since == pytest.approx(seconds(3.0) - RULES.pre_roll, abs=1024)
    call.say(1)
    assert call.passings[-1] == "listen", "the caller still speaks"
    call.wants_to_speak = decides
    call.quiet(1.5)
    assert call.of(BeginReply) == [BeginReply(2, 2)]


@pytest.mark.parametrize("frame_and_length", [("speech", 0.3), ("hum", 0.6)])
def test_a_cough_or_a_hum_lets_the_reply_go_on(frame_and_length):
    kind, length = frame_and_length
    call = answering()
    if kind == "hum":
        call.say(length, HUM)
    else:
        call.say(length)
    call.quiet(0.5)
    assert call.of(HoldReply) == [HoldReply(1)]
    assert call.of(ResumeReply) == [ResumeReply(1)]
    call.quiet(8)
    assert [commit.ending for commit in call.of(CommitReply)] == ["spoken"]
    assert not call.of(EndTurn)


def test_a_long_hum_interrupts_all_the_same():
    call = answering()
    call.say(1.5, HUM)
    assert call.of(CutReply)


def test_what_may_be_an_echo_holds_the_reply_for_a_while_only():
    call = answering(length=20)
    call.say(4, ECHO)
    assert call.of(HoldReply) == [HoldReply(1)]
    assert call.of(ResumeReply) == [ResumeReply(1)]
    assert not call.of(CutReply)
    call.say(0.5)
    assert call.of(CutReply), "they speak up"


def test_a_mark_that_comes_after_the_cut_still_counts_and_the_next_unit_waits_for_it():
    call = answering()
    call.enter()
    played = call.played[1]
    assert not [one for one in call.take(UnitDue(call.now)) if isinstance(one, PassUnit)]
    call.take(PlaybackProgress(1, played + 700))
    call.frames(seconds(0.25) // 512, QUIET)
    assert not call.of(CommitReply)
    call.frames(2, QUIET)
    assert call.of(CommitReply) == [CommitReply(1, played + 700, "interrupted")]
    unmarked = answering(structs.replace(PAGE, marks=False))
    unmarked.enter()
    assert unmarked.of(CommitReply) == [CommitReply(1, unmarked.played[1], "interrupted")]


def test_a_caller_who_speaks_on_before_the_reply_is_heard_is_not_answered_over():
    call = told(length=0).quiet(0.5).say(1)
    call.quiet(1.2)
    assert call.machine.reply == 1
    assert not call.made
    call.say(0.4)
    assert call.of(CutReply) == [CutReply(1)]
    assert call.of(CommitReply) == [CommitReply(1, 0, "interrupted")]


@pytest.mark.parametrize("decides", [True, False])
def test_a_reply_that_may_not_be_interrupted_plays_on_and_what_was_said_is_the_next_turn(decides):
    call = answering(structs.replace(PAGE, interruptible=False), decides=decides, length=6)
    call.say(1.2)
    assert not call.of(HoldReply)
    assert not call.of(CutReply)
    call.quiet(6)
    assert call.of(CommitReply)[0].ending == "spoken"
    [turn] = call.of(EndTurn)
    assert turn.since == pytest.approx(seconds(3.0) - RULES.pre_roll, abs=1024)
    assert turn.since in [again.since for again in call.of(HearAgain)]


# ---- buttons and keys


@pytest.mark.parametrize("decides", [True, False])
def test_a_button_silences_at_once_and_typed_text_is_a_turn(decides):
    call = answering(decides=decides)
    call.interrupt(None, 500)
    assert call.of(CutReply) == [CutReply(1)]
    assert call.of(CommitReply) == [CommitReply(1, 500, "interrupted")]
    call.quiet(2)
    assert not call.of(BeginReply), "nothing was said after it"
    call.enter("and tomorrow?")
    assert call.of(CommitTurn) == [CommitTurn(2, "and tomorrow?", typed=True)]
    call.wants_to_speak = decides
    call.quiet(1)
    assert call.of(BeginReply) == [BeginReply(2, 2)]


def test_an_interruption_of_another_reply_changes_nothing():
    call = answering()
    call.interrupt(7)
    assert not call.of(CutReply)


@pytest.mark.parametrize("decides", [True, False])
def test_push_to_talk_begins_and_ends_a_turn_and_silence_does_not(decides):
    call = NativeStandIn(structs.replace(PAGE, listens=False), decides=decides)
    call.say(1).quiet(2)
    assert not call.of(EndTurn)
    call.press(True).say(0.5).quiet(2)
    assert not call.of(EndTurn)
    assert call.passings[-1] == "listen"
    call.press(False)
    assert [(turn.since, turn.until) for turn in call.of(EndTurn)] == [
        (call.now - seconds(2.5) // 512 * 512, call.now)
    ] or call.of(EndTurn)[0].until == call.now
    call.wants_to_speak = decides
    call.quiet(1)
    assert call.of(BeginReply) == [BeginReply(1, 1)]
    call.press(True)
    assert call.of(CutReply) == [CutReply(1)]


def test_a_button_that_was_touched_is_no_turn():
    call = NativeStandIn(structs.replace(PAGE, listens=False), decides=False)
    call.press(True).frames(3).press(False).quiet(2)
    assert not call.of(EndTurn)
    call.press(True).say(1).press(False)
    assert call.of(EndTurn)[0].turn == 1


def test_what_a_model_says_against_the_rules_is_no_reply():
    call = NativeStandIn(PAGE, decides=True).quiet(1)
    assert PassUnit("listen") in call.take(UnitDue(call.now, force_listen=True))
    assert call.take(UnitSpoke(True)) == [SilenceModel()]


def test_numbers_go_on_where_an_earlier_session_ended():
    call = told(structs.replace(PAGE, epoch=3, reply=5, turn=9)).quiet(0.5).say(1).quiet(1.5)
    assert call.of(EndTurn)[0].turn == 9
    assert call.of(BeginReply) == [BeginReply(5, 9)]
    call.interrupt()
    assert call.machine.epoch == 4


def test_the_state_that_a_client_shows():
    call = told(length=3).quiet(0.5).say(1).quiet(6)
    states = [shown.state for shown in call.of(ShowState)]
    assert states == ["hearing", "thinking", "speaking", "listening"]


# ---- what always holds

ACTIONS = st.one_of(
    st.tuples(st.just("say"), st.floats(0.03, 3)),
    st.tuples(st.just("hum"), st.floats(0.03, 2)),
    st.tuples(st.just("quiet"), st.floats(0.03, 3)),
    st.tuples(st.just("forced"), st.floats(0.03, 1.5)),
    st.tuples(
        st.sampled_from(["press", "release", "type", "interrupt", "known", "speak", "unit"]), st.just(0.0)
    ),
)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(ACTIONS, max_size=14),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.integers(0, 8),
)
def test_whatever_happens_every_reply_begins_and_ends_once_and_quiet_returns(
    actions, decides, pauses, marks, interruptible, listens, length
):
    setup = CallSetup(pauses=pauses, marks=marks, interruptible=interruptible, listens=listens)
    call = NativeStandIn(setup, decides=decides, length=length + 1)
    for kind, duration in actions:
        match kind:
            case "say":
                call.say(duration)
            case "hum":
                call.say(duration, HUM)
            case "quiet":
                call.quiet(duration)
            case "forced":
                call.quiet(duration, forced=True)
            case "press" | "release":
                call.press(kind == "press")
            case "type":
                call.enter()
            case "interrupt" | "known":
                call.interrupt(None, None if kind == "interrupt" else 100)
            case "speak":
                call.wants_to_speak = True
            case "unit":
                call.unit()
    call.press(False)
    call.quiet(30)
    call.end()
