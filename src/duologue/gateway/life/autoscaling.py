"""When a model gets another worker and when it loses one. Pure: figures and the time in, a decision with its reason out.

`scaler` measures and acts. A worker takes seconds to minutes to load, so the rules are slow and lopsided: one is added when the queue has
been long for a while, and removed only after it has been dispensable for much longer; each time a removal turns out to be wrong, the
next one waits twice as long.
"""

from __future__ import annotations

from typing import NamedTuple

LONG_FOR = 4.0
"""Seconds that the expected wait must stay long: a burst that one reply ends is no reason."""
SETTLE = 15.0
"""Seconds after a change before the next one is thought about: the new worker must have had an effect."""
NO_ROOM_FOR = 60.0
"""Seconds after which memory is looked at again when there was none."""
PATIENCE_GROWS = 8
"""The most by which the patience before a removal grows."""


class ScaleLimits(NamedTuple):
    """How many workers, the wait in seconds that calls for another, and the seconds one must be dispensable."""

    least: int = 1
    most: int = 1
    wait: float = 15.0
    idle: float = 300.0


class ScaleFacts(NamedTuple):
    """A model now: workers that serve, those on their way, slots of one worker, requests that run and that wait, the longest expected wait
    in seconds, whether memory permits another worker (None: not measured), and workers that failed and are tried again."""

    ready: int
    coming: int
    slots: int
    running: int
    waiting: int
    wait: float
    room: bool | None = None
    failed: int = 0


class Scale(NamedTuple):
    """One worker more (1), one fewer (-1), or none of both, and why."""

    by: int
    reason: str = ""


NOTHING = Scale(0)


class Autoscaler:
    """The decisions about one model. Times are seconds of a clock that never goes back."""

    def __init__(self, limits: ScaleLimits) -> None:
        self._limits = limits
        self._long_since: float | None = None
        self._spare_since: float | None = None
        self._changed = float("-inf")
        self._removed = float("-inf")
        self._no_room_until = float("-inf")
        self._patience = 1
        self.note = ""
        """Why the model has as many workers as it has, for admins."""

    def needs_room(self, facts: ScaleFacts, at: float) -> bool:
        """Whether `decide` would like to add a worker, so that memory should be measured, which takes a while."""
        self._observe(facts, at)
        return self._wants_more(facts, at) != ""

    def decide(self, facts: ScaleFacts, at: float) -> Scale:
        """What to do now. Called every few seconds, whatever happens."""
        self._observe(facts, at)
        if reason := self._wants_more(facts, at):
            if facts.room is False:
                self._no_room_until = at + NO_ROOM_FOR
                self.note = f"{reason}, but there is no memory for another worker"
                return NOTHING
            if at - self._removed < self._limits.idle * self._patience:
                self._patience = min(PATIENCE_GROWS, 2 * self._patience)
            return self._change(1, reason, at)
        if reason := self._wants_fewer(facts, at):
            self._removed = at
            return self._change(-1, reason, at)
        return NOTHING

    def failed(self, reason: str, at: float) -> None:
        """A worker that was added could not be loaded: it is not tried again at once."""
        self._no_room_until = at + NO_ROOM_FOR
        self.note = f"another worker could not be loaded: {reason}"

    def _change(self, by: int, reason: str, at: float) -> Scale:
        self._changed, self._long_since, self._spare_since = at, None, None
        self.note = reason
        return Scale(by, reason)

    def _observe(self, facts: ScaleFacts, at: float) -> None:
        if facts.wait < self._limits.wait or not facts.waiting:
            self._long_since = None
        elif self._long_since is None:
            self._long_since = at
        fewer = (facts.ready - 1) * facts.slots
        if facts.waiting or facts.coming or facts.ready <= 1 or facts.running > fewer * 3 // 4:
            self._spare_since = None
        elif self._spare_since is None:
            self._spare_since = at

    def _wants_more(self, facts: ScaleFacts, at: float) -> str:
        limits, workers = self._limits, facts.ready + facts.coming + facts.failed
        if facts.coming or workers >= limits.most or at < self._no_room_until or not facts.ready:
            return ""
        if workers < limits.least:
            return f"the settings keep {limits.least} workers"
        if self._long_since is None or at - self._long_since < LONG_FOR or at - self._changed < SETTLE:
            return ""
        return f"requests were waiting for {facts.wait:.0f} s"

    def _wants_fewer(self, facts: ScaleFacts, at: float) -> str:
        if facts.ready <= self._limits.least or self._spare_since is None:
            return ""
        patience = self._limits.idle * self._patience
        if at - self._spare_since < patience or at - self._changed < patience:
            return ""
        return f"one worker was dispensable for {patience:.0f} s"
