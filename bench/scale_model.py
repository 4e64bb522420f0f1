"""A department or a city in front of the scheduler: users, replies, workers and gateways as numbers, and the scheduler itself.

Used by `simulate_scale.py`. No clock runs and nothing is random but by a seed. The scheduler and the limiter are the project's own; what they cost is taken by
a function that the caller passes in. What users and models are like is assumed, and is said in `Users` and `Models`.
"""

from __future__ import annotations

import heapq
import math
import random
import statistics
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from duologue.gateway.scheduling.pool import REFRESH
from duologue.gateway.scheduling.queueing.places import NEAR
from duologue.gateway.scheduling.queueing.slots import QueueEntry
from duologue.gateway.scheduling.queueing.worker_table import MANY
from duologue.gateway.scheduling.scheduler import Command, Granted, Scheduler
from duologue.gateway.usage.key_limiter import KeyLimiter, LimitExceeded, LimitTime
from duologue.values.usage.key_limits import AppliedLimits

MODEL = "m"
NO_LIMIT = AppliedLimits(concurrent=1_000_000)


@dataclass(frozen=True)
class Users:
    """Active users: each reads, thinks and writes for a while, sends, and reads again. Lengths are log-normal: a median and the sigma of the
    logarithm."""

    think_median: float = 40.0
    think_sigma: float = 1.0
    tokens_median: float = 250.0
    tokens_sigma: float = 0.8
    prompt_tokens: float = 1500.0

    @property
    def think_mean(self) -> float:
        return self.think_median * math.exp(self.think_sigma**2 / 2)

    @property
    def tokens_mean(self) -> float:
        return self.tokens_median * math.exp(self.tokens_sigma**2 / 2)


@dataclass(frozen=True)
class Models:
    """Workers: replies at a time, tokens a second of each, seconds to read a prompt of which most is in the cache, and tokens that one
    message between processes carries."""

    slots: int = 16
    speed: float = 40.0
    reading: float = 0.5
    tokens_a_chunk: float = 1.0

    def seconds(self, tokens: float) -> float:
        return self.reading + tokens / self.speed


def users_of(workers: int, users: Users, models: Models, load: float) -> int:
    """Active users that keep so many workers busy to this part."""
    reply = models.seconds(users.tokens_mean)
    return int(workers * models.slots * load * (users.think_mean + reply) / reply)


def rate_of(active: int, users: Users, models: Models) -> float:
    """Replies a second that so many active users ask for, while nobody waits."""
    return active / (users.think_mean + models.seconds(users.tokens_mean))


@dataclass
class Outcome:
    """What came out: seconds waited by each reply, seconds that the scheduler and the limiter took for each event."""

    waits: list[float] = field(default_factory=list)
    costs: list[float] = field(default_factory=list)
    replies: int = 0
    seconds: float = 0.0
    busy: float = 0.0
    """Slots in use, on average."""

    @property
    def cost(self) -> float:
        return statistics.fmean(self.costs) if self.costs else 0.0

    @property
    def waiting(self) -> float:
        """How many waited, on average."""
        return sum(self.waits) / self.seconds if self.seconds else 0.0

    def wait(self, part: float) -> float:
        ordered = sorted(self.waits)
        return ordered[min(len(ordered) - 1, int(part * len(ordered)))] if ordered else 0.0


Timed = Callable[[Callable[[], object]], float]
"""Calls a function, and returns the seconds that it took."""


