"""The shapes of single sounds."""

from __future__ import annotations

import pytest

from duologue.turns.mouth.visemes import UNKNOWN, visemes_of


@pytest.mark.parametrize("symbol", ["", "ˈ", "ː", " ", "_", "."])
def test_silence_has_no_shape(symbol):
    assert visemes_of(symbol) == ()


@pytest.mark.parametrize("symbol", ["p", "pʰ", "b", "m̩", "ɓ", "ˈpː", "bʲ"])
def test_every_kind_of_p_b_and_m_presses_the_lips(symbol):
    (shape,) = visemes_of(symbol)
    assert (shape.kind, shape.press, shape.open) == ("closure", 100, 0)


def test_stress_length_and_nasality_change_nothing():
    assert visemes_of("ˈɑː") == visemes_of("ɑ") == visemes_of("ɑ̃")
    assert visemes_of("ˌi") == visemes_of("i")
    assert visemes_of("ç") == visemes_of("c")


def test_a_diphthong_has_two_shapes_and_an_affricate_that_of_its_fricative():
    assert visemes_of("aɪ") == visemes_of("a") + visemes_of("ɪ")
    assert visemes_of("aɪə") == visemes_of("a") + visemes_of("ə")
    assert visemes_of("tʃ") == visemes_of("t͡ʃ") == visemes_of("ʧ") == visemes_of("ʃ")
    assert visemes_of("ts") == visemes_of("s")
    assert [shape.press for shape in visemes_of("pf")] == [100, 0]


def test_rounded_vowels_are_rounder_the_closer_they_are_and_open_ones_open():
    (u,), (o,), (i,), (a,) = (visemes_of(each) for each in "uoia")
    assert u.wide < o.wide < 0 < i.wide
    assert a.open > o.open > u.open


@pytest.mark.parametrize("symbol", ["ǃ", "Q", "好"])
def test_an_unknown_sign_leaves_the_mouth_to_its_neighbours(symbol):
    assert visemes_of(symbol) == (UNKNOWN,)
