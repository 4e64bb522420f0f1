"""Decides which request gets which slot of which worker, and where the others wait.

A pure state machine, driven by the pool: facts come in with the time, commands go out. First come, first served for each model.
A request at the head that needs several slots waits until one worker has them free, and blocks those behind it. Only requests
marked `ahead`, the replies of calls, overtake: a caller is waiting in silence. They may hold half of a model's slots, at least
one. Requests marked `behind`, the lines of batches, have the lowest place: they get a slot only while nobody else waits for the model,
one at a time, and leave one slot free where there are several. A request for EVERY_SLOT, a call that a model holds by itself, is kept a worker: nothing new begins on that one, and those behind
go to the others. Among free slots the one whose cache already holds the beginning of the conversation is preferred.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct

from duologue.gateway.scheduling.eta import Estimator, waits, waits_whole

Chain = tuple[bytes, ...]
"""Digests of a conversation's prefixes: item i stands for its first i + 1 messages."""

EVERY_SLOT = 1_000_000
"""The `need` of a request that takes one worker whole, however many slots that has."""

SlotsState = Literal["starting", "ready", "held", "draining", "failed"]


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
    """The ticket will not be served, for this reason. `retry_after`: when a place in the queue is likely to be free, in
    seconds."""

    ticket: str
    code: str
    message: str
    retry_after: float | None = None


Command = Granted | Moved | Refused


class Slot(Struct):
    """A place for one running generation. `chain` and `opening`: what its cache holds, the messages and what precedes them;
    `used`: when it was last released, long ago for one whose cache nobody will ask for."""

    ticket: str | None = None
    kind: str = ""
    since: float = 0.0
    ahead: bool = False
    behind: bool = False
    whole: bool = False
    """Lent together with every other slot of its worker."""
    chain: Chain = ()
    opening: bytes = b""
    used: float = float("-inf")


class WorkerSlots(Struct):
    """The slots of one worker."""

    model: str
    state: SlotsState
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
    behind: bool = False
    kept: str = ""
    """The worker that is kept for it, where it needs a whole one."""
    reported: int = 0
    """The last position that was sent; 0 before the first."""


class Task(Struct, frozen=True):
    """A running request, for the status page. Times in seconds."""

    ticket: str
    worker: str
    kind: str
    elapsed: float
    remaining: float


def reusable_messages(cached: Chain, requested: Chain) -> int:
    """How many messages of a slot's cache serve the request; 0 unless they are more than half of what it holds.

    A shared system prompt alone must not overwrite another conversation's cache while a different slot is free.
    """
    count = 0
    for left, right in zip(cached, requested, strict=False):
        if left != right:
            break
        count += 1
    return count if 2 * count > len(cached) else 0


def cache_score(slot: Slot, entry: QueueEntry) -> float:
    """How much of a slot's cache serves the request: messages, or 0.5 for an equal opening (tools, system text) in a slot that
    holds no messages."""
    same_opening = not slot.chain and bool(entry.opening) and slot.opening == entry.opening
    return reusable_messages(slot.chain, entry.chain) or (0.5 if same_opening else 0)


NO_MODEL = (
    "No model is loaded. Load one on the models page, or restart the server; `duologue models list` shows the models that "
    "are installed."
)


def unloaded_message(model: str) -> str:
    """The sentence for requests that used or waited for a model that was unloaded."""
    return f"The model {model!r} was unloaded. Choose another model, or load it again."


