"""When a pause is the end of a turn: by the words so far, and by how this caller pauses.

Owns the estimate of completeness and the delay made from it. Knows no frame; durations are samples heard (16 kHz).
"""

from __future__ import annotations

import re
from itertools import pairwise

from duologue.turns.settings import seconds
from duologue.turns.words import LittleWords, little_words, words_of

SHORTEST = seconds(0.25)
LONGEST = seconds(1.6)

DELAYS = (
    (0.0, seconds(1.6)),
    (0.25, seconds(1.15)),
    (0.5, seconds(0.8)),
    (0.75, seconds(0.76)),
    (1.0, seconds(0.25)),
)
"""Completeness and the pause that ends a turn then. What may go on waits longer than most people pause for a word."""
CERTAIN = 0.85
"""From this completeness on, how a caller pauses says nothing."""

PAUSE = seconds(0.45)
"""How long people pause within their turns, until this caller is known."""
PAUSES = (seconds(0.2), seconds(1.2))
"""Within these a caller's pauses are believed: shorter ones are between words, longer ones are thought."""
LEARNS = 0.3
TRUSTS = 0.5
"""How much of the difference between this caller's pauses and everybody's goes into the delay."""
FACTORS = (0.95, 1.6)
"""Within these a caller's pauses change the delay. Hardly down: who has not paused yet will."""

_CLOSED = re.compile(r"[.!。！][\"'”’)\]]*$")
_ASKED = re.compile(r"[?？][\"'”’)\]]*$")
_CUT = re.compile(r"(?:[,;:،、–—-]|\.\.\.|…)\s*$")
_DIGITS = re.compile(r"\d+")


def completeness(text: str, language: str = "") -> float:
    """How likely nothing follows these words, 0 to 1. Without words, and for words that tell nothing, it is a half."""
    text = text.strip()
    words = words_of(text)
    if not words:
        return 0.5
    if _CUT.search(text):
        return 0.1
    if _ASKED.search(text):
        return 0.95
    little = little_words(language)
    if words[-1] in little.fillers:
        return 0.0
    if _is_answer(words, little):
        return 0.95
    if _dangles(words, little):
        return 0.1 if len(words) > 1 else 0.3
    if words[-1] in little.leaning:
        return 0.3
    if _is_number(words[-1], little):
        # Somebody who spells a number out stops between its parts, and no word tells which is the last.
        return 0.3 if all(_is_number(word, little) for word in words) else 0.45
    if _CLOSED.search(text):
        return 0.9
    return _by_shape(words, little)


def _by_shape(words: tuple[str, ...], little: LittleWords) -> float:
    if words[0] in little.asking:
        return 0.7 if len(words) > 2 else 0.4
    if words[0] in little.dangling:
        # "because the weather", "if it rains": a clause that leans on another.
        return 0.5 if len(words) > 3 else 0.4
    return 0.6 if len(words) > 2 else 0.5


def _is_answer(words: tuple[str, ...], little: LittleWords) -> bool:
    whole = " ".join(words)
    return whole in little.answers or (len(words) == 2 and all(word in little.answers for word in words))


def _dangles(words: tuple[str, ...], little: LittleWords) -> bool:
    if words[-1] in little.dangling:
        return True
    return any(" ".join(words[-count:]) in little.dangling_phrases for count in (2, 3))


def _is_number(word: str, little: LittleWords) -> bool:
    return bool(_DIGITS.fullmatch(word)) or word in little.numbers


class Endpoint:
    """The pause that ends this caller's turns."""

    def __init__(self, language: str = "") -> None:
        self.language = language
        self._pause: float = PAUSE
        self._words = ""
        self._complete = 0.5

    @property
    def factor(self) -> float:
        """How this caller's pauses lengthen (over 1) or shorten the delay."""
        low, high = FACTORS
        return min(max(1 + (self._pause / PAUSE - 1) * TRUSTS, low), high)

    def learn(self, pause: int) -> None:
        """The caller paused so long and went on with the same turn."""
        low, high = PAUSES
        if pause < low:
            return
        self._pause += LEARNS * (min(pause, high) - self._pause)

    def delay(self, text: str) -> int:
        """The pause after these words that ends the turn, SHORTEST to LONGEST."""
        if text != self._words:
            self._words, self._complete = text, completeness(text, self.language)
        delay = float(_between(self._complete))
        if self._complete < CERTAIN:
            delay *= self.factor
        return round(min(max(delay, SHORTEST), LONGEST))


def _between(complete: float) -> float:
    """The delay of a completeness, on the line between the two points around it."""
    for (left, first), (right, second) in pairwise(DELAYS):
        if complete <= right:
            return first + (second - first) * (complete - left) / (right - left)
    return DELAYS[-1][1]
