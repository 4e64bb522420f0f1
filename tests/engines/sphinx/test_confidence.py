"""Confidence: the features, and their weights."""

import pytest

from duologue.engines.sphinx.confidence import ConfidenceModel, DecodedWord, features

WORDS = (
    DecodedWord("what", 0, 9, posterior=1.0, acoustic=-10.0, language=-0.02),
    DecodedWord("time", 10, 29, posterior=0.5, acoustic=-50.0, language=-0.04),
)


def test_the_features_are_means_over_words_and_frames():
    language, mean, least, acoustic, whole, inverse = features(WORDS, -0.03, 0.25)
    assert language == pytest.approx(-30.0)
    assert mean == pytest.approx(-0.3466, abs=1e-3)
    assert least == pytest.approx(0.5)
    assert acoustic == pytest.approx(-2.0)
    assert whole == pytest.approx(-0.693, abs=1e-3)
    assert inverse == 0.5


def test_better_scores_are_more_confidence():
    model = ConfidenceModel((0.1, 1.0, 1.0, 1.0, 0.1, 0.0), 5.0)
    worse = (WORDS[0], DecodedWord("thyme", 10, 29, posterior=0.1, acoustic=-90.0, language=-0.09))
    assert model.confidence(WORDS, -0.03, 0.25) > model.confidence(worse, -0.03, 0.05)


def test_no_words_have_no_confidence():
    assert ConfidenceModel((0.0,) * 6, 9.0).confidence((), 0.0, 1.0) == 0.0


def test_confidence_stays_between_nothing_and_one():
    assert 0.0 <= ConfidenceModel((1e9,) * 6, 0.0).confidence(WORDS, -9.0, 0.0) <= 1.0
    assert 0.0 <= ConfidenceModel((-1e9,) * 6, 0.0).confidence(WORDS, -9.0, 0.0) <= 1.0
