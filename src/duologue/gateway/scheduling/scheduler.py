"""Decides which request gets which slot of which worker, and where the others wait.

A pure state machine, driven by the pool: facts come in with the time, commands go out. Each model has a queue of its own, in which keys
share its slots fairly (`queueing/fair_line.py`): first come, first served within a key, and with a single key altogether. What a
request is (a chat, a run, a completion, vectors) makes no difference. A request for several slots takes one at a time, each in its
turn, so it neither has them all while others wait nor waits until all are free.

Only requests marked `ahead`, the replies of calls, overtake: a caller is waiting in silence. They may hold half of a model's slots, at least
one. Requests marked `behind`, the lines of batches, have the lowest place: they get a slot only while nobody else waits for the model,
one at a time, and leave one slot free where there are several. A request for EVERY_SLOT, a call that a model holds by itself, is kept a worker
when its turn has come: nothing new begins on that one, and those behind go to the others. Among free slots the one whose cache already
holds the beginning of the conversation is preferred.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set

from msgspec import Struct

from duologue.gateway.scheduling.eta import Estimates, Estimator, Job
from duologue.gateway.scheduling.queueing.fair_line import OVERTAKINGS
from duologue.gateway.scheduling.queueing.model_queue import ModelQueue
from duologue.gateway.scheduling.queueing.place_news import portions
from duologue.gateway.scheduling.queueing.places import (
    NEAR,
    first_place,
    last_place,
    moved,
    place_round,
    places,
)
from duologue.gateway.scheduling.queueing.queue_commands import Command, Granted, Moved, Refused
from duologue.gateway.scheduling.queueing.serving_workers import ServingWorkers
from duologue.gateway.scheduling.queueing.slots import (
    EVERY_SLOT,
    Chain,
    QueueEntry,
    Slot,
    WorkerSlots,
    used_elsewhere,
)
from duologue.gateway.scheduling.queueing.worker_table import WorkerTable, unloaded_message

__all__ = [
    "EVERY_SLOT",
    "NO_MODEL",
    "Chain",
    "Command",
    "Granted",
    "Moved",
    "QueueEntry",
    "Refused",
    "Scheduler",
    "Task",
    "unloaded_message",
]

NO_MODEL = (
    "No model is loaded. Load one on the models page, or restart the server; `duologue models list` shows the models that "
    "are installed."
)


class Task(Struct, frozen=True):
    """A running request, for the status page. Times in seconds."""

    ticket: str
    worker: str
    kind: str
    elapsed: float
    remaining: float


class Scheduler:
    """The queue and the slots. Facts take the time `at` (seconds, any origin) and return commands. `overtakings`: as of a `FairLine`."""

    def __init__(
        self, limit: int = 1000, estimator: Estimator | None = None, *, overtakings: int = OVERTAKINGS
    ) -> None:
        self.limit = limit
        self.estimator = estimator or Estimator()
        self._overtakings = overtakings
        self._workers = WorkerTable()
        self._waiting: dict[str, QueueEntry] = {}
        self._queues: dict[str, ModelQueue] = {}
        self._behind = 0
        self._number = 0
        self._totals: dict[str, tuple[int, float]] = {}

    # ---- facts about workers

    def worker_starting(self, name: str, model: str, at: float) -> list[Command]:
        """The worker is starting, perhaps again: what ran on it is gone, requests for its model keep waiting."""
        slots = self._forget(name, at)
        self._workers.put(name, WorkerSlots(model, "starting", [], since=at, expected=slots))
        return self._dispatch(model, at)

    def worker_ready(self, name: str, model: str, slots: int, at: float) -> list[Command]:
        """The worker is ready with this many slots, all with empty caches, and free but for those that work for other gateways."""
        before = self._workers.find(name)
        if before is not None and before.state == "starting":
            self.estimator.started(model, at - before.since)
        self._forget(name, at)
        elsewhere = frozenset[int]() if before is None else before.elsewhere
        free = [Slot() for _ in range(slots)]
        used_elsewhere(free, range(slots), elsewhere, at)
        ready = WorkerSlots(model, "ready", free, since=at, expected=max(1, slots), elsewhere=elsewhere)
        self._workers.put(name, ready)
        refused: list[Command] = []
        if before is not None and before.model != model:
            # Another model than before: what its server has now, or its machine.
            refused = self._refused_by_unloading(before.model, "")
        return refused + self._dispatch(model, at)

    def worker_failed(self, name: str, model: str, detail: str, at: float) -> list[Command]:
        """The worker cannot serve. Requests for a model that no other worker serves are refused."""
        self._forget(name, at)
        self._workers.put(name, WorkerSlots(model, "failed", [], detail))
        unserved = {model for model in self._queues if self._workers.refusal("", model) is not None}
        refusals: list[Command] = []
        for entry in list(self._waiting.values()) if unserved else ():
            if entry.model in unserved and (refusal := self._workers.refusal(entry.ticket, entry.model)):
                self._remove(entry)
                refusals.append(refusal)
        return refusals + self._dispatch(model, at)

    def worker_held(self, name: str, at: float) -> list[Command]:
        """The worker is about to be started again: what runs on it goes on, nothing new begins, and requests wait for it."""
        if (worker := self._workers.find(name)) is None:
            return []
        if worker.state == "ready":
            self._workers.set_state(name, "held", worker.detail)
        return self._dispatch(worker.model, at)

    def worker_resumed(self, name: str, at: float) -> list[Command]:
        """The worker takes new requests again."""
        if (worker := self._workers.find(name)) is None:
            return []
        if worker.state in ("held", "draining"):
            self._workers.set_state(name, "ready")
        return self._dispatch(worker.model, at)

    def slots_elsewhere(self, name: str, slots: Sequence[int], at: float) -> list[Command]:
        """Exactly these slots of the worker are at work for other gateways. They are not granted until they are free again."""
        numbers = frozenset(slots)
        if (worker := self._workers.find(name)) is None or worker.elsewhere == numbers:
            return []
        self._workers.on(worker.model).use_elsewhere(name, numbers, at)
        return self._dispatch(worker.model, at)

    def worker_draining(self, name: str, at: float, message: str = "", detail: str = "") -> list[Command]:
        """The worker is going to be removed: what runs on it goes on, and nothing new begins. Requests that wait for a model that no
        other worker has are refused with `message`; later ones with `detail`, if the worker stays known."""
        if (worker := self._workers.find(name)) is None:
            return []
        if worker.state not in ("ready", "held"):
            return self._dispatch(worker.model, at)
        self._workers.set_state(name, "draining", detail)
        return self._refused_by_unloading(worker.model, message) + self._dispatch(worker.model, at)

    def worker_removed(
        self, name: str, at: float, message: str = "", code: str = "model_unloaded"
    ) -> list[Command]:
        """The worker was removed. Requests for a model that no other worker has are refused with `message`."""
        self._forget(name, at)
        if (removed := self._workers.drop(name)) is None:
            return []
        self._totals.pop(name, None)
        commands = self._refused_by_unloading(removed.model, message, code) + self._dispatch(
            removed.model, at
        )
        if not self._queues.get(removed.model) and not self._workers.on(removed.model):
            self._queues.pop(removed.model, None)
        return commands

    def _forget(self, name: str, at: float) -> int:
        """What ran on this worker is gone. How many slots it had, or has when it is ready; 1 if that is not known."""
        if (worker := self._workers.find(name)) is None:
            return 1
        for slot in worker.slots:
            if slot.ticket is not None:
                self._settle(worker.model, slot, at)
        return worker.expected

    def _refused_by_unloading(self, model: str, message: str, code: str = "model_unloaded") -> list[Command]:
        refusals: list[Command] = []
        if self._workers.on(model).serving:
            return refusals
        for entry in [entry for entry in self._waiting.values() if entry.model == model]:
            if (refusal := self._workers.refusal(entry.ticket, entry.model)) is None:
                continue
            if self._workers.only_drain(model):
                refusal = Refused(entry.ticket, code, message or unloaded_message(model))
            self._remove(entry)
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
        share: str = "",
        weight: float = 1.0,
        prompt: float = 0.0,
        most: int | None = None,
    ) -> list[Command]:
        """Request `need` slots, each in its turn, or EVERY_SLOT of any one worker. `ahead`: before all that are not, in up to half of the model's
        slots. `behind`: after all that are not, and a single slot whatever the need. `share`: whose request it is, `weight`: how much of the
        slots that share gets beside others. `prompt`: characters to read, `most`: tokens to write at most, for the estimates."""
        if (refusal := self._workers.refusal(ticket, model)) is not None:
            return [refusal]
        # Whoever waits in the lowest place takes nobody's place in the queue.
        waiting = len(self._waiting) if behind else len(self._waiting) - self._behind
        if waiting >= self.limit:
            sentence = f"The queue is full: {waiting} requests are waiting. Try again in a moment, or raise queue.limit."
            return [Refused(ticket, "queue_full", sentence, self._next_free(at))]
        self._number += 1
        need = 1 if behind else max(1, need)
        job = Job(model, kind, prompt, most, ticket)
        entry = QueueEntry(
            *(ticket, model, need, kind, chain, at, ahead, opening, behind),
            share=share,
            weight=weight,
            number=self._number,
            left=1 if need >= EVERY_SLOT else need,
            cost=self.estimator.expected(job),
            job=job,
        )
        self._waiting[ticket] = entry
        self._behind += behind
        queue = self._queues.setdefault(model, ModelQueue(self._overtakings))
        queue.line_of(entry).add(entry)
        commands = self._dispatch(model, at)
        if not entry.begun and not entry.reported and ticket in self._waiting:
            commands.append(first_place(entry, queue, self._workers, at, self.estimator))
        return commands

    def cancel(self, ticket: str, at: float) -> list[Command]:
        """A waiting request is withdrawn, or what it still waits for."""
        if (entry := self._waiting.get(ticket)) is None:
            return []
        self._remove(entry)
        # Of those that hear of their places at once, none has moved if this one stood behind them. A crowd leaves from far back, all at once.
        return self._dispatch(entry.model, at, moves=entry.reported <= NEAR)

    def release(self, ticket: str, worker: str, number: int, at: float) -> list[Command]:
        """Give one slot back. Without effect if the ticket does not hold it: its worker may have restarted."""
        slot = self._workers.slot(worker, number, ticket)
        if slot is None:
            return []
        model = slot.job.model
        self._settle(model, slot, at)
        self._workers.take_back(worker, number, at)
        # A call that took the worker whole is one piece of work, and is counted with its last slot.
        if not slot.whole or all(other.ticket != ticket for other in self._workers.slots_of(worker)):
            self.estimator.observe(slot.job, at - slot.since)
            served, seconds = self.totals(worker)
            self._totals[worker] = (served + 1, seconds + at - slot.since)
        return self._dispatch(model, at)

    def progress(self, ticket: str, worker: str, number: int, tokens: int, at: float) -> None:
        """What runs in a slot has written so many tokens. Without effect if the ticket does not hold it."""
        if (slot := self._workers.slot(worker, number, ticket)) is not None:
            slot.progress = slot.progress.reported(tokens, at)

    # ---- other gateways

    def charged(self, *, tells: bool) -> dict[tuple[str, int], dict[str, float]]:
        """What shares were charged since this was last asked, by model and class: seconds that the other gateways are told. `tells`: whether there are any."""
        told = {}
        for model, queue in self._queues.items():
            for place, line in enumerate(queue.lines):
                if line.charged:
                    told[model, place] = line.charged
                line.charged = {} if tells else None
        return told

    def served_elsewhere(self, model: str, place: int, seconds: Mapping[str, float]) -> None:
        """What shares were charged at another gateway, for a model and a class of theirs."""
        if (queue := self._queues.get(model)) is not None and 0 <= place < len(queue.lines):
            for share, amount in seconds.items():
                queue.lines[place].served_elsewhere(share, amount)

    # ---- views

    def place(self, ticket: str, at: float) -> Moved | None:
        """The position of a ticket; None if it is not waiting. Far back it is the one that was told last, which is a few seconds old or has hardly changed: computing
        the places of ten thousand requests before it would take a tenth of a second."""
        entry = self._waiting.get(ticket)
        if entry is None:
            return None
        queue = self._queues[entry.model]
        if entry.reported > NEAR:
            return last_place(entry, queue)
        every = places(queue, self._workers, entry.model, at, self.estimator)
        return next((moved for other, moved in every if other is entry), None)

    def places(self, at: float, by: Estimates | None = None) -> list[Moved]:
        """The positions of all waiting tickets, in order; `by` other estimates than the scheduler's own, for comparisons."""
        by = by or self.estimator
        return [
            moved
            for model, queue in self._queues.items()
            for _, moved in places(queue, self._workers, model, at, by)
        ]

    def place_steps(self, at: float) -> Iterator[Moved | None]:
        """As `places`, in small steps between which facts may come in. None: as much work as a step may have."""
        for model, queue in list(self._queues.items()):
            if queue:
                for place in place_round(queue, self._workers, model, at, self.estimator):
                    yield place and place[1]

    def place_portions(self, at: float) -> Iterator[list[Moved]]:
        """The places that waiting tickets are told now and then, a few at a time. Facts may come in between two portions."""
        for model, queue in list(self._queues.items()):
            if not queue:
                continue
            yield from portions(place_round(queue, self._workers, model, at, self.estimator), at)

    def entries(self) -> list[QueueEntry]:
        """The waiting requests, in the order of the queue; not those that run already and wait for further slots."""
        found: dict[str, QueueEntry] = {}
        for queue in self._queues.values():
            for entry in queue.in_order():
                found.setdefault(entry.ticket, entry)
        return [entry for entry in found.values() if not entry.begun]

    @property
    def someone_waits(self) -> bool:
        """Whether a request waits that is not in the lowest place."""
        return len(self._waiting) > self._behind

    def waiting(self, ticket: str) -> QueueEntry | None:
        """The request that waits with this ticket and has nothing yet."""
        entry = self._waiting.get(ticket)
        return None if entry is None or entry.begun else entry

    def is_waiting(self, ticket: str) -> bool:
        """Whether a ticket waits and has nothing yet."""
        return self.waiting(ticket) is not None

    def tasks(self, at: float) -> list[Task]:
        """The running requests, one row a slot."""
        return [
            Task(
                slot.ticket,
                name,
                slot.kind,
                at - slot.since,
                self.estimator.remaining(slot.job, slot.progress, at),
            )
            for name, slot in self._workers.lent()
            if slot.ticket is not None
        ]

    def busy(self, worker: str) -> int:
        """How many of a worker's slots are in use, here or elsewhere."""
        return sum(self._workers.occupied(worker))

    def is_wanted(self, worker: str) -> bool:
        """Whether something runs on a worker, or waits for its model."""
        own = self._workers.find(worker)
        return own is not None and (bool(self._queues.get(own.model)) or self.busy(worker) > 0)

    def last_use(self, worker: str) -> tuple[float, float]:
        """When a slot of this worker was last lent, and when one was last given back; minus infinity for never."""
        return self._workers.last_use(worker)

    def occupied(self, worker: str) -> tuple[bool, ...]:
        """Of each of a worker's slots, whether it is in use."""
        return self._workers.occupied(worker)

    def totals(self, worker: str) -> tuple[int, float]:
        """How many generations a worker has served, and their seconds together."""
        return self._totals.get(worker, (0, 0.0))

    def slots(self, worker: str) -> int:
        """How many slots a worker has."""
        return len(self._workers.slots_of(worker))

    # ---- the decision

    def _dispatch(self, model: str, at: float, *, moves: bool = True) -> list[Command]:
        """Grant what can be granted of a model, in order, and report changed positions; not if nothing but a grant `moves` any."""
        if not (queue := self._queues.get(model)):
            return []
        workers = self._workers.on(model)
        commands, others = self._serve_kept(queue, workers, at)
        while others and (entry := self._next(queue, workers)) is not None:
            if (granted := self._grant(entry, queue, workers, workers.kept, at)) is not None:
                commands.append(granted)
                continue
            if not entry.whole:
                break
            queue.keep(entry)
            if not (name := self._kept_for(entry, workers, workers.kept, at)):
                queue.settled = None
                break
            workers.keep(workers.kept | {name})
        if not commands and not moves:
            return []
        return commands + moved(queue, self._workers, model, at, self.estimator)

    def _next(self, queue: ModelQueue, workers: ServingWorkers) -> QueueEntry | None:
        """The request whose turn it is; None if none may have a slot."""
        if workers.slots == 1 and (due := queue.ordinary.due()) is not None:
            return due
        # The replies of calls never take all of a model's slots if it has several.
        if workers.ahead < max(1, workers.slots // 2) and (ahead := queue.ahead.first()) is not None:
            return ahead
        if (ordinary := queue.ordinary.first()) is not None:
            return ordinary
        # Of several slots one stays free for the next request of somebody else.
        return None if queue.wanted or workers.free <= (workers.slots > 1) else queue.behind.first()

    def _serve_kept(
        self, queue: ModelQueue, workers: ServingWorkers, at: float
    ) -> tuple[list[Command], bool]:
        """Grant what the requests that a worker is kept for can have, and keep one for each of the rest. False: there was none left to keep, and nobody
        behind gets anything."""
        commands: list[Command] = []
        if queue.settled is workers.version and not workers.empty:
            return commands, True
        kept: set[str] = set()
        for entry in list(queue.kept):
            if (granted := self._grant(entry, queue, workers, kept, at)) is not None:
                commands.append(granted)
            elif name := self._kept_for(entry, workers, kept, at):
                kept.add(name)
            else:
                queue.settled = None
                return commands, False
        workers.keep(kept)
        queue.settled = workers.version
        return commands, True

    def _kept_for(self, entry: QueueEntry, workers: ServingWorkers, kept: Set[str], at: float) -> str:
        """The worker that is kept for a request that needs a whole one, the same until it has it: otherwise those behind would fill each worker
        again before it is empty. Empty: there is none left to keep."""
        own = workers.workers.get(entry.kept)
        if own is None or own.state != "ready" or entry.kept in kept:
            free = [name for name, _ in workers.ready() if name not in kept]
            entry.kept = self._workers.soonest_empty(entry.model, free, at, self.estimator)
        return entry.kept

    def _grant(
        self, entry: QueueEntry, queue: ModelQueue, workers: ServingWorkers, kept: Set[str], at: float
    ) -> Granted | None:
        if (choice := workers.best(entry, kept)) is None:
            return None
        name, numbers = choice
        workers.lend(name, numbers, entry, at)
        queue.line_of(entry).take(entry, len(numbers))
        if entry.ahead and workers.slots == 1:
            queue.ordinary.overtake()
        entry.begun = True
        if entry.left <= 0:
            if entry.whole and entry in queue.kept:
                queue.kept.remove(entry)
            del self._waiting[entry.ticket]
            self._behind -= entry.behind
        return Granted(entry.ticket, name, numbers)

    def _remove(self, entry: QueueEntry) -> None:
        del self._waiting[entry.ticket]
        self._behind -= entry.behind
        self._queues[entry.model].remove(entry)

    def _settle(self, model: str, slot: Slot, at: float) -> None:
        """Charge the share of a slot with the time for which it really had it."""
        if (queue := self._queues.get(model)) is not None:
            queue.line(ahead=slot.ahead, behind=slot.behind).settle(slot.share, slot.cost, at - slot.since)

    # ---- waits

    def _next_free(self, at: float) -> float | None:
        """Seconds until a place in the queue is likely to be free: until any model that is waited for has a slot."""
        models = [model for model, queue in self._queues.items() if queue]
        soonest = (self._workers.soonest_free(model, at, self.estimator) for model in models)
        return min((seconds for seconds in soonest if seconds is not None), default=None)
