"""Places for work that several users ask for, shared fairly between the users.

Owns two classes. `FairTurns` is the decision, without a clock or a task: who has a place, who waits, who is next.
`FairLane` is the thin shell around it: `async with lane.turn(user)` waits for a place and gives it back. Used where a job
is short and its kind is scarce: reading large requests, decoding files, imports,
transcriptions, counting prompts.

However much one user asks for, another user's next request is among the first: users take turns, one user never holds
every place (where there are two or more), and cannot fill the queue of the others either.
"""

from __future__ import annotations

import time
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import anyio

from duologue.errors import Busy
from duologue.threads import BUSY, PATIENCE, WAITING, Refusal

WAITING_PER_USER = 64
"""Turns of one user that may wait; the next one is refused."""
ASSUMED_SECONDS = 1.0
"""How long a turn is thought to take until one has ended."""
WEIGHT = 0.3
"""Weight of the latest turn in the moving average of how long turns take."""


class Turn:
    """One request for a place: `running` has one, the others wait. `since`: when it came, or when it began to run."""

    def __init__(self, user: str, since: float) -> None:
        self.user = user
        self.since = since
        self.running = False


class FairTurns:
    """At most `places` turns run at a time, at most `per_user` of them of one user. Times in seconds, of any origin.

    Among the users that wait, the one with the fewest running turns is next, then the one that was served longest ago.
    """

    def __init__(
        self,
        places: int,
        per_user: int | None = None,
        *,
        waiting: int = WAITING,
        waiting_per_user: int = WAITING_PER_USER,
    ) -> None:
        if places < 1:
            raise ValueError("a lane needs at least one place")
        self._places = places
        self._per_user = max(1, places - 1 if per_user is None else min(per_user, places))
        self._waiting, self._waiting_per_user = waiting, waiting_per_user
        self._queues: OrderedDict[str, deque[Turn]] = OrderedDict()
        self._running: Counter[str] = Counter()
        self._seconds = ASSUMED_SECONDS

    @property
    def waiting(self) -> int:
        """Turns that wait."""
        return sum(len(queue) for queue in self._queues.values())

    @property
    def running(self) -> int:
        """Turns that run."""
        return self._running.total()

    def enter(self, user: str, now: float) -> Turn | None:
        """A turn of this user, which runs already if a place is free. None where too many wait, of the user or in all."""
        turn = Turn(user, now)
        queue = self._queues.get(user)
        # A user who waits already comes after their own earlier turns.
        if not queue and self.running < self._places and self._running[user] < self._per_user:
            self._start(turn, now)
            return turn
        if self.waiting >= self._waiting or len(queue or ()) >= self._waiting_per_user:
            return None
        self._queues.setdefault(user, deque()).append(turn)
        return turn

    def leave(self, turn: Turn, now: float) -> tuple[Turn, ...]:
        """A turn ended, or gave up waiting. Returns the turns that run from now on."""
        if turn.running:
            turn.running = False
            self._seconds += WEIGHT * (max(0.0, now - turn.since) - self._seconds)
            self._running[turn.user] -= 1
            self._running += Counter()  # drops the entries that are zero
        elif (queue := self._queues.get(turn.user)) is not None and turn in queue:
            queue.remove(turn)
            if not queue:
                del self._queues[turn.user]
        started = []
        while self.running < self._places and (user := self._next_user()) is not None:
            queue = self._queues[user]
            started.append(queue.popleft())
            self._start(started[-1], now)
            if queue:
                self._queues.move_to_end(user)
            else:
                del self._queues[user]
        return tuple(started)

    def wait(self, user: str) -> float:
        """About how many seconds a new turn of this user would wait, by how long the last ones took."""
        before = len(self._queues.get(user, ())) + 1
        return self._seconds * max(before / self._per_user, (self.waiting + 1) / self._places)

    def _next_user(self) -> str | None:
        ready = [user for user in self._queues if self._running[user] < self._per_user]
        return min(ready, key=lambda user: self._running[user], default=None)  # the first of equals

    def _start(self, turn: Turn, now: float) -> None:
        turn.running, turn.since = True, now
        self._running[turn.user] += 1


class FairLane:
    """Fair turns for tasks. `patience`: seconds a turn waits at most; None: for ever.

    It belongs to no event loop, so it can be made when a module is imported.
    """

    def __init__(
        self,
        places: int,
        per_user: int | None = None,
        *,
        waiting: int = WAITING,
        waiting_per_user: int = WAITING_PER_USER,
        patience: float | None = PATIENCE,
        refusal: Refusal = BUSY,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._turns = FairTurns(places, per_user, waiting=waiting, waiting_per_user=waiting_per_user)
        self._patience, self._refusal, self._clock = patience, refusal, clock
        self._events: dict[Turn, anyio.Event] = {}

    @property
    def running(self) -> int:
        """Turns that run."""
        return self._turns.running

    @property
    def waiting(self) -> int:
        """Turns that wait."""
        return self._turns.waiting

    @asynccontextmanager
    async def turn(self, user: str) -> AsyncIterator[None]:
        """A place, for the length of the context. Raises Busy where too many wait or none came free in time; it says
        after how many seconds another try is worth it."""
        turn = self._turns.enter(user, self._clock())
        if turn is None:
            raise self._busy(self._refusal.full, user)
        try:
            if not turn.running:
                event = self._events[turn] = anyio.Event()
                # Only the wait is limited: a turn that has begun takes as long as it takes.
                with anyio.move_on_after(self._patience):
                    await event.wait()
                if not turn.running:
                    raise self._busy(self._refusal.timeout, user)
            yield
        finally:
            self._events.pop(turn, None)
            for started in self._turns.leave(turn, self._clock()):
                self._events[started].set()

    def _busy(self, sentence: str, user: str) -> Busy:
        return Busy(sentence, code=self._refusal.code, retry_after=self._turns.wait(user))
