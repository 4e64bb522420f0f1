from __future__ import annotations

import pytest
from msgspec import structs

from duologue.turns.caller_turn import CallerTurn
from duologue.turns.interruption import Evidence, Verdict, continues, judge, judge_late
from duologue.turns.settings import TurnSettings, seconds

PAUSING = TurnSettings(pauses=True, marks=True)
OLD = seconds(0.2)
OWN = ("the", "weather", "in", "berlin", "is", "sunny")


def sound(spoken: float, silence: float = 0.0, text: str = "", **more: object) -> Evidence:
    return Evidence(seconds(spoken), seconds(silence), text, own=OWN, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("evidence", "verdict"),
    [
        (sound(0.1), None),
        (sound(0.2, 0.1), None),
        (sound(0.2, 0.2), "noise"),
        (sound(0.5, 0.2), None),
        (sound(0.75), None),
        (sound(0.9), "confirm"),
        (sound(0.3, text="stop"), "confirm"),
        (sound(0.2, text="stop"), None),
        (sound(0.3, text="hold on"), "confirm"),
        (sound(0.3, text="hold", stable_for=OLD), None),
        (sound(0.3, text="no"), None),
        (sound(0.3, text="no", stable_for=OLD), "confirm"),
        (sound(0.3, text="tell me", stable_for=OLD), "confirm"),
        (sound(0.3, text="tell me"), None),
        (sound(0.2, text="tell me", stable_for=OLD), None),
        (sound(0.7, text="hamburg", stable_for=OLD), None),
        (sound(0.7, text="of cow", stable_for=OLD), None),
        (sound(0.7, text="hamburg has a harbour", stable_for=OLD), None),
        (sound(0.8, text="hamburg has a harbour"), "confirm"),
        (sound(0.9, text="hamburg"), "confirm"),
        (sound(0.9, text="uh-huh right"), None),
        (sound(1.3, text="uh-huh right"), "confirm"),
        (sound(1.5, text="weather in berlin"), None),
    ],
)
def test_while_it_goes_on(evidence: Evidence, verdict: Verdict) -> None:
    assert judge(evidence, PAUSING) == verdict


@pytest.mark.parametrize(
    ("evidence", "verdict"),
    [
        (sound(0.4, 0.3, understood=False, stop_word="no"), "confirm"),
        (sound(0.4, 0.3, "ah", stop_word="no"), "confirm"),
        (sound(0.4, 0.3, "the", stop_word="stop"), "confirm"),
        (sound(0.4, 0.3, stop_word="stop"), "confirm"),
        (sound(0.2, 0.3, understood=False, stop_word="no"), "confirm"),
        (sound(0.1, 0.3, understood=False, stop_word="no"), "not_understood"),
        (sound(0.4, 0.3, "no way", stop_word="no"), "backchannel"),
        (sound(0.4, 0.3, "i know", stop_word="no"), "backchannel"),
        (sound(0.4, 0.3, understood=False, stop_word="no", murmur=True), "not_understood"),
        (sound(0.4, 0.3, understood=False, stop_word="no", faint=True), "not_understood"),
        (sound(0.4, 0.3, understood=False, stop_word="sunny"), "not_understood"),
    ],
)
def test_a_spotted_stop_word_is_believed_unless_words_speak_against_it(
    evidence: Evidence, verdict: Verdict
) -> None:
    assert judge(structs.replace(evidence, final=True), PAUSING) == verdict


def test_what_is_known_at_the_limit_of_a_hold_is_judged_as_final() -> None:
    assert judge_late(sound(0.5, text="hamburg"), PAUSING) == "confirm"
    assert judge_late(sound(0.5), PAUSING) is None


@pytest.mark.parametrize("text", ["", "can you", "stop", "mama moves on"])
def test_whatever_words_are_made_of_a_hum_they_are_not_believed(text: str) -> None:
    assert judge(sound(1.0, text=text, stable_for=OLD, murmur=True), PAUSING) is None
    assert judge(sound(0.5, 0.3, "mama moves on", final=True, murmur=True), PAUSING) == "noise"


def test_a_deep_voice_that_says_no_is_no_hum() -> None:
    assert judge(sound(0.5, 0.3, "no", final=True, murmur=True), PAUSING) == "confirm"


@pytest.mark.parametrize("text", ["", "can you", "stop", "hamburg has a harbour"])
def test_what_may_be_our_own_sound_waits_until_it_has_outlasted_it(text: str) -> None:
    assert judge(sound(1.2, text=text, stable_for=OLD, faint=True), PAUSING) is None


