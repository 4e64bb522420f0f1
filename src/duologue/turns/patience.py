"""What is owed to a caller who waits: a filler, a word that it takes long, an end.

Owns the limits' order. Decides from one reply and the time; says nothing itself.
"""

from __future__ import annotations

from typing import Literal

from duologue.turns.reply_state import Saying
from duologue.turns.settings import TurnSettings

Due = Literal["filler", "slow", "give_up"] | None


def due(saying: Saying, now: int, settings: TurnSettings) -> Due:
    """What is due while nothing of the reply is to be heard. A wait for a tool or a person is filled once, and has a limit of
    its own; a model that gives nothing is announced, then given up."""
    if saying.waiting is not None:
        if now - saying.waiting >= settings.wait_limit:
            return "give_up"
        idle = now - max(saying.waiting, saying.progress)
        # Who was asked something is not told to wait.
        return "filler" if not (saying.filled or saying.asks) and idle >= settings.filler else None
    idle = now - saying.progress
    if idle >= settings.give_up:
        return "give_up"
    return "slow" if not saying.slow and idle >= settings.slow else None
