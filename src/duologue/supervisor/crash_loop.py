"""Whether a worker that keeps ending is given up for now, when it is tried again, and the sentence that says why. Pure: the time is an argument.

`gateway/workers/keeper.py` keeps one for each worker. Giving up means that requests no longer wait for it; it is still tried again,
with growing pauses, because the cause may pass.
"""

from __future__ import annotations

import signal
from typing import Literal, NamedTuple

from duologue.supervisor.restart_policy import backoff

STEADY = 10.0
"""Seconds after which a worker that was ready counts as steady: its next end is the first of a row again."""
STARTS = 3
"""Ends in a row before the worker was ready, after which it is given up."""
CRASHES = 5
"""Ends in a row soon after the worker was ready, after which it is given up: a request that kills it is sent again by its client."""
LONGEST = 300.0
"""The longest pause between two starts, in seconds."""
LINE = 300
"""Characters of the worker's last log line that the verdict repeats."""

Kind = Literal["end", "load_failed"]


class Cause(NamedTuple):
    """How a process ended: its exit code, or the negative signal (None: it still ran and was ended for `reason`); whether the system
    killed a process for want of memory meanwhile; the last line of its log; whether it hung."""

    code: int | None = None
    out_of_memory: bool = False
    last_line: str = ""
    reason: str = ""
    hung: bool = False

    def __str__(self) -> str:
        if self.reason:
            return self.reason
        if self.code is None:
            return "it was still running"
        if self.code >= 0:
            return f"exit code {self.code}"
        named = f"signal {-self.code}, {signal.strsignal(-self.code) or 'unknown'}"
        return f"{named}: the system was out of memory" if self.out_of_memory and self.code == -9 else named


class Verdict(NamedTuple):
    """Start it again after `pause` seconds. `given_up`: requests should not wait for it, for the reason in `sentence`."""

    pause: float
    given_up: bool = False
    sentence: str = ""


class CrashLoop:
    """The ends of one worker, in a row. Times are seconds of a clock that never goes back."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._before_ready = 0
        self._after_ready = 0
        self._load_failures = 0
        self._ready_at: float | None = None

    def started(self) -> None:
        """A process was started, or an attempt made; it is not ready yet."""
        self._ready_at = None

    def ready(self, at: float) -> None:
        """The worker has loaded its model."""
        self._ready_at = at
        self._before_ready = self._load_failures = 0

    def reset(self) -> None:
        """An admin asked for a new start: what happened before no longer counts."""
        self._before_ready = self._after_ready = self._load_failures = 0
        self._ready_at = None

    def load_failed(self) -> Verdict:
        """The worker itself reported why it cannot load its model, so that nothing has to be found out: 30, 60, 120 ... seconds.

        The reason may have gone by then: another process has freed its memory, a disk is mounted again."""
        self._load_failures += 1
        self._ready_at = None
        return Verdict(min(LONGEST, 30.0 * 2.0 ** min(self._load_failures - 1, 10)))

    def ended(self, cause: Cause, at: float) -> Verdict:
        """The process ended without being asked to."""
        if self._ready_at is None:
            self._before_ready += 1
            ends = self._before_ready + self._after_ready
            given_up = self._before_ready >= STARTS or ends >= CRASHES
        else:
            self._after_ready = self._after_ready + 1 if at - self._ready_at < STEADY else 1
            ends, given_up = self._after_ready, self._after_ready >= CRASHES
        was_ready, self._ready_at = self._ready_at is not None, None
        pause = backoff(ends)
        if not given_up:
            return Verdict(pause)
        pause = min(LONGEST, pause * 2.0 ** max(0, ends - CRASHES))
        return Verdict(pause, True, self._sentence(cause, ends, was_ready=was_ready))

    def _sentence(self, cause: Cause, ends: int, *, was_ready: bool) -> str:
        when = (
            f"soon after it was ready, {ends} times in a row"
            if was_ready
            else f"{ends} times before it was ready"
        )
        sentence = f"The worker of {self._model} ended {when}, at last with this: {cause}."
        if cause.last_line:
            sentence += f" Its log ended with: {cause.last_line[:LINE].rstrip('.')}."
        if cause.out_of_memory:
            sentence += " Choose a smaller model, a shorter context or fewer slots."
        return (
            f"{sentence} It is tried again, at most five minutes apart, or at once when an admin restarts it."
        )