def test_what_ended_with_our_own_sound_is_its_echo_unless_it_stops_us() -> None:
    assert judge(sound(0.4, 0.3, "a harbour", final=True, faint=True), PAUSING) == "echo"
    assert judge(sound(0.4, 0.3, "stop it", final=True, faint=True), PAUSING) == "confirm"


def test_a_word_that_stops_us_is_an_echo_only_where_it_is_our_very_word() -> None:
    heard = sound(0.4, 0.3, "wait", final=True)
    assert judge(structs.replace(heard, own=("it", "waited")), PAUSING) == "confirm"
    assert judge(structs.replace(heard, own=("please", "wait")), PAUSING) == "echo"


@pytest.mark.parametrize(
    ("evidence", "verdict"),
    [
        (sound(0.4, 0.3, final=True), "noise"),
        (sound(0.4, 0.3, final=True, understood=False), "not_understood"),
        (sound(0.4, 0.3, "mhm", final=True), "backchannel"),
        (sound(1.4, 0.3, "okay yeah sure", final=True), "confirm"),
        (sound(0.4, 0.3, "weather in berlin", final=True), "echo"),
        (sound(0.2, 0.3, "hamburg", final=True), "confirm"),
        (sound(0.2, 0.3, "are", final=True), "noise"),
        (sound(0.5, 0.3, "a", final=True), "noise"),
        (sound(0.5, 0.3, "what", final=True), "confirm"),
    ],
)
def test_when_its_last_words_are_known(evidence: Evidence, verdict: Verdict) -> None:
    assert judge(evidence, PAUSING) == verdict


def test_a_client_that_plays_on_may_hear_itself_and_needs_more_sound() -> None:
    assert judge(sound(0.8), TurnSettings()) is None
    assert judge(sound(1.1), TurnSettings()) == "confirm"


def test_a_yes_to_a_question_is_no_acknowledgement() -> None:
    assert judge(sound(0.3, 0.3, "yes", final=True), TurnSettings()) == "backchannel"
    assert judge(sound(0.3, 0.3, "yes", final=True, question_pending=True), TurnSettings()) == "confirm"


def turn(start: float, heard: float = 0.0, text: str = "or in hamburg") -> CallerTurn:
    return CallerTurn(2, 2, start=seconds(start), played_at_start=round(heard * 24_000), text=text)


EARLIER = CallerTurn(1, 1, end=seconds(10), text="what is the weather")


def continues_it(one: CallerTurn, earlier: CallerTurn = EARLIER, *, waiting: bool = False) -> bool:
    return continues(one, earlier, waiting=waiting, settings=PAUSING)


def test_over_the_first_syllables_and_soon_it_goes_on_with_the_turn() -> None:
    assert continues_it(turn(11.0, heard=0.3))
    assert not continues_it(turn(11.0, heard=0.9))
    assert not continues_it(turn(13.0, heard=0.3))


def test_while_nothing_was_heard_it_goes_on_with_the_turn_for_longer() -> None:
    assert continues_it(turn(16.0))
    assert not continues_it(turn(18.0))


def test_who_knows_that_it_waits_for_a_tool_says_something_new() -> None:
    assert not continues_it(turn(16.0), waiting=True)


def test_a_stop_is_not_the_rest_of_a_question() -> None:
    assert not continues_it(turn(11.0, heard=0.3, text="no stop"))


def test_what_is_kept_or_typed_does_not_go_on() -> None:
    assert not continues_it(turn(11.0), CallerTurn(1, 1, end=seconds(10), text="x", committed=True))
    assert not continues_it(turn(11.0), CallerTurn(1, 1, end=seconds(10), text="x", typed=True))


@pytest.mark.parametrize(
    ("evidence", "verdict"),
    [
        (sound(0.2, 0.2), None),
        (sound(0.2, 0.3, final=True, understood=False), "not_understood"),
        (sound(0.2, 0.3, final=True), "noise"),
        (sound(0.2, 0.3, final=True, stop_word="stop"), "confirm"),
        (sound(0.2, 0.3, "cup", final=True), "noise"),
        (sound(0.2, 0.3, "stop", final=True), "confirm"),
        (sound(0.2, 0.3, "yes", final=True, question_pending=True), "confirm"),
        (sound(0.4, 0.3, "cup", final=True), "confirm"),
    ],
)
def test_a_burst_is_judged_by_its_transcript_where_stop_words_are_spotted(
    evidence: Evidence, verdict: Verdict
) -> None:
    assert judge(evidence, structs.replace(PAUSING, spots_stop_words=True)) == verdict
