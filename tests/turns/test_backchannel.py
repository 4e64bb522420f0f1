from __future__ import annotations

import pytest

from duologue.turns.backchannel import is_backchannel, takes_the_turn


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
    assert takes_the_turn("Wait a second", "en")
    assert takes_the_turn("Moment mal", "de")
    assert not takes_the_turn("Tell me", "en")
    assert not takes_the_turn("", "en")
