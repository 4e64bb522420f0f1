"""A call's decisions: who speaks, what interrupts, what was nothing, and what holds whatever happens."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import structs
from tests.support.call_stand_in import PAUSING, PLAIN, WORD, CallStandIn
from tests.support.decision_laws import Laws

from duologue.turns.decisions import (
    CommitReply,
    CommitTurn,
    CutReply,
    Decision,
    DiscardTurn,
    DropReply,
    FinishTranscript,
    HoldReply,
    PreviewTurn,
    ReleaseReply,
    RequestReply,
    ResumeReply,
    SaySentence,
    ShowState,
    TranscribeTurn,
)
from duologue.turns.facts import (
    FRAME,
    AnnouncementRequested,
    Fact,
    FinalTranscript,
    Frame,
    InterruptRequested,
    PartialTranscript,
    PlaybackProgress,
    PushToTalk,
    ReplyBroken,
    ReplyTextStarted,
    ReplyWaiting,
    SynthesisComplete,
    SynthesisProgress,
    TextTyped,
)
from duologue.turns.playout import played_in
from duologue.turns.settings import TurnSettings, seconds
from duologue.values.events import ReplyWord

EIGHT = "one two three four five six seven eight"
LONG = " ".join(f"word{number}" for number in range(40))


def asked(settings: TurnSettings = PAUSING, answer: str = EIGHT, **stand_in: object) -> CallStandIn:
    """A call in which a question was just spoken."""
    call = CallStandIn(settings, answer=lambda text: answer, **stand_in)  # type: ignore[arg-type]
    return call.quiet(0.5).say("what is the weather in berlin")


def speaking(
    settings: TurnSettings = PAUSING, answer: str = LONG, after: float = 1.2, **stand_in: object
) -> CallStandIn:
    """A call in which the answer has been sounding for so long."""
    call = asked(settings, answer, **stand_in)
    call.until(ReleaseReply)
    return call.quiet(after)


def order(call: CallStandIn, *kinds: type) -> list[str]:
    return [type(one).__name__ for _, one in call.log if isinstance(one, kinds)]


def exact(call: CallStandIn, reply: int) -> None:
    """The conversation holds what the caller's client played of the reply, word for word, and nothing is lost."""
    heard, rest = call.kept[reply]
    assert heard == call.recorded(reply)
    assert heard + rest == call.voices[reply].text


# ---- a turn and its answer


def test_a_turn_is_listened_to_from_before_its_onset_answered_and_kept_before_its_answer() -> None:
    call = asked()
    call.quiet(6)
    (listen,) = call.all(TranscribeTurn)
    assert listen.since <= seconds(0.5) - seconds(0.2)
    assert order(
        call, TranscribeTurn, FinishTranscript, RequestReply, ReleaseReply, CommitTurn, CommitReply
    ) == [
        "TranscribeTurn",
        "FinishTranscript",
        "RequestReply",
        "ReleaseReply",
        "CommitTurn",
        "CommitReply",
    ]
    assert call.states == ["listening", "hearing", "speaking", "listening"]
    assert call.all(CommitReply) == [CommitReply(1, 8 * WORD, "spoken")]
    exact(call, 1)


def test_thinking_is_shown_while_nothing_is_to_be_heard_yet() -> None:
    call = asked(thinks=1.5)
    call.quiet(6)
    assert call.states == ["listening", "hearing", "thinking", "speaking", "listening"]


def test_a_reply_is_begun_ahead_of_the_end_of_the_turn_and_waits_for_it() -> None:
    call = asked()
    call.until(ReleaseReply)
    end = call.words[-1].end
    (begun,), (released,) = call.times(RequestReply), call.times(ReleaseReply)
    assert begun - end < seconds(0.5)
    assert released - end > seconds(0.7)


def test_a_caller_who_goes_on_takes_back_the_reply_and_is_asked_for_anew() -> None:
    call = asked()
    call.quiet(0.6).say("and in hamburg")
    call.quiet(6)
    assert [(ask.turn, ask.revision, ask.text) for ask in call.all(RequestReply)] == [
        (1, 0, "what is the weather in berlin"),
        (1, 1, "what is the weather in berlin and in hamburg"),
    ]
    assert call.all(DropReply) == [DropReply(1)]
    assert call.machine.epoch == 0, "nothing had sounded that could be stale"
    assert [listen.turn for listen in call.all(TranscribeTurn)] == [1, 1]
    assert call.turn_texts == ["what is the weather in berlin and in hamburg"]


