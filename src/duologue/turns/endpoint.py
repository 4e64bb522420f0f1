"""When a pause is the end of a turn: by how complete the words so far are, and by how this caller pauses.

Owns the delay. Knows no frame and no word; durations are samples heard (16 kHz).
"""

from __future__ import annotations

from itertools import pairwise

from duologue.turns.completeness import completeness
from duologue.turns.settings import seconds

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
