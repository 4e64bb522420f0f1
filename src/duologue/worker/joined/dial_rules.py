"""What a joined worker does when its connection to a gateway ends, depending on how it ended. Pure: the time and chance are arguments.

`GatewayLine` asks after each attempt. A session lives over broken connections as long as its lease; a gateway that has forgotten it gets a
new one; a problem that a person has to fix ends the worker, with a sentence.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from duologue.errors import Problem, Unauthorized
from duologue.wire.machines.join_protocol import ALREADY_JOINED, SESSION_UNKNOWN, Refuse, Welcome

FIRST_PAUSE = 0.1
"""Seconds before the first new attempt."""
LONGEST_PAUSE = 15.0
"""Seconds between two attempts at the most."""
LEASE = 20.0
"""Seconds of a lease until a gateway has said it."""


class Broken(NamedTuple):
    """The connection could not be made, or broke. `problem`: one that a person can fix, if it is one. `over`: the session cannot continue."""

    reason: str
    problem: Problem | None = None
    over: bool = False


class Again(NamedTuple):
    """Dial again after `pause` seconds; with a `fresh` session if the old one is over."""

    pause: float
    fresh: bool = False
    reason: str = ""


class GiveUp(NamedTuple):
    """Do not dial again: a person has to change something."""

    problem: Problem


class Rest(NamedTuple):
    """The worker has joined this gateway by another address: look again after `pause` seconds, with a fresh session."""

    pause: float


Decision = Again | GiveUp | Rest
Standing = Literal["same", "other", "twice"]


class GrowingPause:
    """The pauses between attempts: 0.05 to 0.1 s at first, then twice as long each time. Random, or all workers would come at once."""

    def __init__(self) -> None:
        self._attempts = 0

    def reset(self) -> None:
        """An attempt succeeded."""
        self._attempts = 0

    def next(self, chance: float) -> float:
        """Seconds to wait; `chance` is between 0 and 1."""
        longest = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(self._attempts, 20))
        self._attempts += 1
        return longest * (0.5 + chance / 2)


class DialRules:
    """One gateway."""

    def __init__(self) -> None:
        self.lease_s = LEASE
        self.gateway = ""
        """The id of the process that let the session in; "" before."""
        self._was_welcome = False
        self._pause = GrowingPause()
        self._lost_at: float | None = None

    @property
    def ends_at(self) -> float | None:
        """When the session ends if it is not let in again before; None while it is connected, or was never let in."""
        return None if self._lost_at is None or not self.gateway else self._lost_at + self.lease_s

    def fresh(self) -> None:
        """A new session begins."""
        self.gateway = ""
        self._lost_at = None

    def welcomed(self, welcome: Welcome, joined: frozenset[str]) -> Standing:
        """The gateway lets the worker in. `joined`: the ids of gateways that it has joined by other addresses. Gives whether the
        session goes on, the gateway is another process that cannot know of it, or the worker is there twice."""
        self._was_welcome = True
        self._pause.reset()
        if welcome.gateway in joined:
            return "twice"
        if self.gateway and welcome.gateway != self.gateway:
            return "other"
        self.gateway, self.lease_s, self._lost_at = welcome.gateway, welcome.lease_s, None
        return "same"

    def ended(self, end: Broken | Refuse, at: float, chance: float) -> Decision:
        """The connection ended, or was not let in. `chance` is between 0 and 1."""
        if self._lost_at is None:
            self._lost_at = at
        if isinstance(end, Refuse):
            return self._refused(end, chance)
        # A gateway that let the worker in before will do so again: its certificate may be about to be replaced, or its proxy restarted.
        if end.problem is not None and (not self._was_welcome or isinstance(end.problem, Unauthorized)):
            return GiveUp(end.problem)
        return Again(self._pause.next(chance), end.over, end.reason)

    def _refused(self, refuse: Refuse, chance: float) -> Decision:
        if refuse.code == SESSION_UNKNOWN:
            # Only the first time at once: a gateway that knows no session at all must not be asked in a circle.
            return Again(0.0 if self.gateway else self._pause.next(chance), fresh=True, reason=refuse.message)
        if refuse.code == ALREADY_JOINED:
            return Rest(refuse.retry_s or self.lease_s)
        if refuse.retry_s is None:
            return GiveUp(Problem(refuse.message, code=refuse.code, status=403))
        return Again(max(refuse.retry_s, self._pause.next(chance)), reason=refuse.message)
