"""Text as phonemes with its punctuation; espeak-ng is a stand-in that says what it was given."""

import pytest

from duologue.engines.tts.phonemes import phonemes_of


def said(text: str, **how: bool) -> str:
    return phonemes_of(text, lambda part: f"<{part}>", **how)


@pytest.mark.parametrize(
    ("text", "phonemes"),
    [
        ("Hello there", "<Hello there>"),
        ("Hello, world.", "<Hello>, <world>."),
        ("Really?! Yes...", "<Really>! <Yes>."),
        ("well — yes", "<well>— <yes>"),
        ("... and then", "<and then>"),
        ("one , , two", "<one>, <two>"),
        ("", ""),
        ("?!", ""),
    ],
)
def test_marks_stay_between_the_phonemes(text, phonemes):
    assert said(text) == phonemes


def test_a_change_of_language_is_no_sound():
    assert phonemes_of("Das Team", lambda part: "das (en)tiːm(de)") == "das tiːm"


def test_a_letter_and_its_accent_are_one_sign_or_two():
    assert phonemes_of("on", lambda part: "ç") == "ç"
    assert phonemes_of("on", lambda part: "ç", decompose=True) == "c\u0327"
