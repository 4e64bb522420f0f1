"""The workers of one model, with counts of their slots and an index of the free ones, kept up to date. Used by the worker table alone."""

from __future__ import annotations

from collections.abc import Iterable, Set

from duologue.gateway.scheduling.queueing.free_slots import FreeSlots
from duologue.gateway.scheduling.queueing.slots import (
    NEVER,
    QueueEntry,
    Slot,
    WorkerSlots,
    cache_score,
    lend,
    used_elsewhere,
)

GONE = ("failed", "draining")


class ServingWorkers:
    """By name. `slots`, `free` and `ahead`: the slots of those that are ready, how many of them are free, and how many have the replies of calls;
    `empty`: the ready workers of which every slot is free; `kept`: those that are kept for requests that need one whole; `version`: another
    object after each worker that comes, goes or changes its state."""

    def __init__(self) -> None:
        self.workers: dict[str, WorkerSlots] = {}
        self.slots = self.free = self.ahead = 0
        self.empty: set[str] = set()
        self.kept: set[str] = set()
        self.version = object()
        self._serving = 0
        self._free_slots = FreeSlots(self.workers)
        self._ready: list[tuple[str, WorkerSlots]] | None = None
        self._ready_slots: list[Slot] | None = None
        self._starting: list[WorkerSlots] | None = None
        self.mean_until_free: tuple[float, float] | None = None
        """As last forecast: when that was, and the seconds until a busy slot is free, on average."""

    def __len__(self) -> int:
        return len(self.workers)

    # ---- workers

    def put(self, name: str, worker: WorkerSlots) -> None:
        """A worker comes, or has another state: `drop` it before."""
        self.workers[name] = worker
        worker.free = worker.ahead = 0
        self._serving += worker.state not in GONE
        self._changed()
        if worker.state == "ready":
            self.slots += len(worker.slots)
        for number in range(len(worker.slots)):
            self._count(name, worker, number, 1)

    def drop(self, name: str) -> WorkerSlots:
        worker = self.workers[name]
        for number in range(len(worker.slots)):
            self._count(name, worker, number, -1)
        if worker.state == "ready":
            self.slots -= len(worker.slots)
        self.empty.discard(name)
        self.kept.discard(name)
        self._serving -= worker.state not in GONE
        del self.workers[name]
        self._changed()
        return worker

    def _changed(self) -> None:
        self.version = object()
        self._ready = self._ready_slots = self._starting = self.mean_until_free = None

    @property
    def serving(self) -> bool:
        """Whether a request for the model may be served at some time."""
        return self._serving > 0

    def in_order(self) -> list[tuple[str, WorkerSlots]]:
        """In the order in which they came."""
        return sorted(self.workers.items(), key=lambda item: item[1].order)

    def ready(self) -> list[tuple[str, WorkerSlots]]:
        """Those that serve now, in order."""
        if self._ready is None:
            self._ready = [(name, worker) for name, worker in self.in_order() if worker.state == "ready"]
        return self._ready

    def ready_slots(self) -> list[Slot]:
        """The slots of those that serve now, in order."""
        if self._ready_slots is None:
            self._ready_slots = [slot for _, worker in self.ready() for slot in worker.slots]
        return self._ready_slots

    def starting(self) -> list[WorkerSlots]:
        """Those that will serve soon, in order."""
        if self._starting is None:
            self._starting = [worker for _, worker in self.in_order() if worker.state == "starting"]
        return self._starting

    def keep(self, names: Set[str]) -> None:
        """Exactly these workers are kept: their slots are lent only to requests that take one whole."""
        for name in self.kept ^ names:
            worker = self.workers[name]
            keep = name in names
            for number, slot in enumerate(worker.slots):
                if slot.free and worker.state == "ready":
                    (self._free_slots.discard if keep else self._free_slots.add)(name, number)
        self.kept = set(names)

    # ---- slots

    def best(self, entry: QueueEntry, kept: Set[str]) -> tuple[str, tuple[int, ...]] | None:
        """The worker and its slot, or for a request that needs a whole worker its slots, whose caches serve the request best; then of the worker with
        most free slots; then the longest unused. Not of the workers `kept` for others. None if there is none."""
        if entry.whole:
            return self._best_whole(entry, kept)
        if (place := self._free_slots.best(entry)) is None:
            return None
        return place.worker, (place.number,)

    def _best_whole(self, entry: QueueEntry, kept: Set[str]) -> tuple[str, tuple[int, ...]] | None:
        """Looks at every empty worker: such a request comes once in a call, and where one waits there are none."""
        best: tuple[tuple[float, int, float, int], str, tuple[int, ...]] | None = None
        for name in self.empty - kept:
            worker = self.workers[name]
            slots = sorted(
                (-cache_score(slot, entry), slot.used, number) for number, slot in enumerate(worker.slots)
            )
            rank = (slots[0][0], -len(slots), slots[0][1], worker.order)
            if best is None or rank < best[0]:
                best = (rank, name, tuple(number for _, _, number in slots))
        return None if best is None else best[1:]

    def lend(self, name: str, numbers: Iterable[int], entry: QueueEntry, at: float) -> None:
        """Mark these slots as lent to the request."""
        worker = self.workers[name]
        for number in numbers:
            self._count(name, worker, number, -1)
            lend(worker.slots, (number,), entry, at)
            self._count(name, worker, number, 1)

    def take_back(self, name: str, number: int, at: float) -> None:
        """A slot that was lent is free, unless it is at work elsewhere."""
        worker = self.workers[name]
        slot = worker.slots[number]
        self._count(name, worker, number, -1)
        # The next line of a batch has another prompt: its slot is taken before one that holds somebody's conversation.
        slot.ticket, slot.used = None, NEVER if slot.behind else at
        self._count(name, worker, number, 1)

    def use_elsewhere(self, name: str, numbers: frozenset[int], at: float) -> None:
        """Exactly these slots of the worker are at work for other gateways."""
        worker = self.workers[name]
        changed = [number for number in worker.elsewhere ^ numbers if 0 <= number < len(worker.slots)]
        for number in changed:
            self._count(name, worker, number, -1)
        worker.elsewhere = numbers
        used_elsewhere(worker.slots, changed, numbers, at)
        for number in changed:
            self._count(name, worker, number, 1)

    def _count(self, name: str, worker: WorkerSlots, number: int, sign: int) -> None:
        """Count one slot as it is, or no longer as it was."""
        slot, ready = worker.slots[number], worker.state == "ready"
        if slot.ahead and slot.ticket is not None:
            worker.ahead += sign
            self.ahead += sign * ready
        if not slot.free:
            return
        worker.free += sign
        if not ready:
            return
        self.free += sign
        if name not in self.kept:
            (self._free_slots.add if sign > 0 else self._free_slots.discard)(name, number)
        if worker.free == len(worker.slots):
            self.empty.add(name)
        else:
            self.empty.discard(name)