class Simulation:
    """One gateway's scheduler over all workers, of whose slots the other gateways use a part. `gateways`: how many share the users."""

    def __init__(
        self, workers: int, models: Models, users: Users, *, gateways: int = 1, seed: int = 1, timed: Timed
    ) -> None:
        self.scheduler = Scheduler(1_000_000)
        self.limiter = KeyLimiter()
        self._models, self._users, self._gateways, self._timed = models, users, gateways, timed
        self._random = random.Random(seed)
        self._number = 0
        self._events: list[tuple[float, int, Callable[[float], None]]] = []
        self._asked: dict[str, tuple[float, float, Callable[[float], None] | None]] = {}
        self._outcome = Outcome()
        self._held, self._since = 0, 0.0
        self._workers = [f"w{number}" for number in range(workers)]
        for name in self._workers:
            self.scheduler.worker_ready(name, MODEL, models.slots, 0.0)

    # ---- users

    def closed(self, active: int, seconds: float) -> Outcome:
        """So many users, each of whom waits for a reply before the next thought."""
        for _ in range(active):
            self._later(self._random.random() * self._users.think_mean, self._ask_again)
        return self._run(seconds, None)

    def open(self, rate: float, events: int, load: float) -> Outcome:
        """Replies of so many users that none of them matters, from the middle of a day on: a part `load` of the slots is in use already."""
        self._occupy(load)

        def came(at: float) -> None:
            self._later(at + self._random.expovariate(rate), came)
            self._ask(at, None)

        self._later(self._random.expovariate(rate), came)
        return self._run(math.inf, events)

    def waiting(self, count: int = 25) -> float:
        """The seconds of an event while every slot is in use and so many wait: a reply ends, and another one is asked for. More than the
        20 that are told each step make it no slower."""
        self._occupy(1.0)
        for _ in range(count):
            self._ask(0.0, None)
        self._outcome = Outcome()
        for number in range(3):
            name = self._workers[number % len(self._workers)]
            ticket = f"{name}/{number // len(self._workers)}"
            slot = number // len(self._workers)
            self._charge(partial(self.scheduler.release, ticket, name, slot, 1.0))
            self._ask(1.0, None)
        return self._outcome.cost

    def _occupy(self, load: float) -> None:
        """Slots in use since before: ours end as time goes by, those of others are in use all the time."""
        workers = self.scheduler._workers.on(MODEL)
        for name in self._workers:
            for number in range(round(self.scheduler.slots(name) * load)):
                ticket = f"{name}/{number}"
                workers.lend(name, (number,), QueueEntry(ticket, MODEL, 1, "chat", (), 0.0), 0.0)
                if self._random.random() < 1 / self._gateways:
                    rest = self._random.random() * self._models.seconds(self._tokens())
                    self._later(rest, partial(self._free, ticket, name, number))

    # ---- events

    def _later(self, at: float, do: Callable[[float], None]) -> None:
        self._number += 1
        heapq.heappush(self._events, (at, self._number, do))

    def _run(self, seconds: float, events: int | None) -> Outcome:
        while self._events and (events is None or len(self._outcome.costs) < events):
            at, _, do = heapq.heappop(self._events)
            if at > seconds:
                break
            self._outcome.busy += self._held * (at - self._since)
            self._since = self._outcome.seconds = at
            do(at)
        self._outcome.busy /= max(1e-9, self._since)
        return self._outcome

    def _tokens(self) -> float:
        return self._random.lognormvariate(math.log(self._users.tokens_median), self._users.tokens_sigma)

    def _ask_again(self, at: float) -> None:
        def ended(at: float) -> None:
            think = self._random.lognormvariate(math.log(self._users.think_median), self._users.think_sigma)
            self._later(at + think, self._ask_again)

        self._ask(at, ended)

    def _ask(self, at: float, ended: Callable[[float], None] | None) -> None:
        self._number += 1
        ticket = f"t{self._number}"
        share = f"key{self._number % 1000}"
        self._asked[ticket] = (at, self._tokens(), ended)
        prompt = 4 * self._users.prompt_tokens

        def request() -> list[Command]:
            now = LimitTime(at, 1_800_000_000 + at)
            reserved = self.limiter.begin(share, NO_LIMIT, 500, now)
            if not isinstance(reserved, LimitExceeded):
                self.limiter.end(reserved, 300, now)
            return self.scheduler.request(ticket, MODEL, at, share=share, prompt=prompt)

        self._carry_out(self._charge(request), at)

    def _free(self, ticket: str, worker: str, slot: int, at: float) -> None:
        self._carry_out(self._charge(lambda: self.scheduler.release(ticket, worker, slot, at)), at)

    def _charge(self, work: Callable[[], list[Command]]) -> list[Command]:
        commands: list[Command] = []
        self._outcome.costs.append(self._timed(lambda: commands.extend(work())))
        return commands

    def _carry_out(self, commands: list[Command], at: float) -> None:
        for command in commands:
            if not isinstance(command, Granted):
                continue
            asked, tokens, ended = self._asked.pop(command.ticket)
            self._outcome.waits.append(at - asked)
            self._held += 1

            def end(at: float, held: Granted = command, then: Callable[[float], None] | None = ended) -> None:
                self._held -= 1
                self._outcome.replies += 1
                self._free(held.ticket, held.worker, held.slots[0], at)
                if then is not None:
                    then(at)

            self._later(at + self._models.seconds(tokens), end)


