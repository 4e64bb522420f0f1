from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from duologue.turns.echo import is_echo, similarity

OWN = ("the", "weather", "in", "Berlin", "is", "mostly", "sunny", "today,")
TEXT = st.lists(st.sampled_from(["the", "weather", "sunny", "stop", "tomorrow", "a"]), max_size=12).map(
    " ".join
)


def test_our_own_words_are_an_echo_also_when_half_of_them_are_lost() -> None:
    assert is_echo("weather in berlin", OWN)
    assert is_echo("the weather Berlin mostly sunny", OWN)


def test_our_own_words_are_an_echo_when_they_were_misheard_a_little() -> None:
    assert is_echo("whether in berlin is mostly sunny", OWN)


def test_other_words_are_none() -> None:
    assert not is_echo("stop talking please", OWN)
    assert not is_echo("what about hamburg", OWN)
    assert not is_echo("is it going to rain tomorrow", OWN)


def test_our_words_in_another_order_are_less_alike() -> None:
    assert similarity("sunny mostly is berlin", OWN) < 0.5


def test_nothing_is_like_nothing() -> None:
    assert similarity("", OWN) == 0.0
    assert similarity("weather", ()) == 0.0


@given(TEXT, TEXT)
def test_likeness_is_a_share(heard: str, own: str) -> None:
    assert 0.0 <= similarity(heard, own.split()) <= 1.0


@given(TEXT.filter(bool))
def test_what_we_said_is_like_itself(text: str) -> None:
    assert similarity(text, text.split()) == 1.0