def test_a_pause_inside_a_sentence_is_not_taken_over() -> None:
    sentences = (
        "what is the weather in berlin today",
        "tell me about the history of the city",
        "i would like to book a table for four people tonight",
        "how many models can i load at the same time",
        "please remind me to call my mother tomorrow",
        "turn off the light in the kitchen",
        "how do i change the voice of the assistant",
        "who wrote the book about the white whale",
        "we should meet on friday afternoon",
        "i want to know where the conversations are kept",
    )
    taken, latencies = [], []
    for sentence in sentences:
        words = sentence.split()
        for cut in range(1, len(words)):
            call = CallStandIn()
            call.quiet(0.5).say(" ".join(words[:cut])).quiet(0.7).say(" ".join(words[cut:]))
            end = call.words[-1].end
            if [at for at in call.times(ReleaseReply) if at < end]:
                taken.append(words[:cut])
                continue
            call.until(ReleaseReply)
            latencies.append(call.times(ReleaseReply)[0] - end)
    assert len(taken) < 0.1 * (len(taken) + len(latencies)), taken
    assert sorted(latencies)[len(latencies) // 2] < seconds(1.0)


def test_a_sentence_that_is_left_hanging_waits_longer() -> None:
    call = CallStandIn()
    call.quiet(0.5).say("i would like to")
    call.until(ReleaseReply)
    assert call.now - call.words[-1].end > seconds(1.2)


def test_a_short_answer_is_answered_at_once() -> None:
    call = CallStandIn()
    call.quiet(0.5).say("yes please", 0.4)
    call.until(ReleaseReply)
    assert call.now - call.words[-1].end < seconds(0.5)


def test_a_caller_who_pauses_long_is_waited_for_longer_next_time() -> None:
    call = CallStandIn()
    before = call.machine.endpoint.delay("the weather today")
    call.quiet(0.5)
    for _ in range(5):
        call.say("i would like to").quiet(1.0)
    assert call.machine.endpoint.delay("the weather today") > before


def test_what_is_said_so_far_is_told_ahead_now_and_then() -> None:
    call = asked()
    call.quiet(1)
    texts = [foresee.text for foresee in call.all(PreviewTurn)]
    assert texts
    assert all("what is the weather in berlin".startswith(text) for text in texts)
    assert len(texts) <= 4


def test_final_words_that_never_come_are_the_last_partial_ones() -> None:
    call = asked(recogniser_lag=60.0)
    call.take(PartialTranscript(1, "what is the weather"))
    assert call.until(RequestReply, 5).text == "what is the weather"
    assert call.now - call.times(FinishTranscript)[0] <= seconds(3.1)


def test_an_answer_to_an_earlier_conclusion_is_too_late() -> None:
    call = CallStandIn(recogniser_lag=60.0)
    call.quiet(0.5).say("tell me about")
    first = call.until(FinishTranscript, 3)
    call.say("the weather").until(FinishTranscript, 3)
    call.take(FinalTranscript(1, "tell me about", until=first.until))
    assert not call.all(RequestReply)
    call.take(FinalTranscript(1, "tell me about the weather", until=call.all(FinishTranscript)[-1].until))
    assert [ask.text for ask in call.all(RequestReply)] == ["tell me about the weather"]


def test_a_burst_of_noise_is_nobodys_turn() -> None:
    call = CallStandIn()
    call.quiet(0.5).cough(0.3).quiet(5)
    assert not call.all(RequestReply)
    assert not call.all(SaySentence)
    assert all(discard.reason == "noise" for discard in call.all(DiscardTurn))
    assert call.states[-1] == "listening"


def test_what_was_not_understood_is_said_so_but_not_twice_in_a_row() -> None:
    call = CallStandIn(recogniser_lag=60.0)

    def mumble() -> None:
        call.cough(1.0)
        call.take(
            FinalTranscript(call.all(TranscribeTurn)[-1].turn, "", False, call.until(FinishTranscript).until)
        )
        call.quiet(5)

    call.quiet(0.5)
    mumble()
    assert [say.kind for say in call.all(SaySentence)] == ["not_understood"]
    mumble()
    assert len(call.all(SaySentence)) == 1
    call.say("what is the weather")
    call.take(
        FinalTranscript(
            call.all(TranscribeTurn)[-1].turn, "what is the weather", until=call.until(FinishTranscript).until
        )
    )
    call.quiet(5)
    mumble()
    assert [say.kind for say in call.all(SaySentence)] == ["not_understood"] * 2
    assert call.turn_texts == ["what is the weather"]


def test_a_turn_without_an_end_ends() -> None:
    call = CallStandIn(structs.replace(PAUSING, turn_limit=seconds(20)))
    call.quiet(0.5).say(" ".join(["television"] * 80))
    assert len(call.all(RequestReply)) >= 1
    assert call.times(RequestReply)[0] < seconds(22)


def test_a_quiet_voice_in_the_next_room_is_no_turn() -> None:
    call = CallStandIn()
    call.quiet(0.5).say("what is the weather in berlin today my friend").quiet(8)
    turns = len(call.all(TranscribeTurn))
    call.frames(4.0, 0.9, -50.0).quiet(3)
    assert len(call.all(TranscribeTurn)) == turns


# ---- interruption


def test_a_reply_is_held_within_two_tenths_of_a_second_of_the_callers_onset() -> None:
    for offset in range(8):
        call = speaking(after=1.2 + offset * 0.032)
        onset = call.now
        call.say("no wait a moment")
        assert call.times(HoldReply)[0] - onset <= seconds(0.2) - FRAME


def test_an_interruption_cuts_raises_the_epoch_keeps_what_was_heard_and_then_asks() -> None:
    call = speaking()
    onset = call.now
    call.say("tell me about hamburg instead")
    assert call.machine.epoch == 1
    assert call.times(CutReply)[0] - onset <= seconds(0.75)
    call.quiet(4)
    assert order(call, HoldReply, CutReply, CommitTurn, CommitReply, RequestReply)[:6] == [
        "RequestReply",
        "CommitTurn",
        "HoldReply",
        "CutReply",
        "CommitReply",
        "RequestReply",
    ]
    exact(call, 1)
    assert call.all(CommitReply)[0].ending == "interrupted"
    assert call.turn_texts[1] == "tell me about hamburg instead"


def test_a_word_that_takes_the_turn_cuts_as_soon_as_it_is_known() -> None:
    call = speaking()
    onset = call.now
    call.say("stop", 0.25).quiet(0.3)
    assert call.times(CutReply)[0] - onset <= seconds(0.4)


@pytest.mark.parametrize(("text", "understood"), [("", False), ("", True), ("ah", True)])
def test_a_stop_that_was_only_spotted_ends_the_reply_and_is_the_turn(text: str, understood: bool) -> None:
    call = speaking()
    call.cough(0.4)
    finish = call.until(FinishTranscript)
    assert call.all(TranscribeTurn)[-1].over_reply
    call.take(FinalTranscript(finish.turn, text, understood, finish.until, stop_word="stop"))
    assert len(call.all(CutReply)) == 1
    call.quiet(4)
    assert call.turn_texts[-1] == "Stop"
    assert not call.all(DiscardTurn)


def test_what_is_not_said_over_a_reply_is_not_listened_to_for_a_stop() -> None:
    call = CallStandIn().quiet(0.5).say("what is the weather")
    assert not call.all(TranscribeTurn)[-1].over_reply


def test_an_onset_shorter_than_the_threshold_never_interrupts() -> None:
    call = speaking()
    for _ in range(20):
        call.frames(2 * 0.032, 0.95, -20.0).frames(0.2, 0.02, -62.0)
    assert not call.all(HoldReply)
    assert len(call.all(TranscribeTurn)) == 1


@pytest.mark.parametrize("settings", [PAUSING, structs.replace(PAUSING, marks=False)])
def test_a_cough_resumes_and_no_sample_is_lost_or_repeated(settings: TurnSettings) -> None:
    call = speaking(settings)
    call.cough().quiet(20)
    assert order(call, HoldReply, ResumeReply, CutReply) == ["HoldReply", "ResumeReply"]
    assert [discard.reason for discard in call.all(DiscardTurn)] == ["noise"]
    assert call.all(CommitReply) == [CommitReply(1, 40 * WORD, "spoken")]
    voice = call.voices[1]
    assert voice.played == voice.at_client == voice.playout.sent == 40 * WORD
    assert call.machine.epoch == 0


def test_a_resume_goes_on_from_the_held_sample() -> None:
    call = speaking()
    call.cough()
    held = call.voices[1].played
    call.quiet(0.1)
    assert call.voices[1].played == held
    call.until(ResumeReply)
    assert held <= call.voices[1].played <= held + played_in(2 * FRAME)
    call.quiet(1)
    assert held + 20_000 < call.voices[1].played <= held + 26_000


@pytest.mark.parametrize(
    ("language", "text", "word"),
    [
        ("en", "mhm", 0.35),
        ("en", "uh-huh", 0.6),
        ("en", "okay right", 0.3),
        ("de", "genau", 0.5),
        ("de", "ach so", 0.25),
    ],
)
def test_a_backchannel_lets_the_reply_go_on(language: str, text: str, word: float) -> None:
    call = speaking(structs.replace(PAUSING, language=language))
    call.say(text, word).quiet(20)
    assert [discard.reason for discard in call.all(DiscardTurn)] == ["backchannel"]
    assert not call.all(CutReply)
    assert call.all(CommitReply) == [CommitReply(1, 40 * WORD, "spoken")]


def test_a_reply_survives_its_own_echo() -> None:
    call = speaking(after=2.0)
    own = LONG.split()[call.voices[1].played // WORD]
    call.say(own, 0.35).quiet(20)
    assert [discard.reason for discard in call.all(DiscardTurn)] == ["echo"]
    assert call.all(CommitReply)[-1].ending == "spoken"


def test_an_echo_as_long_as_the_reply_does_not_end_it_at_a_client_that_plays_on() -> None:
    call = speaking(PLAIN, after=1.0)
    first = call.voices[1].played // WORD
    call.say(" ".join(LONG.split()[first : first + 20]), WORD / 24_000).quiet(20)
    assert not call.all(CutReply)
    assert call.all(CommitReply)[0].ending == "spoken"


def test_a_hum_of_which_words_are_made_resumes() -> None:
    call = speaking()
    for _ in range(14):
        call.step(Frame(0.9, -24.0, -18.0))
        if listened := call.all(TranscribeTurn)[1:]:
            call.take(PartialTranscript(listened[-1].turn, "can you"))
    assert call.all(HoldReply)
    call.quiet(2)
    assert not call.all(CutReply)
    assert call.all(DiscardTurn)
    assert call.all(ResumeReply)


def test_a_quiet_copy_of_what_is_played_does_not_even_hold_it() -> None:
    call = speaking(answer=" ".join([LONG] * 2))
    for _ in range(120):
        call.step(Frame(0.9, -34.0, -6.0, playback_level=-13.0))
    assert not call.all(HoldReply)
    for _ in range(12):
        call.step(Frame(0.9, -20.0, -6.0, playback_level=-13.0))
    assert call.all(HoldReply)


def test_an_echo_that_ends_with_what_was_played_is_soon_known() -> None:
    call = speaking(answer=" ".join([LONG] * 6))
    for _ in range(400):
        playing = call.states[-1] == "speaking"
        call.step(Frame(0.9, -36.0, -6.0, playback_level=-25.0) if playing else Frame(0.02, -62.0))
    assert 1 <= len(call.all(HoldReply)) <= 4
    assert not call.all(CutReply)


def test_a_word_that_was_cut_in_two_by_a_stop_is_waited_for() -> None:
    call = speaking(partials=False)
    call.frames(0.25, 0.95, -24.0).quiet(0.21)
    call.take(FinalTranscript(call.all(TranscribeTurn)[-1].turn, "", understood=False))
    call.frames(1.2, 0.95, -24.0)
    assert call.all(CutReply)


def test_repeated_false_alarms_make_the_ear_harder_to_convince_but_not_deaf() -> None:
    call = speaking(answer=" ".join([LONG] * 4))
    for _ in range(4):
        call.cough(0.16).quiet(1.5)
    held = len(call.all(HoldReply))
    assert held < 4
    call.say("please stop that and listen")
    assert call.all(CutReply)


def test_long_speech_interrupts_without_a_word() -> None:
    call = speaking(partials=False)
    onset = call.now
    call.say("tell me about hamburg instead please")
    assert seconds(0.6) <= call.times(CutReply)[0] - onset <= seconds(0.9)


def test_short_speech_is_judged_by_its_final_words() -> None:
    call = speaking(partials=False)
    call.say("hamburg", 0.5).quiet(5)
    assert call.all(CutReply) == [CutReply(1)]
    assert call.turn_texts[-1] == "hamburg"
    exact(call, 1)


def test_a_client_that_cannot_pause_is_told_only_what_is_certain() -> None:
    call = speaking(PLAIN)
    call.cough().quiet(1.5)
    assert not call.all(HoldReply)
    call.say("tell me about hamburg instead").quiet(3)
    assert order(call, HoldReply, ResumeReply, CutReply) == ["CutReply"]
    assert "paused" not in call.states
    exact(call, 1)


def test_a_reply_held_too_long_without_a_decision_goes_on() -> None:
    call = speaking(partials=False)
    call.lag = seconds(60)
    call.frames(0.5, 0.9, -20.0)
    held = call.times(HoldReply)[0]
    call.quiet(3)
    assert call.times(ResumeReply)[0] - held <= seconds(2.1)
    assert call.all(DiscardTurn)[0].reason == "undecided"
    call.quiet(20)
    assert call.states[-1] == "listening"


def test_one_who_is_held_for_with_words_is_heard_when_time_is_up() -> None:
    call = speaking(partials=False)
    call.lag = seconds(60)
    call.frames(0.35, 0.9, -20.0)
    call.take(PartialTranscript(call.all(TranscribeTurn)[-1].turn, "hamburg"))
    call.quiet(3)
    assert call.all(CutReply)


def test_a_reply_held_before_its_first_frame_is_heard_whole() -> None:
    call = asked(thinks=1.5)
    call.until(ReleaseReply)
    call.cough().quiet(20)
    assert order(call, HoldReply, ResumeReply, DropReply, CutReply) == ["HoldReply", "ResumeReply"]
    assert call.all(CommitReply) == [CommitReply(1, 8 * WORD, "spoken")]
    exact(call, 1)


def test_nothing_follows_the_end_of_a_reply_that_ends_while_it_is_held() -> None:
    call = asked()
    call.until(ReleaseReply)
    call.quiet(1.9)
    call.frames(0.12, 0.9, -20.0)
    assert call.all(HoldReply)
    call.take(PlaybackProgress(1, 8 * WORD))
    assert call.all(CommitReply) == [CommitReply(1, 8 * WORD, "spoken")]
    assert order(call, HoldReply, ResumeReply, CommitReply) == ["HoldReply", "ResumeReply", "CommitReply"]
    call.quiet(3)
    assert call.states[-1] == "listening"


def test_heard_words_are_never_lost_when_the_cut_overtakes_the_clients_marks() -> None:
    call = speaking(after=2.05)
    call.take(InterruptRequested(1))
    assert call.all(CutReply)
    assert not call.all(CommitReply), "the client has not reported yet"
    known = call.voices[1].reported
    call.quiet(0.4)
    (kept,) = call.all(CommitReply)
    assert kept.samples == call.voices[1].played > known
    exact(call, 1)


def test_what_was_heard_is_kept_before_the_next_prompt_even_when_it_is_typed_at_once() -> None:
    call = speaking(after=2.0)
    call.take(TextTyped("And in Hamburg?"))
    call.quiet(2)
    assert order(call, CommitTurn, CutReply, CommitReply, RequestReply, ReleaseReply) == [
        "RequestReply",
        "ReleaseReply",
        "CommitTurn",
        "CutReply",
        "CommitReply",
        "CommitTurn",
        "RequestReply",
        "ReleaseReply",
    ]
    exact(call, 1)


def test_two_hundred_interruptions_leave_exactly_what_was_played() -> None:
    for number in range(100):
        for kind in (PAUSING, PLAIN):
            call = speaking(kind, after=0.7 + number * 0.05)
            if number % 3:
                call.say("tell me about hamburg")
            else:
                call.take(InterruptRequested(1))
            call.quiet(4)
            exact(call, 1)


# ---- the first syllables


def test_speech_over_the_first_syllables_goes_on_with_the_turn_and_nothing_heard_is_kept() -> None:
    call = asked()
    call.until(ReleaseReply)
    call.quiet(0.1).say("or in hamburg maybe").quiet(6)
    assert [(ask.turn, ask.revision) for ask in call.all(RequestReply)] == [(1, 0), (1, 1)]
    assert call.turn_texts == ["what is the weather in berlin or in hamburg maybe"]
    assert order(call, CutReply, DropReply, CommitReply) == ["CutReply", "DropReply", "CommitReply"]
    assert call.all(CommitReply)[0].reply == 2
    assert [discard.reason for discard in call.all(DiscardTurn)] == ["merged"]
    assert call.machine.epoch == 1, "what was sent of it is stale"


def test_speech_before_anything_was_heard_goes_on_with_the_turn() -> None:
    call = asked(thinks=4.0)
    call.until(ReleaseReply)
    call.quiet(2.5).say("i mean in hamburg").quiet(8)
    assert call.turn_texts == ["what is the weather in berlin i mean in hamburg"]
    assert [ask.turn for ask in call.all(RequestReply)] == [1, 1]


def test_a_stop_in_the_first_syllables_is_a_turn_of_its_own() -> None:
    call = asked()
    call.until(ReleaseReply)
    call.quiet(0.1).say("stop it now").quiet(4)
    assert call.turn_texts[:2] == ["what is the weather in berlin", "stop it now"]
    assert call.all(CommitReply)[0].ending == "interrupted"


def test_an_acknowledgement_while_it_thinks_changes_nothing() -> None:
    call = asked(thinks=3.0)
    call.until(ReleaseReply)
    call.quiet(0.5).say("okay", 0.4).quiet(8)
    assert len(call.all(RequestReply)) == 1
    assert call.all(CommitReply) == [CommitReply(1, 8 * WORD, "spoken")]


def test_a_turn_goes_on_as_often_as_nothing_was_heard_of_its_answer() -> None:
    call = asked(thinks=3.0)
    for text in ("or hamburg maybe", "or rather bremen then", "or munich after all"):
        call.until(ReleaseReply)
        call.quiet(0.3).say(text)
    call.quiet(8)
    assert call.turn_texts == [
        "what is the weather in berlin or hamburg maybe or rather bremen then or munich after all"
    ]
    assert [ask.revision for ask in call.all(RequestReply)] == [0, 1, 2, 3]


# ---- what may not be interrupted


def test_speech_over_a_reply_that_may_not_be_interrupted_is_the_next_turn() -> None:
    call = speaking(structs.replace(PAUSING, interruptible=False), answer=EIGHT)
    call.say("tell me about hamburg").quiet(8)
    assert not call.all(HoldReply)
    assert not call.all(CutReply)
    assert [kept.ending for kept in call.all(CommitReply)] == ["spoken", "spoken"]
    assert call.turn_texts == ["what is the weather in berlin", "tell me about hamburg"]


def test_speech_over_a_reply_that_may_not_be_interrupted_can_be_nothing() -> None:
    kind = structs.replace(PAUSING, interruptible=False, overheard="discard")
    call = speaking(kind, answer=EIGHT)
    call.say("tell me").quiet(8)
    assert call.turn_texts == ["what is the weather in berlin"]
    assert len(call.all(TranscribeTurn)) == 1


def test_speech_that_outlasts_such_a_reply_is_heard_from_its_end() -> None:
    kind = structs.replace(PAUSING, interruptible=False, overheard="discard")
    call = speaking(kind, answer=EIGHT)
    call.say("zero one two three four five six seven eight nine").quiet(3)
    assert call.turn_texts[-1] != call.turn_texts[0]
    assert call.turn_texts[-1].endswith("eight nine")
    assert not call.turn_texts[-1].startswith("zero")


def test_an_announcement_that_may_not_be_interrupted_is_said_to_its_end() -> None:
    call = CallStandIn()
    call.quiet(0.5)
    call.take(
        AnnouncementRequested(
            "this call is about your contract and is not recorded at all", interruptible=False
        )
    )
    call.quiet(0.5).say("tell me more now")
    call.take(InterruptRequested())
    call.quiet(5)
    assert not call.all(CutReply)
    assert call.all(CommitReply)[0] == CommitReply(1, 12 * WORD, "spoken")
    assert call.turn_texts == ["tell me more now"]


# ---- button, keys, typed text


@pytest.mark.parametrize("settings", [PAUSING, PLAIN])
def test_the_button_cuts_at_once(settings: TurnSettings) -> None:
    call = speaking(settings)
    decisions = call.take(InterruptRequested(1, 2 * WORD + 5))
    kinds = [type(one).__name__ for one in decisions]
    assert kinds[:2] == ["CutReply", "CommitReply"]
    assert CommitReply(1, 3 * WORD, "interrupted") not in decisions
    call.quiet(2)
    assert call.states[-1] == "listening"


def test_the_button_for_an_older_reply_is_no_news() -> None:
    call = speaking()
    call.take(InterruptRequested(1))
    call.quiet(0.5).say("tell me about hamburg")
    call.until(ReleaseReply)
    call.quiet(0.5)
    assert call.take(InterruptRequested(1, 100)) == []
    assert len(call.all(CutReply)) == 1


def test_the_button_while_it_thinks_wants_no_answer() -> None:
    call = asked(thinks=4.0)
    call.until(ReleaseReply)
    call.take(InterruptRequested())
    call.quiet(3)
    assert call.turn_texts == ["what is the weather in berlin"]
    assert call.states[-1] == "listening"
    assert not any(voice.played for voice in call.voices.values())


def test_the_button_before_the_turn_is_sure_keeps_its_words_and_asks_for_nothing() -> None:
    call = asked()
    call.until(RequestReply)
    call.take(InterruptRequested())
    call.quiet(3)
    assert call.turn_texts == ["what is the weather in berlin"]
    assert len(call.all(RequestReply)) == 1
    assert call.all(DropReply) == [DropReply(1)]


def test_a_caller_who_goes_on_after_all_is_answered() -> None:
    call = asked()
    call.until(RequestReply)
    call.take(InterruptRequested())
    call.say("and in hamburg").quiet(6)
    assert [(ask.turn, ask.revision) for ask in call.all(RequestReply)] == [(1, 0), (1, 1)]
    assert call.turn_texts == ["what is the weather in berlin and in hamburg"]


def test_the_button_with_nothing_to_end_is_no_news() -> None:
    call = CallStandIn()
    call.quiet(0.5)
    assert call.take(InterruptRequested()) == []


def test_typed_text_is_a_turn_and_its_words_stand_before_they_are_asked() -> None:
    call = CallStandIn()
    call.quiet(0.5)
    decisions = call.take(TextTyped("What is the weather?"))
    assert decisions == [
        CommitTurn(1, "What is the weather?", True),
        RequestReply(1, 1, 0, "What is the weather?"),
        ReleaseReply(1),
        ShowState("thinking"),
    ]
    call.quiet(6)
    assert call.all(CommitReply) == [CommitReply(1, 8 * WORD, "spoken")]


def test_text_typed_while_somebody_speaks_comes_after_what_they_said() -> None:
    call = CallStandIn()
    call.quiet(0.5).say("what is the weather in")
    call.take(TextTyped("Berlin-Mitte"))
    call.quiet(6)
    assert call.turn_texts == ["what is the weather in", "Berlin-Mitte"]
    assert [ask.text for ask in call.all(RequestReply)] == ["Berlin-Mitte"]


def test_speech_never_goes_on_with_what_was_typed() -> None:
    call = CallStandIn(thinks=3.0)
    call.quiet(0.5)
    call.take(TextTyped("What is the weather?"))
    call.quiet(0.5).say("tell me about hamburg").quiet(8)
    assert call.turn_texts == ["What is the weather?", "tell me about hamburg"]


def test_empty_text_is_no_turn() -> None:
    call = CallStandIn()
    call.quiet(0.5)
    assert call.take(TextTyped("  ")) == []


# ---- hold to talk

HOLD_TO_TALK = structs.replace(PAUSING, listens=False)


def test_holding_the_button_is_the_turn_and_silence_does_not_end_it() -> None:
    call = CallStandIn(HOLD_TO_TALK)
    call.quiet(0.5).say("nobody hears this")
    assert not call.all(TranscribeTurn)
    call.take(PushToTalk(True))
    call.say("what is").quiet(3).say("the weather")
    assert not call.all(FinishTranscript)
    call.take(PushToTalk(False))
    call.quiet(0.3)
    assert [ask.text for ask in call.all(RequestReply)] == ["what is the weather"]
    assert call.all(ReleaseReply)
    call.quiet(5)
    assert call.turn_texts == ["what is the weather"]


def test_the_button_goes_down_and_the_reply_falls_silent_at_once() -> None:
    call = CallStandIn(HOLD_TO_TALK, answer=lambda text: LONG)
    call.quiet(0.5)
    call.take(PushToTalk(True))
    call.say("what is the weather")
    call.take(PushToTalk(False))
    call.quiet(2.5)
    assert any(isinstance(one, CutReply) for one in call.take(PushToTalk(True)))
    call.say("and tomorrow")
    call.take(PushToTalk(False))
    call.quiet(1)
    exact(call, 1)
    assert call.turn_texts[0] == "what is the weather"
    assert call.all(RequestReply)[-1].text == "and tomorrow"


def test_a_press_without_a_word_is_no_turn() -> None:
    call = CallStandIn(HOLD_TO_TALK)
    call.quiet(0.5)
    call.take(PushToTalk(True))
    call.quiet(0.5)
    call.take(PushToTalk(False))
    call.quiet(1)
    assert [discard.reason for discard in call.all(DiscardTurn)] == ["noise"]
    assert call.states[-1] == "listening"


def test_a_button_that_is_never_let_go_is_let_go() -> None:
    call = CallStandIn(structs.replace(HOLD_TO_TALK, turn_limit=seconds(10)))
    call.quiet(0.5)
    call.take(PushToTalk(True))
    call.say("what is the weather").quiet(20)
    assert call.turn_texts == ["what is the weather"]


# ---- waiting


def test_a_tool_is_waited_for_with_one_filler_and_the_reply_goes_on_after_it() -> None:
    call = asked(thinks=5.0)
    call.until(ReleaseReply)
    call.take(ReplyWaiting(1, True))
    call.quiet(3)
    call.take(ReplyWaiting(1, False))
    call.quiet(8)
    assert [say.kind for say in call.all(SaySentence)] == ["filler"]
    assert "waiting" in call.states
    assert [kept.ending for kept in call.all(CommitReply)] == ["spoken", "spoken"]
    assert call.kept[1] == (EIGHT, "")


def test_each_wait_has_its_own_filler_in_other_words() -> None:
    call = asked(thinks=9.0)
    call.until(ReleaseReply)
    for _ in range(2):
        call.take(ReplyWaiting(1, True))
        call.quiet(3)
        call.take(ReplyWaiting(1, False))
        call.quiet(0.3)
    said = call.all(SaySentence)
    assert [say.kind for say in said] == ["filler", "filler"]
    assert said[0].text != said[1].text


def test_a_question_is_asked_aloud_while_the_reply_waits_for_a_person() -> None:
    call = asked(makes=False)
    call.until(ReleaseReply)
    call.take(ReplyWaiting(1, True))
    call.take(AnnouncementRequested("May I look into your calendar?"))
    assert [say.kind for say in call.all(SaySentence)] == ["announcement"]


def test_a_word_that_only_acknowledges_is_the_answer_to_a_question() -> None:
    call = asked(makes=False)
    call.until(ReleaseReply)
    call.take(ReplyWaiting(1, True, asks=True))
    call.take(AnnouncementRequested("May I look into your calendar?"))
    call.quiet(4).say("yes").quiet(2)
    assert call.all(RequestReply)[-1].text == "yes"


def test_a_question_that_was_answered_is_not_asked_to_its_end() -> None:
    call = asked(makes=False)
    call.until(ReleaseReply)
    call.take(ReplyWaiting(1, True, asks=True))
    call.take(AnnouncementRequested("May I look into your calendar?"))
    question = call.all(SaySentence)[-1].reply
    call.take(ReplyWaiting(1, True))
    assert [cut.reply for cut in call.all(CutReply)] == [question]


def test_nobody_is_told_to_wait_while_they_are_asked_something() -> None:
    call = asked(makes=False)
    call.until(ReleaseReply)
    call.take(ReplyWaiting(1, True, asks=True))
    call.quiet(10)
    assert not call.all(SaySentence)
    call.take(ReplyWaiting(1, True))
    call.quiet(3)
    assert [say.kind for say in call.all(SaySentence)] == ["filler"]


def test_a_filler_can_be_talked_over_and_the_turn_is_the_callers() -> None:
    call = asked(makes=False)
    call.until(ReleaseReply)
    call.take(ReplyWaiting(1, True))
    call.until(SaySentence)
    call.quiet(0.4).say("never mind tell me a joke").quiet(2)
    assert call.turn_texts == ["what is the weather in berlin"]
    assert len(call.all(CutReply)) == 2
    assert call.all(RequestReply)[-1].text == "never mind tell me a joke"


def test_a_model_that_gives_nothing_is_announced_then_given_up_and_the_call_goes_on() -> None:
    call = asked(makes=False)
    call.until(ReleaseReply)
    asked_at = call.times(RequestReply)[0]
    call.quiet(30)
    assert [say.kind for say in call.all(SaySentence)] == ["slow", "gave_up"]
    slow, gave_up = call.times(SaySentence)
    assert slow - asked_at <= seconds(8.1)
    assert gave_up - asked_at <= seconds(20.1)
    assert DropReply(1) in call.all(DropReply)
    assert call.turn_texts == ["what is the weather in berlin"]
    assert call.states[-1] == "listening"


def test_a_reply_that_stops_in_the_middle_is_given_up_with_what_was_heard() -> None:
    call = asked(makes=False)
    call.until(ReleaseReply)
    call.take(SynthesisProgress(1, 30_000))
    call.take(PlaybackProgress(1, 30_000))
    call.quiet(40)
    assert call.all(CommitReply)[-2:] != []
    assert CommitReply(1, 30_000, "failed") in call.all(CommitReply)
    assert call.states[-1] == "listening"


def test_a_turn_that_waits_for_a_stuck_reply_is_answered_in_the_end() -> None:
    call = asked(structs.replace(PAUSING, interruptible=False), makes=False)
    call.until(ReleaseReply)
    call.take(SynthesisProgress(1, 100))
    call.say("tell me about hamburg").quiet(40)
    assert CommitReply(1, 100, "failed") in call.all(CommitReply)
    assert call.all(RequestReply)[-1].text == "tell me about hamburg"


def test_a_tool_that_never_comes_back_is_given_up() -> None:
    call = asked(structs.replace(PAUSING, wait_limit=seconds(30)), makes=False)
    call.until(ReleaseReply)
    call.take(ReplyWaiting(1, True))
    call.quiet(40)
    assert call.all(SaySentence)[-1].kind == "gave_up"
    assert call.states[-1] == "listening"


def test_sound_whose_playing_nobody_tells_of_counts_as_played_after_its_time() -> None:
    call = asked(makes=False)
    call.until(ReleaseReply)
    call.take(SynthesisProgress(1, 48_000))
    call.take(SynthesisComplete(1, 48_000))
    call.quiet(6)
    assert call.all(CommitReply) == [CommitReply(1, 48_000, "spoken")]


def test_a_reply_without_sound_is_over_at_once() -> None:
    call = asked(answer="")
    call.quiet(3)
    assert call.all(CommitReply) == [CommitReply(1, 0, "spoken")]
    assert call.states[-1] == "listening"


def test_a_reply_that_breaks_before_a_word_apologises() -> None:
    call = asked(makes=False)
    call.until(ReleaseReply)
    call.take(ReplyBroken(1, "The model has stopped. Ask me again."))
    call.quiet(6)
    assert call.turn_texts == ["what is the weather in berlin"]
    assert CommitReply(1, 0, "failed") in call.all(CommitReply)
    assert [say.text for say in call.all(SaySentence)] == ["The model has stopped. Ask me again."]


def test_a_reply_that_breaks_in_the_middle_is_heard_as_far_as_it_goes() -> None:
    call = asked(makes=False)
    call.until(ReleaseReply)
    call.take(SynthesisProgress(1, 30_000))
    call.take(ReplyBroken(1, "Sorry."))
    assert not call.all(SaySentence)
    call.take(PlaybackProgress(1, 30_000))
    call.quiet(2)
    assert CommitReply(1, 30_000, "failed") in call.all(CommitReply)
    assert [say.kind for say in call.all(SaySentence)] == ["apology"]


def test_a_reply_that_breaks_before_its_turn_is_sure_breaks_when_it_is() -> None:
    call = asked(makes=False)
    call.until(RequestReply)
    call.take(ReplyBroken(1, "Sorry."))
    call.quiet(3)
    assert order(call, ReleaseReply, CommitTurn, CommitReply, SaySentence)[:4] == [
        "ReleaseReply",
        "CommitTurn",
        "CommitReply",
        "SaySentence",
    ]


# ---- announcements


def test_a_greeting_is_said_and_kept() -> None:
    call = CallStandIn()
    call.take(AnnouncementRequested("Hello, how can I help?"))
    call.quiet(4)
    assert [say.kind for say in call.all(SaySentence)] == ["announcement"]
    assert call.kept[1] == ("Hello, how can I help?", "")


def test_a_greeting_can_be_interrupted_and_keeps_what_was_heard_of_it() -> None:
    call = CallStandIn()
    call.take(AnnouncementRequested("hello how can i help you today my friend"))
    call.quiet(1.0).say("what is the weather").quiet(6)
    exact(call, 1)
    assert call.kept[1][1]
    assert call.turn_texts == ["what is the weather"]


def test_announcements_wait_for_whoever_speaks_and_come_in_order() -> None:
    call = asked()
    call.take(AnnouncementRequested("first"))
    call.take(AnnouncementRequested("second"))
    call.quiet(12)
    assert order(call, CommitReply, SaySentence) == [
        "CommitReply",
        "SaySentence",
        "CommitReply",
        "SaySentence",
        "CommitReply",
    ]
    assert [say.text for say in call.all(SaySentence)] == ["first", "second"]


def test_only_so_many_announcements_wait() -> None:
    call = asked(answer=LONG)
    for number in range(50):
        call.take(AnnouncementRequested(f"number {number}"))
    call.quiet(60)
    assert len(call.all(SaySentence)) == 8


def test_facts_about_what_nobody_knows_are_no_news() -> None:
    call = CallStandIn()
    call.quiet(0.5)
    for fact in (
        ReplyTextStarted(9),
        SynthesisProgress(9, 100),
        SynthesisComplete(9, 100),
        PlaybackProgress(9, 100),
        ReplyWaiting(9, True),
        ReplyBroken(9, "x"),
        PartialTranscript(9, "x"),
        FinalTranscript(9, "x"),
        InterruptRequested(9, 5),
        PushToTalk(False),
    ):
        assert call.take(fact) == []


# ---- invariants

NUMBERS = st.integers(0, 6)
SAMPLES = st.integers(0, 60_000)
WORDS = st.sampled_from(
    ["", "mhm", "stop", "what is the weather", "and um", "one two three", "yes", "tell me more about it"]
)
SPEECH, SILENCE = Frame(0.9, -20.0), Frame(0.02, -70.0)


def _words(samples: int) -> tuple[ReplyWord, ...]:
    return (ReplyWord("one", 0, samples // 2, 0, 3), ReplyWord("two", samples // 2, samples, 4, 7))


FACTS = st.one_of(
    st.builds(
        lambda count, frame: [frame] * count, st.integers(1, 45), st.sampled_from([SPEECH, SILENCE, SILENCE])
    ),
    st.builds(lambda frame: [frame], st.builds(Frame, st.floats(0, 1), st.floats(-100, 0))),
    st.builds(lambda turn, text: [PartialTranscript(turn, text)], NUMBERS, WORDS),
    st.builds(lambda turn, text, good: [FinalTranscript(turn, text, good)], NUMBERS, WORDS, st.booleans()),
    st.builds(lambda reply: [ReplyTextStarted(reply)], NUMBERS),
    st.builds(lambda reply, samples: [SynthesisProgress(reply, samples, _words(samples))], NUMBERS, SAMPLES),
    st.builds(lambda reply, samples: [SynthesisComplete(reply, samples)], NUMBERS, SAMPLES),
    st.builds(lambda reply, samples: [PlaybackProgress(reply, samples)], NUMBERS, SAMPLES),
    st.builds(
        lambda reply, samples: [InterruptRequested(reply, samples)], st.none() | NUMBERS, st.none() | SAMPLES
    ),
    st.builds(lambda text: [TextTyped(text)], WORDS),
    st.builds(lambda down: [PushToTalk(down)], st.booleans()),
    st.builds(lambda reply, busy: [ReplyWaiting(reply, busy)], NUMBERS, st.booleans()),
    st.builds(lambda reply, apology: [ReplyBroken(reply, apology)], NUMBERS, st.sampled_from(["", "Sorry."])),
    st.builds(
        lambda text, cut: [AnnouncementRequested(text, cut)],
        st.sampled_from(["Hello.", "Listen."]),
        st.booleans(),
    ),
)
IMPATIENT = TurnSettings(
    turn_limit=seconds(6),
    slow=seconds(3),
    give_up=seconds(6),
    wait_limit=seconds(8),
    filler=seconds(1),
)
KINDS = st.builds(
    lambda pauses, marks, interruptible, listens, overheard: structs.replace(
        IMPATIENT,
        pauses=pauses,
        marks=marks,
        interruptible=interruptible,
        listens=listens,
        overheard=overheard,
    ),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["keep", "discard"]),
)


SCENES = st.one_of(
    st.builds(
        lambda text, word: ("say", text, word),
        st.sampled_from(
            [
                "what is the weather",
                "stop",
                "mhm",
                "and um",
                "yes",
                "two three four",
                "tell me more about it and",
            ]
        ),
        st.sampled_from([0.15, 0.3, 0.45]),
    ),
    st.builds(lambda duration: ("quiet", duration), st.sampled_from([0.1, 0.3, 0.6, 1.0, 2.5, 9.0])),
    st.builds(lambda duration: ("cough", duration), st.sampled_from([0.1, 0.2, 0.5])),
)
SCRIPTS = st.lists(st.one_of(SCENES, SCENES, SCENES, FACTS), min_size=12, max_size=30)


class _Lawful(CallStandIn):
    """A call in which every decision is held against the laws."""

    def __init__(self, kind: TurnSettings, *, makes: bool, lag: float) -> None:
        super().__init__(kind, makes=makes, recogniser_lag=lag)
        self.laws = Laws(self.machine)

    def take(self, fact: Fact) -> list[Decision]:
        decisions = super().take(fact)
        self.laws.hold(decisions)
        return decisions

    def play(self, script: list[Any]) -> None:
        for scene in script:
            match scene:
                case ("say", text, word):
                    self.say(str(text), float(word))
                case ("quiet", duration):
                    self.quiet(float(duration))
                case ("cough", duration):
                    self.cough(float(duration))
                case facts:
                    for fact in facts:
                        assert not isinstance(fact, str | float)
                        self.take(fact)
        for _ in range(40):
            self.quiet(3.0)
            if self.laws.shown == "listening":
                break


@given(kind=KINDS, makes=st.booleans(), lag=st.sampled_from([0.05, 0.3, 1.2, 9.0]), script=SCRIPTS)
@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
def test_whatever_is_told_the_laws_hold_and_no_state_is_left_for_ever(
    kind: TurnSettings,
    makes: bool,
    lag: float,
    script: list[list[Fact] | tuple[str, str, float] | tuple[str, float]],
) -> None:
    call = _Lawful(kind, makes=makes, lag=lag)
    call.play(script)
    call.laws.end()
