"""Whether a worker still lives, by what it answers and by what its engine does. Pure: counts and times are arguments.

`connection.py` asks once a second. A worker answers pings from its event loop, while its engine works in a thread: a loop that stands
still is noticed within seconds, and a long prompt is no hang. An engine that gives no step has a limit of its own, a generous one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

BEAT = 1.0
"""Seconds between two pings, and between two looks at the engine."""
PATIENCE = 6
"""Beats that a ready worker may leave a ping without an answer. They are counted, so that a gateway that stood still itself, or a machine
that slept, blames nobody for it."""
DISK_PATIENCE = 30
"""The same while the process waits for the disk: a machine that swaps is slow, and a restart would make it slower."""
LOADING_PATIENCE = 600
"""The same while the worker loads its model: the constructors of some libraries hold the interpreter lock for minutes."""
CANCEL_SECONDS = 10.0
"""Seconds that a silent engine has to end the work that was cancelled."""


class Heartbeat:
    """The pings of one worker that were not answered, in a row."""

    def __init__(self) -> None:
        self._missed = 0

    def answered(self) -> None:
        self._missed = 0

    def missed(self, *, loading: bool, waits_for_disk: bool = False) -> bool:
        """One more beat without an answer. Gives whether the worker hangs."""
        self._missed += 1
        patience = LOADING_PATIENCE if loading else DISK_PATIENCE if waits_for_disk else PATIENCE
        return self._missed >= patience


class RunningWork(NamedTuple):
    """A reply that an engine writes. `began`, `cancelled`: seconds (None: not cancelled); `blocked`: its reader has not taken what was sent,
    so that the engine may not go on."""

    began: float
    cancelled: float | None = None
    blocked: bool = False


def judge_engine(
    works: Iterable[RunningWork], last_step: float, at: float, limit: float | None
) -> Literal["", "stalled", "hung"]:
    """What an engine's silence means. `last_step`: when any of its replies last moved, however little; a reply may wait for the prompt of
    another one. "stalled": replies should be cancelled; "hung": one that was cancelled did not end, so the process must be replaced.
    Without a `limit` it is never judged."""
    waiting = [work for work in works if not work.blocked]
    if limit is None or not waiting or at - max(last_step, min(work.began for work in waiting)) < limit:
        return ""
    cancelled = [work.cancelled for work in waiting if work.cancelled is not None]
    if cancelled and at - min(cancelled) >= CANCEL_SECONDS:
        return "hung"
    return "" if len(cancelled) == len(waiting) else "stalled"
