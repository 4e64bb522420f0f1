from __future__ import annotations

import pytest

from duologue.turns.backchannel import begins_question, is_backchannel, is_stray_word, takes_turn


@pytest.mark.parametrize(
    "text", ["mhm", "Uh-huh.", "yeah yeah", "Okay, right", "I see.", "oh really", "got it"]
)
def test_english_acknowledgements_let_the_other_go_on(text: str) -> None:
    assert is_backchannel(text, "en")


@pytest.mark.parametrize("text", ["mhm", "ja ja", "Genau.", "ach so", "alles klar", "verstehe"])
def test_german_acknowledgements_let_the_other_go_on(text: str) -> None:
    assert is_backchannel(text, "de")


@pytest.mark.parametrize(
    "text", ["", "stop", "no", "yeah but", "okay tell me more", "right right right right", "Berlin"]
)
def test_whatever_says_more_is_no_acknowledgement(text: str) -> None:
    assert not is_backchannel(text, "en")


def test_a_language_nobody_knows_has_none() -> None:
    assert not is_backchannel("joo", "fi")


def test_who_begins_like_this_wants_the_other_to_stop() -> None:
    assert takes_turn("Wait a second", "en")
    assert takes_turn("Moment mal", "de")
    assert takes_turn("hang on", "en")
    assert takes_turn("hör auf", "de")
    assert not takes_turn("hang", "en")
    assert not takes_turn("Tell me", "en")
    assert not takes_turn("", "en")


@pytest.mark.parametrize(
    ("text", "language"),
    [("What is that", "en"), ("tell me", "en"), ("Kannst du", "de"), ("wie spät ist es", "de")],
)
def test_a_question_or_a_wish_is_known_by_its_first_two_words(text: str, language: str) -> None:
    assert begins_question(text, language)


@pytest.mark.parametrize("text", ["", "what", "are how", "why owl", "of course", "i see"])
def test_what_an_acknowledgement_is_misheard_as_begins_none(text: str) -> None:
    assert not begins_question(text, "en")


def test_a_single_word_that_wants_another_says_nothing() -> None:
    assert is_stray_word("the", "en")
    assert is_stray_word("und", "de")
    assert not is_stray_word("the weather", "en")
    assert not is_stray_word("hamburg", "en")
    assert not is_stray_word("", "en")
