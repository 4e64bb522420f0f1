"""Phones from the phonemes that a speech model was given, with whatever times there are: of each, of a token, or of a word.

Used by the Kokoro engines and by sherpa-onnx. Pure.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from duologue.engines.tts.word_alignment import TimedText
from duologue.text.speech.letter_sounds import spread_sounds
from duologue.text.speech.word_spans import words_in
from duologue.values.audio import SPOKEN_RATE
from duologue.values.mouth import Phone

_MARKS = "ˈˌ"
"""Stress, which is written before its sound."""
_DIPHTHONGS = {"A": "eɪ", "I": "aɪ", "O": "oʊ", "Q": "əʊ", "W": "aʊ", "Y": "ɔɪ", "T": "ɾ"}
"""The letters of their own that Kokoro's phonemes have (misaki, EN_PHONES.md)."""


def sounds_in(phonemes: str) -> tuple[str, ...]:
    """The sounds of a string of phonemes: a letter with the marks that follow it. Stress, punctuation and spaces are none."""
    sounds: list[str] = []
    for sign in phonemes:
        kind = unicodedata.category(sign)
        if sign in _MARKS:
            continue
        if kind in ("Mn", "Sk") or (kind == "Lm" and sign != "ᵊ"):
            if sounds:
                sounds[-1] += sign
        elif kind[0] == "L":
            sounds.append(_DIPHTHONGS.get(sign, "ə" if sign == "ᵊ" else "ɪ" if sign == "ᵻ" else sign))
    return tuple(sounds)


def phones_of(timed: Iterable[TimedText], *, delay: float = 0.0) -> tuple[Phone, ...]:
    """The phones (24 kHz) of phonemes or tokens with times; those of a token share its time. A mark with a time of its own belongs to
    the sound before it. `delay` in seconds is added to all times; it is negative where the beginning of the sound was cut off."""
    phones: list[Phone] = []
    for text in timed:
        start = max(0, round((text.start + delay) * SPOKEN_RATE))
        end = max(start, round((text.end + delay) * SPOKEN_RATE))
        sounds = sounds_in(text.text)
        if sounds:
            phones += spread_sounds(sounds, start, end)
        elif phones and phones[-1].end == start and _lengthens(text.text):
            phones[-1] = Phone(phones[-1].symbol + text.text, phones[-1].start, end)
    return tuple(phones)


def _lengthens(phoneme: str) -> bool:
    return phoneme not in _MARKS and all(unicodedata.category(sign) in ("Lm", "Mn") for sign in phoneme)


def sounds_of_words(text: str, phonemes: str) -> dict[int, tuple[str, ...]]:
    """The sounds of each word of a text by its position, from its phonemes with spaces between words. Empty where these have another number of
    words ("of the" is one): then nobody knows which are whose."""
    spoken = [sounds for each in phonemes.split() if (sounds := sounds_in(each))]
    places = [at for at, _ in words_in(text)]
    return dict(zip(places, spoken, strict=True)) if len(places) == len(spoken) else {}
