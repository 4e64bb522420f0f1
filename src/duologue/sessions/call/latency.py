"""Where the time of each turn went, for the log and the metrics.

`session.py` notes moments as they happen; each is measured from the end of the caller's speech. Moments are seconds on
the call's clock.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Literal

from duologue.values.call_events import TurnFigures

Moment = Literal[
    "endpoint", "transcript", "first_text", "first_clause", "first_sound", "first_heard", "interrupted"
]
REPLIES = 16
"""Replies measured at a time."""


class TurnLatency:
    """The moments of the replies in progress. Only the first of each kind counts."""

    def __init__(self) -> None:
        self._turns: OrderedDict[int, tuple[int, float]] = OrderedDict()
        self._moments: dict[int, dict[Moment, float]] = {}

    def begin(self, reply: int, turn: int, speech_end: float) -> None:
        """Measure a reply to this turn, whose speech ended at that moment."""
        self._turns[reply] = (turn, speech_end)
        self._moments[reply] = {}
        while len(self._turns) > REPLIES:
            self.forget(next(iter(self._turns)))

    def note(self, reply: int, moment: Moment, at: float) -> None:
        """This happened to the reply. Ignored for replies that are not measured."""
        if reply in self._moments:
            self._moments[reply].setdefault(moment, at)

    def forget(self, reply: int) -> None:
        """The reply was dropped."""
        self._turns.pop(reply, None)
        self._moments.pop(reply, None)

    def end(self, reply: int, epoch: int, gaps: Sequence[float] = ()) -> TurnFigures | None:
        """The figures of a finished reply, in milliseconds from the end of the caller's speech. None for a reply that
        answered no turn. `gaps`: the silences inside it."""
        if reply not in self._turns:
            return None
        turn, speech_end = self._turns.pop(reply)
        moments = self._moments.pop(reply)
        durations = {moment: round((at - speech_end) * 1000.0, 1) for moment, at in moments.items()}
        return TurnFigures(epoch, turn, reply, **durations, gaps=tuple(gaps))
