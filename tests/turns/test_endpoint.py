from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.turns.completeness import completeness
from duologue.turns.endpoint import LONGEST, SHORTEST, Endpoint
from duologue.turns.settings import seconds

OPEN = [
    ("i would like to", "en"),
    ("what is the weather in", "en"),
    ("and then um", "en"),
    ("uh", "en"),
    ("because", "en"),
    ("well, ", "en"),
    ("I was thinking...", "en"),
    ("so my", "en"),
    ("ich möchte", "de"),
    ("wie ist das wetter in der", "de"),
    ("und dann äh", "de"),
    ("weil", "de"),
]
COMPLETE = [
    ("yes", "en"),
    ("no thanks", "en"),
    ("Thank you very much.", "en"),
    ("What is the weather in Berlin?", "en"),
    ("Where are you from?", "en"),
    ("Turn off the light.", "en"),
    ("good morning", "en"),
    ("ja bitte", "de"),
    ("Guten Morgen!", "de"),
    ("stopp", "de"),
]
BETWEEN = [
    ("turn off the light", "en"),
    ("what is the weather", "en"),
    ("five", "en"),
    ("my number is 5 5 5", "en"),
    ("", "en"),
    ("mitä kuuluu sinulle tänään", "fi"),
    ("wie ändere ich die stimme", "de"),
]


@pytest.mark.parametrize(("text", "language"), OPEN)
def test_words_that_want_another_wait_long(text: str, language: str) -> None:
    assert completeness(text, language) <= 0.3
    assert Endpoint(language).delay(text) > seconds(1.0)


@pytest.mark.parametrize(("text", "language"), COMPLETE)
def test_words_that_are_surely_all_are_answered_soon(text: str, language: str) -> None:
    assert completeness(text, language) >= 0.9
    assert Endpoint(language).delay(text) < seconds(0.5)


@pytest.mark.parametrize(("text", "language"), BETWEEN)
def test_words_that_may_be_all_outlast_a_pause_for_a_word_and_stay_under_a_second(
    text: str, language: str
) -> None:
    assert seconds(0.7) <= Endpoint(language).delay(text) <= seconds(1.15)


def test_a_number_alone_waits_for_the_next() -> None:
    assert completeness("five", "en") < completeness("turn off the light", "en")
    assert completeness("4711") < 0.5


def test_a_language_nobody_knows_goes_by_its_marks_alone() -> None:
    assert completeness("haluaisin, ", "fi") < 0.2
    assert completeness("Mitä kuuluu?", "fi") > 0.9
    assert completeness("何時ですか？", "ja") > 0.9


def test_a_caller_who_pauses_long_is_given_longer_and_one_who_does_not_hardly_less() -> None:
    slow, quick = Endpoint("en"), Endpoint("en")
    text = "turn off the light"
    usual = slow.delay(text)
    for _ in range(20):
        slow.learn(seconds(1.0))
        quick.learn(seconds(0.25))
    assert slow.delay(text) > 1.3 * usual
    assert 0.94 * usual <= quick.delay(text) < usual


def test_pauses_between_words_teach_nothing_and_a_long_absence_little() -> None:
    endpoint = Endpoint("en")
    endpoint.learn(seconds(0.1))
    assert endpoint.factor == 1.0
    endpoint.learn(seconds(600))
    assert endpoint.factor < 1.3


def test_how_a_caller_pauses_does_not_delay_a_plain_yes() -> None:
    endpoint = Endpoint("en")
    before = endpoint.delay("yes")
    for _ in range(20):
        endpoint.learn(seconds(1.2))
    assert endpoint.delay("yes") == before


@given(
    st.text(max_size=60),
    st.sampled_from(["en", "de", "fi", ""]),
    st.lists(st.integers(0, 100_000), max_size=30),
)
def test_the_delay_is_always_between_its_bounds(text: str, language: str, pauses: list[int]) -> None:
    endpoint = Endpoint(language)
    for pause in pauses:
        endpoint.learn(pause)
    assert 0.0 <= completeness(text, language) <= 1.0
    assert SHORTEST <= endpoint.delay(text) <= LONGEST
