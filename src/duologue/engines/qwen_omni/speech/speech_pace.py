"""How long a text takes to say, and how much of it a length of sound covers. Pure.

Used by `reply_speech`. The omni models do not time their words, so what was heard of a reply is estimated: each token takes the time
that its characters take in ordinary speech, stretched to the sound's real length where that is known. Errors of a word or two are usual
in the middle of a sentence.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

LETTER = 1 / 15
"""Seconds of a letter: English is spoken with about fifteen characters a second, and other alphabets hardly differ."""
SYLLABLE = 1 / 4.5
"""Seconds of a character that is a syllable or a word: Chinese, Japanese, Korean."""
DIGIT = 0.35
PAUSES = dict.fromkeys(".!?…。！？\n", 0.35) | dict.fromkeys(",;:、，；：—", 0.18)
LEAST = 0.02
"""Seconds of a token at least, however little there is to say."""
SLOW, LONGEST_PAUSE = 3.0, 4.0
"""A reply takes at most SLOW times its estimate, and LONGEST_PAUSE seconds more."""


def token_seconds(text: str) -> float:
    """The seconds that a token takes, by its text."""
    return max(LEAST, sum(map(_seconds, text)))


def longest_seconds(tokens: Sequence[float]) -> float:
    """The seconds after which the speech of such tokens has gone astray."""
    return sum(tokens) * SLOW + LONGEST_PAUSE


def covered(tokens: Sequence[float], heard: float, whole: float | None = None) -> int:
    """How many of the tokens, each of so many seconds, are said within `heard` seconds; `whole` is the length of the speech of them
    all, where it has ended. A token is counted once half of it was heard."""
    if whole is not None and heard >= whole:
        return len(tokens)
    expected = sum(tokens)
    stretch = whole / expected if whole is not None and expected else 1.0
    at = 0.0
    for number, seconds in enumerate(tokens):
        if at + seconds * stretch / 2 > heard:
            return number
        at += seconds * stretch
    return len(tokens)


def _seconds(character: str) -> float:
    if character in PAUSES:
        return PAUSES[character]
    if character.isdigit():
        return DIGIT
    if not character.isalpha():
        return LETTER / 2
    return SYLLABLE if unicodedata.east_asian_width(character) in "WF" else LETTER
