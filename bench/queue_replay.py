"""Replays a recorded load over the pure scheduler, and scores what it tells: the waits it told against the waits that came true.

Used by `bench_queue.py` and its tests. No clock runs: the requests take what was recorded, and the scheduler decides when. At each moment at which places are
told (a request comes, and every 3 s) three forecasts are made of the same queue: the scheduler's own, that of a moving average as it was
before, and that of an oracle which knows how long everything will take.
"""

from __future__ import annotations

import heapq
import json
import statistics
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from duologue.gateway.scheduling.eta import BASES, FALLBACK, Estimates, Job, SlotProgress
from duologue.gateway.scheduling.scheduler import Command, Granted, Scheduler

REFRESH = 3.0
REPORT = 0.5
MODEL = "m"


@dataclass(frozen=True)
class LoadRequest:
    """A request as it was recorded. Seconds, characters, tokens. `most`: its bound on tokens."""

    at: float
    share: str
    prompt: int
    tokens: int
    reading: float
    writing: float
    most: int | None = None
    kind: str = "chat"

    @property
    def seconds(self) -> float:
        return self.reading + self.writing


@dataclass(frozen=True)
class QueueLoad:
    """What came to a model with so many slots."""

    about: str
    slots: int
    requests: Sequence[LoadRequest]

    @classmethod
    def read(cls, path: Path) -> QueueLoad:
        recorded: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        requests = [LoadRequest(**request) for request in recorded["requests"]]
        return cls(recorded["about"], recorded["slots"], requests)


class MovingAverage:
    """The estimates of versions before: an average of each kind, and 15 s for whatever takes longer than that."""

    ALPHA, MINIMUM, OVERDUE = 0.3, 3, 15.0

    def __init__(self) -> None:
        self._average: dict[str, float] = {}
        self._samples: dict[str, int] = {}

    def observe(self, kind: str, seconds: float) -> None:
        last = self._average.get(kind, seconds)
        self._average[kind] = last + self.ALPHA * (seconds - last)
        self._samples[kind] = self._samples.get(kind, 0) + 1

    def expected(self, job: Job) -> float:
        if self._samples.get(job.kind, 0) >= self.MINIMUM:
            return self._average[job.kind]
        return BASES.get(job.kind, FALLBACK)

    def remaining(self, job: Job, progress: SlotProgress, at: float) -> float:
        elapsed, expected = at - progress.since, self.expected(job)
        return expected - elapsed if elapsed < expected else self.OVERDUE

    def start_remaining(self, model: str, elapsed: float) -> float:
        return 0.0


class Oracle:
    """Knows how long each request takes."""

    def __init__(self, requests: Mapping[str, LoadRequest]) -> None:
        self._requests = requests

    def expected(self, job: Job) -> float:
        return self._requests[job.ticket].seconds

    def remaining(self, job: Job, progress: SlotProgress, at: float) -> float:
        return max(0.0, progress.since + self.expected(job) - at)

    def start_remaining(self, model: str, elapsed: float) -> float:
        return 0.0


@dataclass
class Replay:
    """What came of a load. `told`: for each forecast the waits that it told: (ticket, at, seconds)."""

    told: dict[str, list[tuple[str, float, float]]] = field(default_factory=dict)
    began: dict[str, float] = field(default_factory=dict)
    shares: dict[str, str] = field(default_factory=dict)
    served: dict[str, float] = field(default_factory=dict)
    """Slot-seconds that each share had."""
    counts: dict[str, int] = field(default_factory=dict)
    """Requests of each share that ended."""

    def error(self, name: str, after: float = 0.0) -> float:
        """The mean of how far the told waits were from the true ones, in seconds."""
        errors = [
            abs(seconds - (self.began[ticket] - at))
            for ticket, at, seconds in self.told[name]
            if ticket in self.began and at >= after
        ]
        return statistics.fmean(errors) if errors else 0.0

    def waits(self) -> float:
        """The mean wait that was told about, in seconds."""
        waits = [self.began[ticket] - at for ticket, at, _ in self.told["ours"] if ticket in self.began]
        return statistics.fmean(waits) if waits else 0.0

    def skill(self) -> float:
        """How far the scheduler's forecast is on the way from the moving average (0) to the oracle (1)."""
        average, oracle = self.error("average"), self.error("oracle")
        return (average - self.error("ours")) / (average - oracle)

    def by_ticket(self) -> Iterator[list[tuple[float, float]]]:
        """What each ticket was told one after another: (at, seconds)."""
        told: dict[str, list[tuple[float, float]]] = {}
        for ticket, at, seconds in self.told["ours"]:
            told.setdefault(ticket, []).append((at, seconds))
        yield from told.values()


def jain(amounts: Sequence[float]) -> float:
    """Jain's fairness index: 1 if all are equal, 1/n if one has everything."""
    squares = sum(amount * amount for amount in amounts)
    return sum(amounts) ** 2 / (len(amounts) * squares) if squares else 1.0


