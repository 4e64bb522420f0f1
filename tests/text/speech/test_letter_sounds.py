"""Guessed sounds of written words: lips that close where a letter says so, and vowels in between."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.text.speech.letter_sounds import guessed_phones, letter_sounds


@pytest.mark.parametrize(
    ("language", "word", "sounds"),
    [
        ("en-US", "Shape,", "ʃ eɪ p"),
        ("en", "through", "θ ɹ oʊ"),
        ("en", "quick", "k w ɪ k"),
        ("en", "phone", "f oʊ n"),
        ("en", "moon", "m u n"),
        ("en", "the", "ð ə"),
        ("de", "Schöne", "ʃ ø n ə"),
        ("de", "Buch", "b ʊ x"),
        ("de", "spielen", "ʃ p i l ə n"),
        ("fr", "bon", "b ɔ̃"),
        ("fr", "eau", "o"),
        ("fr", "petits", "p ə t i"),
        ("es", "queso", "k e s o"),
        ("es", "niños", "n i ɲ o s"),
        ("it", "gnocchi", "ɲ o k i"),
        ("pt-BR", "milho", "m i ʎ u"),
        ("nl", "goed", "ɣ u d"),
        ("pl", "szum", "ʃ u m"),
        ("ru", "привет", "p r i v e t"),
        ("el", "μπαμπάς", "b a b a s"),
        ("xx", "Çok", "s o k"),
        ("", "", ""),
        ("en", "--", ""),
    ],
)
def test_the_commonest_spellings_are_read(language, word, sounds):
    assert letter_sounds(word, language) == tuple(sounds.split())


def test_signs_of_a_script_without_rules_are_syllables():
    sounds = letter_sounds("你好吗", "zh")
    assert [sound in "aieou" for sound in sounds] == [False, True] * 3
    assert sounds == letter_sounds("你好吗", "ja")


def test_vowels_take_longer_than_stops():
    p, vowel, t = guessed_phones("pat", 1000, 4000, "de")
    assert (p.start, t.end) == (1000, 4000)
    assert vowel.end - vowel.start > p.end - p.start


@given(
    st.text(max_size=12),
    st.integers(0, 50_000),
    st.integers(0, 20_000),
    st.sampled_from(["", "en", "de", "fr", "pl"]),
)
def test_the_phones_fill_the_word_in_order(word: str, start: int, length: int, language: str):
    phones = guessed_phones(word, start, start + length, language)
    assert all(phone.start < phone.end and phone.symbol for phone in phones)
    assert all(one.end == other.start for one, other in pairwise(phones))
    if phones:
        assert phones[0].start == start
        assert phones[-1].end == start + length
