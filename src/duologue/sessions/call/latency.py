"""Where the time of each turn went.

Owns the moments and their difference from the end of the caller's speech. Knows no clock: moments are seconds that are
handed in.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Literal

from duologue.values.call_events import TurnFigures

Moment = Literal[
    "endpoint", "transcript", "first_text", "first_clause", "first_sound", "first_heard", "interrupted"
]
KEPT = 16
"""Replies whose moments are kept at a time."""


class TurnLatency:
    """The moments of the replies that are under way; the first of each kind counts."""

    def __init__(self) -> None:
        self._begun: OrderedDict[int, tuple[int, float]] = OrderedDict()
        self._moments: dict[int, dict[Moment, float]] = {}

    def begin(self, reply: int, turn: int, ended: float) -> None:
        """A reply to this turn, whose speech ended at that moment, was asked for."""
        self._begun[reply] = (turn, ended)
        self._moments[reply] = {}
        while len(self._begun) > KEPT:
            self.forget(next(iter(self._begun)))

    def note(self, reply: int, moment: Moment, at: float) -> None:
        """This happened to the reply."""
        if reply in self._moments:
            self._moments[reply].setdefault(moment, at)

    def forget(self, reply: int) -> None:
        """It will not be heard."""
        self._begun.pop(reply, None)
        self._moments.pop(reply, None)

    def end(self, reply: int, epoch: int) -> TurnFigures | None:
        """The reply is over: its figures, in milliseconds from the end of the caller's speech. None where it answered
        nobody."""
        if reply not in self._begun:
            return None
        turn, ended = self._begun.pop(reply)
        moments = self._moments.pop(reply)
        after = {moment: round((at - ended) * 1000.0, 1) for moment, at in moments.items()}
        return TurnFigures(epoch, turn, reply, **after)