class _Run:
    """A load in progress. Events are (at, order, what, ticket, slot)."""

    def __init__(self, load: QueueLoad, until: float) -> None:
        self.load, self.until = load, until
        self.requests = {f"q_{number}": request for number, request in enumerate(load.requests)}
        self.scheduler = Scheduler()
        self.average = MovingAverage()
        self.forecasts: dict[str, Estimates] = {
            "ours": self.scheduler.estimator,
            "average": self.average,
            "oracle": Oracle(self.requests),
        }
        self.replay = Replay({name: [] for name in self.forecasts})
        self._events: list[tuple[float, int, str, str, int]] = []
        self._number = 0

    def run(self) -> Replay:
        self.scheduler.worker_ready("w", MODEL, self.load.slots, 0.0)
        for ticket, request in self.requests.items():
            self.replay.shares[ticket] = request.share
            self._plan(request.at, "come", ticket)
        self._plan(REFRESH, "refresh")
        while self._events:
            at, _, what, ticket, slot = heapq.heappop(self._events)
            if at > self.until or (what == "refresh" and not self._events):
                break
            getattr(self, f"_{what}")(ticket, slot, at)
        return self.replay

    def _plan(self, at: float, what: str, ticket: str = "", slot: int = 0) -> None:
        self._number += 1
        heapq.heappush(self._events, (at, self._number, what, ticket, slot))

    def _obey(self, commands: Sequence[Command], at: float) -> None:
        for command in commands:
            if isinstance(command, Granted):
                request, [slot] = self.requests[command.ticket], command.slots
                self.replay.began[command.ticket] = at
                self._plan(at + request.reading, "write", command.ticket, slot)
                self._plan(at + request.seconds, "end", command.ticket, slot)

    def _come(self, ticket: str, _: int, at: float) -> None:
        request = self.requests[ticket]
        commands = self.scheduler.request(
            *(ticket, MODEL, at),
            kind=request.kind,
            share=request.share,
            prompt=request.prompt,
            most=request.most,
        )
        self._obey(commands, at)
        self._tell(at, ticket)

    def _write(self, ticket: str, slot: int, at: float) -> None:
        request = self.requests[ticket]
        written = at - self.replay.began[ticket] - request.reading
        part = min(1.0, written / request.writing) if request.writing else 1.0
        self.scheduler.progress(ticket, "w", slot, max(1, int(request.tokens * part)), at)
        if part < 1.0:
            self._plan(at + REPORT, "write", ticket, slot)

    def _end(self, ticket: str, slot: int, at: float) -> None:
        request, share = self.requests[ticket], self.replay.shares[ticket]
        job = Job(MODEL, request.kind, request.prompt)
        self.scheduler.estimator.replied(job, request.tokens, request.reading, request.writing)
        self.average.observe(request.kind, request.seconds)
        self.replay.served[share] = self.replay.served.get(share, 0.0) + request.seconds
        self.replay.counts[share] = self.replay.counts.get(share, 0) + 1
        self._obey(self.scheduler.release(ticket, "w", slot, at), at)

    def _refresh(self, _: str, __: int, at: float) -> None:
        self._tell(at)
        self._plan(at + REFRESH, "refresh")

    def _tell(self, at: float, ticket: str = "") -> None:
        for name, forecast in self.forecasts.items():
            for moved in self.scheduler.places(at, forecast):
                if ticket in ("", moved.ticket):
                    self.replay.told[name].append((moved.ticket, at, moved.wait))


def replay(load: QueueLoad, until: float = float("inf")) -> Replay:
    """Run a load to its end, or for so many seconds."""
    return _Run(load, until).run()


def fair_parts(keys: Mapping[str, int], slots: int) -> dict[str, float]:
    """The slots that each key would have if they were shared out evenly and none had more than it can use (max-min)."""
    parts: dict[str, float] = {}
    left, free = dict(keys), float(slots)
    while left:
        even = free / len(left)
        small = [key for key, most in left.items() if most <= even] or list(left)
        for key in small:
            parts[key] = min(float(left.pop(key)), even)
            free -= parts[key]
    return parts


def overloaded(
    keys: Mapping[str, int], *, slots: int, seconds: float, fair: bool = True, each: float = 2.0
) -> dict[str, float]:
    """Slot-seconds of each key, where each always has so many requests under way: the next comes when one has ended. Not `fair`: as one
    share, so first come, first served."""
    scheduler, events, number = Scheduler(), list[tuple[float, int, str, int]](), 0
    scheduler.worker_ready("w", MODEL, slots, 0.0)
    served = dict.fromkeys(keys, 0.0)

    def obey(commands: Sequence[Command], at: float) -> None:
        for command in commands:
            if isinstance(command, Granted):
                # Not all take equally long, so that they do not end together.
                takes = each * (0.8 + 0.4 * (hash_of(command.ticket) / 1000))
                heapq.heappush(events, (at + takes, len(events), command.ticket, command.slots[0]))

    def come(key: str, at: float) -> None:
        nonlocal number
        number += 1
        obey(scheduler.request(f"{key}:{number}", MODEL, at, share=key if fair else ""), at)

    for key, under_way in keys.items():
        for _ in range(under_way):
            come(key, 0.0)
    while events:
        at, _, ticket, slot = heapq.heappop(events)
        if at > seconds:
            break
        key = ticket.split(":")[0]
        [task] = [task for task in scheduler.tasks(at) if task.ticket == ticket]
        served[key] += task.elapsed
        obey(scheduler.release(ticket, "w", slot, at), at)
        come(key, at)
    return served


def hash_of(text: str) -> int:
    """A number below 1000 that is the same in every run."""
    return zlib.crc32(text.encode()) % 1000