class Scheduler:
    """The queue and the slots. Facts take the time `at` (seconds, any origin) and return commands."""

    def __init__(self, limit: int = 1000, estimator: Estimator | None = None) -> None:
        self.limit = limit
        self.estimator = estimator or Estimator()
        self._workers: dict[str, WorkerSlots] = {}
        self._waiting: dict[str, QueueEntry] = {}
        self._totals: dict[str, tuple[int, float]] = {}

    # ---- facts about workers

    def worker_starting(self, name: str, model: str, at: float) -> list[Command]:
        """The worker is starting, perhaps again: what ran on it is gone, requests for its model keep waiting."""
        self._workers[name] = WorkerSlots(model, "starting", [])
        return self._dispatch(at)

    def worker_ready(self, name: str, model: str, slots: int, at: float) -> list[Command]:
        """The worker is ready with this many slots, all free and with empty caches."""
        self._workers[name] = WorkerSlots(model, "ready", [Slot() for _ in range(slots)])
        return self._dispatch(at)

    def worker_failed(self, name: str, model: str, detail: str, at: float) -> list[Command]:
        """The worker cannot serve. Requests for a model that no other worker serves are refused."""
        self._workers[name] = WorkerSlots(model, "failed", [], detail)
        refusals: list[Command] = []
        for entry in list(self._waiting.values()):
            if (refusal := self._refusal(entry.ticket, entry.model)) is not None:
                del self._waiting[entry.ticket]
                refusals.append(refusal)
        return refusals + self._dispatch(at)

    def worker_held(self, name: str, at: float) -> list[Command]:
        """The worker is about to be started again: what runs on it goes on, nothing new begins, and requests wait for it."""
        if (worker := self._workers.get(name)) is not None and worker.state == "ready":
            worker.state = "held"
        return self._dispatch(at)

    def worker_resumed(self, name: str, at: float) -> list[Command]:
        """The worker takes new requests again."""
        if (worker := self._workers.get(name)) is not None and worker.state in ("held", "draining"):
            worker.state, worker.detail = "ready", ""
        return self._dispatch(at)

    def worker_draining(self, name: str, at: float, message: str = "", detail: str = "") -> list[Command]:
        """The worker is going to be removed: what runs on it goes on, and nothing new begins. Requests that wait for a model that no
        other worker has are refused with `message`; later ones with `detail`, if the worker stays known."""
        if (worker := self._workers.get(name)) is None or worker.state not in ("ready", "held"):
            return self._dispatch(at)
        worker.state, worker.detail = "draining", detail
        return self._refused_by_unloading(worker.model, message) + self._dispatch(at)

    def worker_removed(
        self, name: str, at: float, message: str = "", code: str = "model_unloaded"
    ) -> list[Command]:
        """The worker was removed. Requests for a model that no other worker has are refused with `message`."""
        if (removed := self._workers.pop(name, None)) is None:
            return []
        self._totals.pop(name, None)
        return self._refused_by_unloading(removed.model, message, code) + self._dispatch(at)

    def _refused_by_unloading(self, model: str, message: str, code: str = "model_unloaded") -> list[Command]:
        refusals: list[Command] = []
        for entry in [entry for entry in self._waiting.values() if entry.model == model]:
            if (refusal := self._refusal(entry.ticket, entry.model)) is None:
                continue
            left = [worker for worker in self._workers.values() if worker.model == model]
            if all(worker.state == "draining" for worker in left):
                refusal = Refused(entry.ticket, code, message or unloaded_message(model))
            del self._waiting[entry.ticket]
            refusals.append(refusal)
        return refusals

    # ---- requests

    def request(
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
        behind: bool = False,
    ) -> list[Command]:
        """Request `need` slots together, capped at what the model's largest worker has, or EVERY_SLOT of any one. `ahead`: before all that are not, in up
        to half of the model's slots. `behind`: after all that are not, and a single slot whatever the need."""
        if (refusal := self._refusal(ticket, model)) is not None:
            return [refusal]
        # Whoever waits in the lowest place takes nobody's place in the queue.
        waiting = sum(behind or not entry.behind for entry in self._waiting.values())
        if waiting >= self.limit:
            return [
                Refused(
                    ticket,
                    "queue_full",
                    f"The queue is full: {waiting} requests are waiting. Try again in a moment, "
                    "or raise queue.limit.",
                    min(self._remaining_of(model, at), default=None),
                )
            ]
        need = 1 if behind else max(1, need)
        self._waiting[ticket] = QueueEntry(ticket, model, need, kind, chain, at, ahead, opening, behind)
        return self._dispatch(at)

    def cancel(self, ticket: str, at: float) -> list[Command]:
        """A waiting request is withdrawn."""
        if self._waiting.pop(ticket, None) is None:
            return []
        return self._dispatch(at)

    def release(self, ticket: str, worker: str, number: int, at: float) -> list[Command]:
        """Give one slot back. Without effect if the ticket does not hold it: its worker may have restarted."""
        slot = self._slot(worker, number)
        if slot is None or slot.ticket != ticket:
            return []
        # The next line of a batch has another prompt: its slot is taken before one that holds somebody's conversation.
        slot.ticket, slot.used = None, float("-inf") if slot.behind else at
        # A call that took the worker whole is one piece of work, and is counted with its last slot.
        if not slot.whole or all(other.ticket != ticket for other in self._slots_of(worker)):
            self.estimator.observe(slot.kind, at - slot.since)
            served, seconds = self.totals(worker)
            self._totals[worker] = (served + 1, seconds + at - slot.since)
        return self._dispatch(at)

    # ---- views

    def place(self, ticket: str, at: float) -> Moved | None:
        """The position of a ticket; None if it is not waiting."""
        return next((moved for moved in self._places(at) if moved.ticket == ticket), None)

    def places(self, at: float) -> list[Moved]:
        """The positions of all waiting tickets, in order."""
        return list(self._places(at))

    def entries(self) -> list[QueueEntry]:
        """The waiting requests, in the order of the queue."""
        return self._line()

    @property
    def someone_waits(self) -> bool:
        """Whether a request waits that is not in the lowest place."""
        return any(not entry.behind for entry in self._waiting.values())

    def tasks(self, at: float) -> list[Task]:
        """The running requests, one row a slot."""
        return [
            Task(slot.ticket, name, slot.kind, at - slot.since, self._remaining(slot, at))
            for name, worker in self._workers.items()
            for slot in worker.slots
            if slot.ticket is not None
        ]

    def busy(self, worker: str) -> int:
        """How many of a worker's slots are in use."""
        return sum(slot.ticket is not None for slot in self._slots_of(worker))

    def is_wanted(self, worker: str) -> bool:
        """Whether something runs on a worker, or waits for its model."""
        own = self._workers.get(worker)
        waits = own is not None and any(entry.model == own.model for entry in self._waiting.values())
        return waits or self.busy(worker) > 0

    def last_use(self, worker: str) -> tuple[float, float]:
        """When a slot of this worker was last lent, and when one was last given back; minus infinity for never."""
        slots = self._slots_of(worker)
        lent = max((slot.since for slot in slots if slot.kind), default=float("-inf"))
        return lent, max((slot.used for slot in slots), default=float("-inf"))

    def occupied(self, worker: str) -> tuple[bool, ...]:
        """Of each of a worker's slots, whether it is in use."""
        return tuple(slot.ticket is not None for slot in self._slots_of(worker))

    def totals(self, worker: str) -> tuple[int, float]:
        """How many generations a worker has served, and their seconds together."""
        return self._totals.get(worker, (0, 0.0))

    def slots(self, worker: str) -> int:
        """How many slots a worker has."""
        return len(self._slots_of(worker))

    # ---- the decision

    def _dispatch(self, at: float) -> list[Command]:
        """Grant what can be granted, in order, and report changed positions."""
        commands: list[Command] = []
        blocked: set[str] = set()
        wanted: set[str] = set()  # models that somebody waits for who is not in the lowest place
        kept: set[str] = set()
        for entry in self._line():
            if entry.behind and (entry.model in wanted or not self._room_behind(entry.model)):
                continue
            if entry.model in blocked or (entry.ahead and not self._room_ahead(entry.model)):
                wanted.add(entry.model)
                continue
            granted = self._grant(entry, at, kept)
            if granted is None:
                wanted.add(entry.model)
                if entry.need < EVERY_SLOT or not self._keep(entry, at, kept):
                    blocked.add(entry.model)
                continue
            del self._waiting[entry.ticket]
            commands.append(granted)
        for moved in self._places(at):
            entry = self._waiting[moved.ticket]
            # Near the head every step is reported, further back only a change by a twentieth: reporting each step to hundreds
            # of waiting requests would delay those that are being answered.
            if abs(entry.reported - moved.position) > moved.position // 20:
                entry.reported = moved.position
                commands.append(moved)
        return commands

    def _line(self) -> list[QueueEntry]:
        # Stable: oldest first.
        return sorted(self._waiting.values(), key=lambda entry: (entry.behind, not entry.ahead))

    def _slots_for(self, model: str) -> list[Slot]:
        return [
            slot for worker in self._workers.values() if self._serves(worker, model) for slot in worker.slots
        ]

    def _room_behind(self, model: str) -> bool:
        """Whether a request in the lowest place may have a slot: another one stays free for the next request, if the model has several."""
        slots = self._slots_for(model)
        return sum(slot.ticket is None for slot in slots) > (1 if len(slots) > 1 else 0)

    def _room_ahead(self, model: str) -> bool:
        """Whether one more `ahead` request may have a slot: they never take all of a model's slots if it has several."""
        slots = self._slots_for(model)
        return sum(slot.ticket is not None and slot.ahead for slot in slots) < max(1, len(slots) // 2)

    def _keep(self, entry: QueueEntry, at: float, kept: set[str]) -> bool:
        """Keep a worker for a request that needs a whole one, the same until it has it: otherwise those behind would fill each worker
        again before it is empty. False: there is none left to keep."""
        free = [name for name in self._workers_of(entry.model) if name not in kept]
        if entry.kept not in free:
            entry.kept = min(free, key=lambda name: max(self._until_free(name, at), default=0.0), default="")
        if entry.kept:
            kept.add(entry.kept)
        return bool(entry.kept)

    def _grant(self, entry: QueueEntry, at: float, kept: set[str]) -> Granted | None:
        choice = self._choose(entry, kept)
        if choice is None:
            return None
        name, numbers = choice
        for number in numbers:
            slot = self._workers[name].slots[number]
            slot.ticket, slot.kind, slot.since, slot.chain = entry.ticket, entry.kind, at, entry.chain
            slot.ahead, slot.behind, slot.opening = entry.ahead, entry.behind, entry.opening
            slot.whole = entry.need >= EVERY_SLOT
        return Granted(entry.ticket, name, numbers)

    def _choose(self, entry: QueueEntry, kept: set[str]) -> tuple[str, tuple[int, ...]] | None:
        """The worker and slots whose caches serve the request best; then the longest unused. Not one of those `kept` for others."""
        ready = [
            (name, worker)
            for name, worker in self._workers.items()
            if self._serves(worker, entry.model) and name not in kept
        ]
        most = max((len(worker.slots) for _, worker in ready), default=1)
        best: tuple[tuple[float, int, float], str, tuple[int, ...]] | None = None
        for name, worker in ready:
            free = sorted(
                (-cache_score(slot, entry), slot.used, number)
                for number, slot in enumerate(worker.slots)
                if slot.ticket is None
            )
            need = len(worker.slots) if entry.need >= EVERY_SLOT else min(entry.need, most)
            if not free or len(free) < need:
                continue
            score = (-free[0][0], len(free), -free[0][1])
            if best is None or score > best[0]:
                best = (score, name, tuple(number for _, _, number in free[:need]))
        return None if best is None else best[1:]

    @staticmethod
    def _serves(worker: WorkerSlots, model: str) -> bool:
        return worker.state == "ready" and worker.model == model

    def _refusal(self, ticket: str, model: str) -> Refused | None:
        serving = [worker for worker in self._workers.values() if worker.model == model]
        if any(worker.state not in ("failed", "draining") for worker in serving):
            return None
        detail = next((worker.detail for worker in serving if worker.detail), "")
        if not detail and serving:
            return Refused(ticket, "model_unloaded", unloaded_message(model))
        return Refused(ticket, "model_unavailable", detail or f"No worker serves the model {model!r}.")

    def _places(self, at: float) -> Iterator[Moved]:
        by_model: dict[str, list[QueueEntry]] = {}
        for entry in self._line():
            by_model.setdefault(entry.model, []).append(entry)
        for model, line in by_model.items():
            estimates = self._waits(model, line, at)
            others = sum(not entry.behind for entry in line)
            for position, (entry, wait) in enumerate(zip(line, estimates, strict=True), start=1):
                yield Moved(entry.ticket, position, round(wait, 1), len(line) if entry.behind else others)

    def _waits(self, model: str, line: Sequence[QueueEntry], at: float) -> list[float]:
        """How long each of a model's waiting requests still waits."""
        durations = [self.estimator.expected(entry.kind) for entry in line]
        if all(entry.need < EVERY_SLOT for entry in line):
            return waits(self._remaining_of(model, at), durations)
        workers = [self._until_free(name, at) for name in self._workers_of(model)]
        return waits_whole(workers, durations, [entry.need >= EVERY_SLOT for entry in line])

    def _workers_of(self, model: str) -> list[str]:
        return [name for name, worker in self._workers.items() if self._serves(worker, model)]

    def _until_free(self, worker: str, at: float) -> list[float]:
        """Seconds until each slot of a worker is free."""
        return [0.0 if slot.ticket is None else self._remaining(slot, at) for slot in self._slots_of(worker)]

    def _remaining_of(self, model: str, at: float) -> list[float]:
        """Seconds until each busy slot of a model is free."""
        return [
            self._remaining(slot, at)
            for name in self._workers_of(model)
            for slot in self._slots_of(name)
            if slot.ticket is not None
        ]

    def _remaining(self, slot: Slot, at: float) -> float:
        return self.estimator.remaining(slot.kind, at - slot.since)

    def _slot(self, worker: str, number: int) -> Slot | None:
        slots = self._slots_of(worker)
        return slots[number] if number < len(slots) else None

    def _slots_of(self, worker: str) -> Sequence[Slot]:
        return self._workers[worker].slots if worker in self._workers else ()
