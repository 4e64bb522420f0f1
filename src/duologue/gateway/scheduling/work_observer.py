"""How work in seats goes, for the metrics: the wait for a seat, the end, and the turns of calls.

`admin/metrics.py` implements it; calls and the speech service report. This one, for where nothing is measured, records nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from duologue.values.call_events import TurnFigures


def _nothing() -> None:
    pass


class WorkObserver:
    """Records nothing."""

    def seat_taken(self, kind: str, model: str = "") -> AbstractContextManager[Callable[[], None]]:
        """Around work of this kind in a seat of the voice, or on a worker of `model` that it has whole; gives what is called once the seat
        is there. The work failed if it raises a Problem, or an exception with a `problem`."""
        return nullcontext(_nothing)

    def turn_ended(self, model: str, turn: TurnFigures) -> None:
        """One turn of a call with this model ended."""
