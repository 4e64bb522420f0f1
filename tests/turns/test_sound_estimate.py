"""The end of a turn by its sound: it moves the delay that the words chose, where they say little, and never decides alone."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs
from tests.support.call_stand_in import PAUSING, CallStandIn
from tests.support.decision_laws import Laws

from duologue.turns.decisions import Decision, EstimateTurnEnd, FinishTranscript, ReleaseReply
from duologue.turns.endpoint import LONGEST, SHORTEST, Endpoint
from duologue.turns.facts import FRAME, PushToTalk, TurnEndEstimated
from duologue.turns.settings import seconds
from duologue.turns.sound_estimate import (
    ASK_AFTER,
    DEADLINE,
    LENGTHENS,
    SHORTENS,
    WORD_PAUSE,
    SoundEstimate,
    adjust,
)

BY_SOUND = structs.replace(PAUSING, by_sound=True)
UNDECIDED = "tell me about the garden"
"""Words that may be all."""
UNFINISHED = "because the weather"
"""Words after which most people go on."""
SURE = "yes please"
PROBABILITY = st.floats(0, 1)


def waited(text: str, sounds_complete: float | None, **stand_in: object) -> int:
    """How long a caller who says this waits until the turn is over."""
    call = CallStandIn(BY_SOUND, sounds_complete=sounds_complete, **stand_in)  # type: ignore[arg-type]
    call.quiet(0.5).say(text)
    call.until(ReleaseReply)
    return call.times(ReleaseReply)[0] - call.words[-1].end


# ---- the rule


def test_a_sound_that_says_nothing_changes_nothing() -> None:
    assert adjust(1000, 0.5, 0.5) == 1000


def test_where_the_words_say_nothing_the_sound_moves_the_delay_by_its_whole_factor() -> None:
    long = 3 * WORD_PAUSE
    assert adjust(long, 0.5, 1.0) == long * SHORTENS
    assert adjust(long, 0.5, 0.0) == long * LENGTHENS


@given(st.floats(0, 1), PROBABILITY)
def test_nothing_is_shortened_below_a_pause_for_a_word(complete: float, probability: float) -> None:
    assert adjust(1.1 * WORD_PAUSE, complete, probability) >= WORD_PAUSE
    assert adjust(0.5 * WORD_PAUSE, complete, probability) >= 0.5 * WORD_PAUSE


@given(PROBABILITY)
def test_where_the_words_are_certain_the_sound_has_no_say(probability: float) -> None:
    assert adjust(1000, 0.0, probability) == adjust(1000, 1.0, probability) == 1000


@given(st.floats(0, 1), PROBABILITY, PROBABILITY)
def test_the_more_complete_it_sounds_the_sooner_the_turn_ends(
    complete: float, one: float, other: float
) -> None:
    low, high = sorted((one, other))
    assert adjust(1000, complete, low) >= adjust(1000, complete, high)


@given(st.sampled_from(["", "um", "i would like to", UNDECIDED, SURE]), PROBABILITY)
def test_the_delay_stays_within_its_bounds(text: str, probability: float) -> None:
    assert SHORTEST <= Endpoint("en").delay(text, probability) <= LONGEST


# ---- questions and answers


def asking(*, enabled: bool = True) -> tuple[SoundEstimate, list[Decision]]:
    questions: list[Decision] = []
    return SoundEstimate(questions.append, enabled=enabled), questions


def test_a_silence_is_asked_about_once() -> None:
    estimate, questions = asking()
    for now in range(1000 + FRAME, 1000 + 40 * FRAME, FRAME):
        estimate.ask(1, 1000, now - 1000, now)
    [question] = questions
    assert isinstance(question, EstimateTurnEnd)
    assert ASK_AFTER <= question.until - 1000 < ASK_AFTER + FRAME


def test_nothing_is_asked_where_there_is_no_estimator() -> None:
    estimate, questions = asking(enabled=False)
    estimate.ask(1, 1000, 2 * ASK_AFTER, 1000 + 2 * ASK_AFTER)
    assert questions == []


def test_an_answer_counts_until_the_caller_goes_on() -> None:
    estimate, questions = asking()
    estimate.ask(1, 1000, ASK_AFTER, 9000)
    estimate.take(TurnEndEstimated(1, 9000, 0.9), 10_000)
    assert estimate.probability(1, 1000) == 0.9
    assert estimate.probability(1, 20_000) is None
    estimate.ask(1, 20_000, ASK_AFTER, 30_000)
    assert len(questions) == 2
    assert estimate.probability(1, 20_000) is None


@pytest.mark.parametrize(
    ("answer", "now"),
    [
        (TurnEndEstimated(2, 9000, 0.9), 9500),
        (TurnEndEstimated(1, 8000, 0.9), 9500),
        (TurnEndEstimated(1, 9000, 0.9), 9000 + DEADLINE + FRAME),
    ],
    ids=["about another turn", "about an earlier silence", "too late"],
)
def test_an_answer_that_is_out_of_date_is_ignored(answer: TurnEndEstimated, now: int) -> None:
    estimate, _ = asking()
    estimate.ask(1, 1000, ASK_AFTER, 9000)
    estimate.take(answer, now)
    assert estimate.probability(1, 1000) is None


def test_an_answer_nobody_asked_for_is_ignored() -> None:
    estimate, _ = asking()
    estimate.take(TurnEndEstimated(1, 9000, 0.9), 9000)
    assert estimate.probability(1, 1000) is None


# ---- in a call


def test_a_turn_that_sounds_complete_is_answered_sooner_and_one_that_does_not_later() -> None:
    by_words = waited(UNFINISHED, None)
    assert waited(UNFINISHED, 0.98) <= by_words - seconds(0.15)
    assert waited(UNFINISHED, 0.02) >= by_words + seconds(0.3)


@pytest.mark.parametrize("sounds_complete", [0.0, 1.0])
def test_words_that_are_surely_all_are_answered_as_before_however_they_sound(sounds_complete: float) -> None:
    assert abs(waited(SURE, sounds_complete) - waited(SURE, None)) <= 2 * FRAME


def test_a_pause_for_a_word_is_not_taken_over_however_complete_it_sounds() -> None:
    call = CallStandIn(BY_SOUND, sounds_complete=1.0)
    call.quiet(0.5).say(UNDECIDED).quiet(0.7)
    assert call.times(ReleaseReply) == []


@pytest.mark.parametrize("sounds_complete", [0.0, 1.0])
def test_an_answer_that_comes_too_late_changes_nothing(sounds_complete: float) -> None:
    late = DEADLINE / 16_000 + 0.1
    assert waited(UNDECIDED, sounds_complete, estimator_lag=late) == waited(UNDECIDED, None)


def test_a_pause_of_a_second_is_not_taken_over_when_it_sounds_as_if_more_follows() -> None:
    for sounds_complete, taken_over in ((None, True), (0.02, False)):
        call = CallStandIn(BY_SOUND, sounds_complete=sounds_complete)
        call.quiet(0.5).say(UNDECIDED).quiet(1.0).say("and the flowers in it")
        went_on = call.words[len(UNDECIDED.split())].start
        assert any(at < went_on for at in call.times(ReleaseReply)) == taken_over


def test_the_final_words_are_not_put_off_by_the_sound() -> None:
    finished = []
    for sounds_complete in (None, 0.0):
        call = CallStandIn(BY_SOUND, sounds_complete=sounds_complete, partials=False)
        call.quiet(0.5).say(UNDECIDED)
        call.until(FinishTranscript)
        finished.append(call.times(FinishTranscript)[0])
    assert finished[0] == finished[1]


def test_a_held_button_is_not_asked_about() -> None:
    call = CallStandIn(structs.replace(BY_SOUND, listens=False), sounds_complete=0.0)
    call.quiet(0.5).take(PushToTalk(True))
    call.say(UNDECIDED).quiet(0.5)
    call.take(PushToTalk(False))
    call.until(ReleaseReply)
    assert call.all(EstimateTurnEnd) == []


@settings(max_examples=40)
@given(st.lists(st.tuples(PROBABILITY, st.floats(0.1, 2.0)), min_size=1, max_size=6))
def test_whatever_the_sound_says_the_laws_of_a_call_hold(turns: list[tuple[float, float]]) -> None:
    call = CallStandIn(BY_SOUND, sounds_complete=turns[0][0])
    laws = Laws(call.machine)
    take = call.take

    def watched(fact):
        decisions = take(fact)
        laws.hold(decisions)
        return decisions

    call.take = watched  # type: ignore[method-assign]
    for probability, pause in turns:
        call._sounds_complete = probability
        call.say(UNDECIDED).quiet(pause)
    call.quiet(25)
    laws.end()
