"""The end of a turn by its sound: when the sound is asked, how long an answer counts, and how far it moves the delay.

A part of the turn machine, for calls whose voice has an estimator (`engines.contracts.TurnEndEstimator`). The delay comes from
the words (`endpoint.py`); the sound only lengthens or shortens it. Durations are samples (16 kHz).
"""

from __future__ import annotations

from collections.abc import Callable

from duologue.turns.decisions import Decision, EstimateTurnEnd
from duologue.turns.facts import TurnEndEstimated
from duologue.turns.settings import seconds

ASK_AFTER = seconds(0.192)
"""Silence after which the sound is asked: shorter gaps lie between words, and the model expects about this much."""
DEADLINE = seconds(0.6)
"""Time for an answer. Afterwards the words alone decide, so that a busy machine only loses what the sound would have added."""
LENGTHENS = 2.0
"""Factor of the delay where the words say nothing and the sound says that more follows."""
SHORTENS = 0.5
"""Factor where the words say nothing and the sound says that the turn is complete."""
WORD_PAUSE = seconds(0.72)
"""The sound never shortens a delay below this: people pause this long for a word, and half of the recordings of people that were
cut off sounded complete."""


def adjust(delay: float, completeness: float, probability: float) -> float:
    """The delay that the words chose, moved by the probability that the sound is a whole turn. The more the words tell, either
    way, the less it is moved; 0.5 changes nothing. A delay below WORD_PAUSE, which the words alone chose, is not shortened."""
    doubt = 1 - abs(2 * completeness - 1)
    lean = 2 * probability - 1
    factor = SHORTENS if lean > 0 else LENGTHENS
    return max(delay * (1 + doubt * abs(lean) * (factor - 1)), min(delay, WORD_PAUSE))


class SoundEstimate:
    """The question about the silence of the moment, and its answer. `enabled` False: nothing is ever asked."""

    def __init__(self, emit: Callable[[Decision], None], *, enabled: bool) -> None:
        self._emit = emit
        self._enabled = enabled
        self._asked: tuple[int, int] | None = None
        """The turn and the end of its speech that were asked about."""
        self._asked_at = 0
        self._answer: float | None = None

    def ask(self, turn: int, speech_end: int, silence: int, now: int) -> None:
        """Ask about this silence, once, as soon as it is long enough."""
        if not self._enabled or silence < ASK_AFTER or self._asked == (turn, speech_end):
            return
        self._asked, self._asked_at, self._answer = (turn, speech_end), now, None
        self._emit(EstimateTurnEnd(turn, now))

    def take(self, fact: TurnEndEstimated, now: int) -> None:
        """An answer. One that is late, or about an earlier silence, is ignored."""
        if self._asked is None or (self._asked[0], self._asked_at) != (fact.turn, fact.until):
            return
        if now - self._asked_at <= DEADLINE:
            self._answer = min(max(fact.probability, 0.0), 1.0)

    def probability(self, turn: int, speech_end: int) -> float | None:
        """The answer about the silence that began here; None: there is none."""
        return self._answer if self._asked == (turn, speech_end) else None