@dataclass(frozen=True)
class Costs:
    """What this code costs, as `simulate_scale.py --calibrate` measured it. Seconds of a core, bytes, writes."""

    request: float
    """A reply, with all that is not its text, in the gateway."""
    chunk: float
    """A chunk of its text where many come at full speed."""
    client_bytes: float
    """Memory of a client that waits."""
    worker: float
    """A second of a worker that has nothing to do, in the gateway."""
    worker_chunk: float
    """A chunk in a worker that only passes it on."""
    saves: float
    """Commits of a reply of the page, and those for each of its seconds."""
    saves_a_second: float
    commits: float
    """Commits a second that the database did, with as many connections as a gateway has."""
    notice: float
    """A notice that a gateway hears."""
    notice_sent: float = 0.0
    paced: tuple[tuple[float, float], ...] = ()
    """A chunk where they come at the pace of models: chunks a second of the gateway, and the cost of each, in growing order. The fewer come, the more often
    each of them wakes the processes alone."""
    place: float = 0.0
    """A place in the queue that is told to a client."""
    waiting: float = 0.0
    """A second of a client that waits far back: the forecast goes over it every few seconds, and tells it now and then."""
    when: str = ""
    machine: str = ""
    load: float = 0.0

    def relayed(self, rate: float) -> float:
        """The cost of a chunk in a gateway that relays so many a second: between what was measured, by the logarithm of the rate; beyond it the
        nearest one, so that nothing is promised that was not measured."""
        if not self.paced:
            return self.chunk
        below = [point for point in self.paced if point[0] <= rate]
        above = [point for point in self.paced if point[0] > rate]
        if not below or not above:
            return (below or above)[-1 if below else 0][1]
        (low, dear), (high, cheap) = below[-1], above[0]
        part = math.log(rate / low) / math.log(high / low)
        return dear + part * (cheap - dear)

    def places(self, waiting: float, granted: float, slots: float) -> float:
        """Seconds a second for the places of so many waiting clients, of whom `granted` get a slot each second, on so many slots: those near the head are
        told every few seconds, and where slots are few whenever one before them got its slot."""
        near = min(waiting, NEAR)
        told = near / REFRESH + (near * granted if slots <= MANY else 0.0)
        return told * self.place + max(0.0, waiting - NEAR) * self.waiting


@dataclass(frozen=True)
class Demand:
    """What one size asks of each part: the part of it that is in use, 1 for all of it."""

    workers: int
    active: int
    gateways: int
    replies: float
    chunks: float
    scheduler: float
    relay: float
    requests: float
    idle: float
    notices: float
    places: float
    database: float
    memory: float
    """GiB of a gateway."""

    @property
    def gateway(self) -> float:
        """The event loop of each gateway, in cores."""
        return self.scheduler + self.relay + self.requests + self.idle + self.notices + self.places

    @property
    def busiest(self) -> str:
        """What most of a gateway's work is."""
        parts = {
            "scheduler": self.scheduler,
            "relay of text": self.relay,
            "requests": self.requests,
            "idle workers": self.idle,
            "notices": self.notices,
            "places in the queue": self.places,
        }
        return max(parts, key=lambda name: parts[name])

    @property
    def bottleneck(self) -> str:
        """What is used most: the database, or the event loop of a gateway."""
        return "database" if self.database > self.gateway else f"event loop: {self.busiest}"


def demand(
    workers: int,
    active: int,
    gateways: int,
    event: float,
    costs: Costs,
    users: Users,
    models: Models,
    waiting: float = 0.0,
) -> Demand:
    """What so many users ask of so many gateways. `event`: the seconds of an event of the scheduler with that many workers; `waiting`: how many of
    the users wait for a slot, on average."""
    replies = rate_of(active, users, models)
    chunks = replies * users.tokens_mean / models.tokens_a_chunk
    seconds = models.seconds(users.tokens_mean)
    commits = replies * (costs.saves + costs.saves_a_second * seconds)
    own = 1 / gateways
    # Each reply begins and ends; what a gateway grants or frees the workers tell the others, which look again.
    notices = 2 * replies
    return Demand(
        workers,
        active,
        gateways,
        replies,
        chunks,
        scheduler=2 * replies * own * event,
        relay=chunks * own * costs.relayed(chunks * own),
        requests=replies * own * costs.request,
        idle=workers * costs.worker,
        notices=0.0 if gateways == 1 else notices * costs.notice,
        places=costs.places(waiting * own, replies * own, workers * models.slots),
        database=commits / costs.commits,
        memory=(active * own * costs.client_bytes) / 2**30,
    )


def gateways_for(
    workers: int,
    active: int,
    event: float,
    costs: Costs,
    users: Users,
    models: Models,
    *,
    waiting: float = 0.0,
    most: float = 0.6,
) -> Demand:
    """The fewest gateways of which none is busier than `most` of a core; those that are best where no number is enough."""
    best: Demand | None = None
    for gateways in (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128):
        asked = demand(workers, active, gateways, event, costs, users, models, waiting)
        if best is None or asked.gateway < best.gateway:
            best = asked
        if asked.gateway <= most:
            return asked
    assert best is not None
    return best
