"""Plausibility: the signs, and their weights."""

import pytest

from duologue.engines.sphinx.confidence import HeardWord, Judgement, signs

WORDS = (
    HeardWord("what", 0, 9, likely=1.0, fits=-10.0, follows=-0.02),
    HeardWord("time", 10, 29, likely=0.5, fits=-50.0, follows=-0.04),
)


def test_the_signs_are_means_over_words_and_frames():
    follows, sure, least, fits, whole, few = signs(WORDS, -0.03, 0.25)
    assert follows == pytest.approx(-30.0)
    assert sure == pytest.approx(-0.3466, abs=1e-3)
    assert least == pytest.approx(0.5)
    assert fits == pytest.approx(-2.0)
    assert whole == pytest.approx(-0.693, abs=1e-3)
    assert few == 0.5


def test_better_signs_are_more_confidence():
    judgement = Judgement((0.1, 1.0, 1.0, 1.0, 0.1, 0.0), 5.0)
    worse = (WORDS[0], HeardWord("thyme", 10, 29, likely=0.1, fits=-90.0, follows=-0.09))
    assert judgement.confidence(WORDS, -0.03, 0.25) > judgement.confidence(worse, -0.03, 0.05)


def test_nothing_said_is_nothing_to_stand_for():
    assert Judgement((0.0,) * 6, 9.0).confidence((), 0.0, 1.0) == 0.0


def test_confidence_stays_between_nothing_and_one():
    assert 0.0 <= Judgement((1e9,) * 6, 0.0).confidence(WORDS, -9.0, 0.0) <= 1.0
    assert 0.0 <= Judgement((-1e9,) * 6, 0.0).confidence(WORDS, -9.0, 0.0) <= 1.0
