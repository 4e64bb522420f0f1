"""The one dispatch point: who gets which slot of which worker, and who waits where.

A pure machine: facts come in with the time, commands go out. First come, first served for each model; a request
that needs several slots at its model's head waits until one worker has them, and nobody overtakes it but the replies of
calls: somebody holds their breath there. They go ahead of the line, into half of a model's slots and at least one. Among
free slots it prefers the one whose cache already holds the conversation's beginning. Knows no socket, task or clock.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct

from duologue.gateway.scheduling.eta import Estimator, waits

Chain = tuple[bytes, ...]
"""Digests of a conversation's beginnings: item i stands for its first i + 1 messages."""

Standing = Literal["starting", "up", "failed"]


class Granted(Struct, frozen=True):
    """The ticket has these slots of this worker, until each is released."""

    ticket: str
    worker: str
    slots: tuple[int, ...]


class Moved(Struct, frozen=True):
    """The ticket waits at `position` (from 1) of `length`, for about `wait` seconds more."""

    ticket: str
    position: int
    wait: float
    length: int


class Refused(Struct, frozen=True):
    """The ticket will not be served, and why."""

    ticket: str
    code: str
    message: str


Command = Granted | Moved | Refused


class Slot(Struct):
    """One running generation's place. `chain` is what its cache held last, `used` when; `opening` what stands before all
    messages there."""

    ticket: str | None = None
    kind: str = ""
    since: float = 0.0
    ahead: bool = False
    chain: Chain = ()
    opening: bytes = b""
    used: float = float("-inf")


class WorkerSlots(Struct):
    """A worker as the queue sees it."""

    model: str
    standing: Standing
    slots: list[Slot]
    detail: str = ""


class QueueEntry(Struct):
    """A waiting request."""

    ticket: str
    model: str
    need: int
    kind: str
    chain: Chain
    since: float
    ahead: bool = False
    opening: bytes = b""
    told: int = 0


class Task(Struct, frozen=True):
    """A running request, for the status page. Times in seconds."""

    ticket: str
    worker: str
    kind: str
    elapsed: float
    remaining: float


def kept(cached: Chain, asked: Chain) -> int:
    """How many messages of a slot's cache serve the request; 0 unless they are more than half of what it holds.

    A system prompt in common is no reason to overwrite somebody's running conversation while another slot is free.
    """
    count = 0
    for left, right in zip(cached, asked, strict=False):
        if left != right:
            break
        count += 1
    return count if 2 * count > len(cached) else 0


def serves(slot: Slot, entry: QueueEntry) -> float:
    """How much of a slot's cache serves the request: messages, or at least what stands before them, where nobody's
    messages are behind that."""
    opened = not slot.chain and bool(entry.opening) and slot.opening == entry.opening
    return kept(slot.chain, entry.chain) or (0.5 if opened else 0)


NO_MODEL = (
    "No model is loaded. Load one on the models page, or start the server again; `duologue models list` shows what is "
    "here."
)


def unloaded(model: str) -> str:
    """What is told to whoever used, or waited for, a model that was taken away."""
    return f"The model {model!r} was unloaded. Choose another model, or have it loaded again."


