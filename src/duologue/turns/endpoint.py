"""How long a pause must be to end a turn, from how complete the words are, how this caller pauses, and how it sounds.

`machine.py` asks after every fact. Durations are samples (16 kHz).
"""

from __future__ import annotations

from itertools import pairwise

from duologue.turns.completeness import completeness
from duologue.turns.settings import seconds
from duologue.turns.sound_estimate import adjust

SHORTEST = seconds(0.25)
LONGEST = seconds(1.6)

DELAYS = (
    (0.0, seconds(1.6)),
    (0.25, seconds(1.15)),
    (0.5, seconds(0.8)),
    (0.75, seconds(0.76)),
    (1.0, seconds(0.25)),
)
"""Points of completeness and the pause that ends a turn there. An incomplete turn is given longer than most people pause
for a word."""
CERTAIN = 0.85
"""From this completeness on, the caller's habit of pausing is ignored."""

PAUSE = seconds(0.45)
"""Typical pause within a turn, assumed until this caller is known."""
PAUSES = (seconds(0.2), seconds(1.2))
"""Pauses that are learnt from: shorter ones lie between words, longer ones are for thinking."""
LEARNS = 0.3
"""Weight of the newest pause in the running average."""
TRUSTS = 0.5
"""Share of the difference between this caller's pauses and the typical one that goes into the delay."""
FACTORS = (0.95, 1.6)
"""Bounds of that change. Hardly down: a caller who has not paused yet still may."""


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
        """The caller paused this long within a turn."""
        low, high = PAUSES
        if pause < low:
            return
        self._pause += LEARNS * (min(pause, high) - self._pause)

    def delay(self, text: str, probability: float | None = None) -> int:
        """The pause after these words that ends the turn, SHORTEST to LONGEST. `probability`: that their sound is a whole turn,
        where it is known."""
        if text != self._words:
            self._words, self._complete = text, completeness(text, self.language)
        delay = float(_between(self._complete))
        if self._complete < CERTAIN:
            delay *= self.factor
        if probability is not None:
            delay = adjust(delay, self._complete, probability)
        return round(min(max(delay, SHORTEST), LONGEST))


def _between(complete: float) -> float:
    """The delay at this completeness, interpolated linearly."""
    for (left, first), (right, second) in pairwise(DELAYS):
        if complete <= right:
            return first + (second - first) * (complete - left) / (right - left)
    return DELAYS[-1][1]