class Scheduler:
    """The waiting line and the slots. Every method takes the time `at` (seconds, any origin) and returns commands."""

    def __init__(self, limit: int = 1000, estimator: Estimator | None = None) -> None:
        self.limit = limit
        self.estimator = estimator or Estimator()
        self._workers: dict[str, WorkerSlots] = {}
        self._waiting: dict[str, QueueEntry] = {}
        self._totals: dict[str, tuple[int, float]] = {}

    # ---- facts about workers

    def worker_starting(self, name: str, model: str, at: float) -> list[Command]:
        """The worker is (re)starting: whatever ran on it is gone, whoever waits for its model goes on waiting."""
        self._workers[name] = WorkerSlots(model, "starting", [])
        return self._dispatch(at)

    def worker_up(self, name: str, model: str, slots: int, at: float) -> list[Command]:
        """The worker is ready with this many slots, all free and cold."""
        self._workers[name] = WorkerSlots(model, "up", [Slot() for _ in range(slots)])
        return self._dispatch(at)

    def worker_failed(self, name: str, model: str, detail: str, at: float) -> list[Command]:
        """The worker cannot serve. Those who wait for a model that nobody else serves are refused."""
        self._workers[name] = WorkerSlots(model, "failed", [], detail)
        refused: list[Command] = []
        for entry in list(self._waiting.values()):
            if (refusal := self._hopeless(entry.ticket, entry.model)) is not None:
                del self._waiting[entry.ticket]
                refused.append(refusal)
        return refused + self._dispatch(at)

    def worker_gone(self, name: str, at: float) -> list[Command]:
        """The worker was taken away for good. Those who wait for a model that no other worker has are refused."""
        if (gone := self._workers.pop(name, None)) is None:
            return []
        self._totals.pop(name, None)
        refused: list[Command] = []
        for entry in [entry for entry in self._waiting.values() if entry.model == gone.model]:
            if (refusal := self._hopeless(entry.ticket, entry.model)) is None:
                continue
            if all(worker.model != gone.model for worker in self._workers.values()):
                refusal = Refused(entry.ticket, "model_unloaded", unloaded(gone.model))
            del self._waiting[entry.ticket]
            refused.append(refusal)
        return refused + self._dispatch(at)

    # ---- requests

    def ask(
        self,
        ticket: str,
        model: str,
        at: float,
        *,
        need: int = 1,
        kind: str = "chat",
        chain: Chain = (),
        opening: bytes = b"",
        ahead: bool = False,
    ) -> list[Command]:
        """Ask for `need` slots at once (capped at what the model's largest worker has). `ahead`: before those who are not,
        as far as half of the model's slots go."""
        if (refusal := self._hopeless(ticket, model)) is not None:
            return [refusal]
        if len(self._waiting) >= self.limit:
            return [
                Refused(
                    ticket,
                    "queue_full",
                    f"The queue is full: {len(self._waiting)} requests wait. Try again in a moment, "
                    "or raise queue.limit.",
                )
            ]
        self._waiting[ticket] = QueueEntry(ticket, model, max(1, need), kind, chain, at, ahead, opening)
        return self._dispatch(at)

    def cancel(self, ticket: str, at: float) -> list[Command]:
        """A waiting request is withdrawn; nothing of it stays."""
        if self._waiting.pop(ticket, None) is None:
            return []
        return self._dispatch(at)

    def release(self, ticket: str, worker: str, slot: int, at: float) -> list[Command]:
        """Give one slot back. A ticket that does not hold it (its worker restarted meanwhile) changes nothing."""
        held = self._slot(worker, slot)
        if held is None or held.ticket != ticket:
            return []
        self.estimator.observe(held.kind, at - held.since)
        served, seconds = self.totals(worker)
        self._totals[worker] = (served + 1, seconds + at - held.since)
        held.ticket, held.used = None, at
        return self._dispatch(at)

    # ---- views

    def place(self, ticket: str, at: float) -> Moved | None:
        """Where a waiting ticket stands now, or None when it does not wait."""
        return next((moved for moved in self._places(at) if moved.ticket == ticket), None)

    def places(self, at: float) -> list[Moved]:
        """Everyone who waits, in order."""
        return list(self._places(at))

    def entries(self) -> list[QueueEntry]:
        """The waiting requests, in the order of the line."""
        return self._line()

    def tasks(self, at: float) -> list[Task]:
        """The running requests, one row a slot."""
        return [
            Task(slot.ticket, name, slot.kind, at - slot.since, self._remaining(slot, at))
            for name, worker in self._workers.items()
            for slot in worker.slots
            if slot.ticket is not None
        ]

    def busy(self, worker: str) -> int:
        """How many of a worker's slots are lent."""
        seen = self._workers.get(worker)
        return sum(slot.ticket is not None for slot in seen.slots) if seen else 0

    def totals(self, worker: str) -> tuple[int, float]:
        """How many generations a worker has served, and their seconds together."""
        return self._totals.get(worker, (0, 0.0))

    def slots(self, worker: str) -> int:
        """How many slots a worker has."""
        seen = self._workers.get(worker)
        return len(seen.slots) if seen else 0

    # ---- the decision

    def _dispatch(self, at: float) -> list[Command]:
        """Serve whoever can be served, in order; tell those whose place changed."""
        commands: list[Command] = []
        blocked: set[str] = set()
        for entry in self._line():
            if entry.model in blocked or (entry.ahead and not self._room_ahead(entry.model)):
                continue
            granted = self._grant(entry, at)
            if granted is None:
                blocked.add(entry.model)
                continue
            del self._waiting[entry.ticket]
            commands.append(granted)
        for moved in self._places(at):
            entry = self._waiting[moved.ticket]
            # Every step near the head, every twentieth part further back: whoever waits behind hundreds need not hear
            # of each one that was served, and all of them at once would hold up those who are being answered.
            if abs(entry.told - moved.position) > moved.position // 20:
                entry.told = moved.position
                commands.append(moved)
        return commands

    def _line(self) -> list[QueueEntry]:
        return sorted(self._waiting.values(), key=lambda entry: not entry.ahead)  # stable: oldest first

    def _room_ahead(self, model: str) -> bool:
        """Whether one more of those who go ahead may have a slot: they never have all of several."""
        slots = [
            slot for worker in self._workers.values() if self._serves(worker, model) for slot in worker.slots
        ]
        return sum(slot.ticket is not None and slot.ahead for slot in slots) < max(1, len(slots) // 2)

    def _grant(self, entry: QueueEntry, at: float) -> Granted | None:
        choice = self._choose(entry)
        if choice is None:
            return None
        name, numbers = choice
        for number in numbers:
            slot = self._workers[name].slots[number]
            slot.ticket, slot.kind, slot.since, slot.chain = entry.ticket, entry.kind, at, entry.chain
            slot.ahead, slot.opening = entry.ahead, entry.opening
        return Granted(entry.ticket, name, numbers)

    def _choose(self, entry: QueueEntry) -> tuple[str, tuple[int, ...]] | None:
        """The worker and slots whose caches serve the request best; then the longest unused."""
        up = [(name, worker) for name, worker in self._workers.items() if self._serves(worker, entry.model)]
        need = min(entry.need, max((len(worker.slots) for _, worker in up), default=1))
        best: tuple[tuple[float, int, float], str, tuple[int, ...]] | None = None
        for name, worker in up:
            free = sorted(
                (-serves(slot, entry), slot.used, number)
                for number, slot in enumerate(worker.slots)
                if slot.ticket is None
            )
            if len(free) < need:
                continue
            score = (-free[0][0], len(free), -free[0][1])
            if best is None or score > best[0]:
                best = (score, name, tuple(number for _, _, number in free[:need]))
        return None if best is None else best[1:]

    @staticmethod
    def _serves(worker: WorkerSlots, model: str) -> bool:
        return worker.standing == "up" and worker.model == model

    def _hopeless(self, ticket: str, model: str) -> Refused | None:
        serving = [worker for worker in self._workers.values() if worker.model == model]
        if any(worker.standing != "failed" for worker in serving):
            return None
        detail = next((worker.detail for worker in serving if worker.detail), "")
        return Refused(ticket, "model_unavailable", detail or f"No worker serves the model {model!r}.")

    def _places(self, at: float) -> Iterator[Moved]:
        by_model: dict[str, list[QueueEntry]] = {}
        for entry in self._line():
            by_model.setdefault(entry.model, []).append(entry)
        for model, line in by_model.items():
            remaining = [
                self._remaining(slot, at)
                for worker in self._workers.values()
                if self._serves(worker, model)
                for slot in worker.slots
                if slot.ticket is not None
            ]
            estimates = waits(remaining, [self.estimator.expected(entry.kind) for entry in line])
            for position, (entry, wait) in enumerate(zip(line, estimates, strict=True), start=1):
                yield Moved(entry.ticket, position, round(wait, 1), len(line))

    def _remaining(self, slot: Slot, at: float) -> float:
        return self.estimator.remaining(slot.kind, at - slot.since)

    def _slot(self, worker: str, number: int) -> Slot | None:
        slots: Sequence[Slot] = self._workers[worker].slots if worker in self._workers else ()
        return slots[number] if number < len(slots) else None
