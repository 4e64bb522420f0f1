"""The workers and their slots: what is free, what runs, and when it is likely to be over. Used by the scheduler alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf

from duologue.gateway.scheduling.eta import Estimates, Job, SlotProgress
from duologue.gateway.scheduling.queueing.queue_commands import Refused
from duologue.gateway.scheduling.queueing.serving_workers import ServingWorkers
from duologue.gateway.scheduling.queueing.slots import NEVER, Slot, SlotsState, WorkerSlots

MANY = 256
"""Slots of a model from which on its whole forecast is too much work for every step."""
MOMENT = 0.5
"""Seconds for which the mean over many slots is still used."""


def unloaded_message(model: str) -> str:
    """The sentence for requests that used or waited for a model that was unloaded."""
    return f"The model {model!r} was unloaded. Choose another model, or load it again."


class WorkerTable:
    """By name, in the order in which the workers came. What may be lent is with the workers of each model (`on`)."""

    def __init__(self) -> None:
        self._workers: dict[str, WorkerSlots] = {}
        self._models: dict[str, ServingWorkers] = {}
        self._came = 0

    def put(self, name: str, worker: WorkerSlots) -> None:
        if (before := self._workers.get(name)) is None:
            self._came += 1
            worker.order = self._came
        else:
            self._leave(name, before)
            worker.order = before.order
        self._workers[name] = worker
        self._models.setdefault(worker.model, ServingWorkers()).put(name, worker)

    def drop(self, name: str) -> WorkerSlots | None:
        if (worker := self._workers.pop(name, None)) is not None:
            self._leave(name, worker)
        return worker

    def set_state(self, name: str, state: SlotsState, detail: str = "") -> None:
        """Change the worker's state; its slots stay as they are."""
        worker = self._workers[name]
        self._models[worker.model].drop(name)
        worker.state, worker.detail = state, detail
        self._models[worker.model].put(name, worker)

    def _leave(self, name: str, worker: WorkerSlots) -> None:
        workers = self._models[worker.model]
        workers.drop(name)
        if not workers:
            del self._models[worker.model]

    def find(self, name: str) -> WorkerSlots | None:
        return self._workers.get(name)

    def on(self, model: str) -> ServingWorkers:
        """The workers of a model, in whatever state."""
        return self._models.get(model) or ServingWorkers()

    def only_drain(self, model: str) -> bool:
        """Whether every worker of a model is going to be removed, if there is one."""
        return all(worker.state == "draining" for worker in self.on(model).workers.values())

    def refusal(self, ticket: str, model: str) -> Refused | None:
        """Why no worker of this model will ever serve a request; None if one may."""
        workers = self.on(model)
        if workers.serving:
            return None
        detail = next((worker.detail for _, worker in workers.in_order() if worker.detail), "")
        if not detail and workers:
            return Refused(ticket, "model_unloaded", unloaded_message(model))
        return Refused(ticket, "model_unavailable", detail or f"No worker serves the model {model!r}.")

    # ---- slots

    def slots_of(self, worker: str) -> list[Slot]:
        return self._workers[worker].slots if worker in self._workers else []

    def slot(self, worker: str, number: int, ticket: str) -> Slot | None:
        """A slot, if this ticket holds it."""
        slots = self.slots_of(worker)
        return slots[number] if number < len(slots) and slots[number].ticket == ticket else None

    def take_back(self, worker: str, number: int, at: float) -> None:
        """A slot that was lent is free, unless it is at work elsewhere."""
        self.on(self._workers[worker].model).take_back(worker, number, at)

    def lent(self) -> Iterator[tuple[str, Slot]]:
        """Every slot that is in use, with the name of its worker."""
        for name, worker in self._workers.items():
            yield from ((name, slot) for slot in worker.slots if slot.ticket is not None)

    def occupied(self, worker: str) -> tuple[bool, ...]:
        """Of each of a worker's slots, whether it is in use, here or elsewhere."""
        return tuple(not slot.free for slot in self.slots_of(worker))

    def last_use(self, worker: str) -> tuple[float, float]:
        """When a slot of this worker was last lent, and when one was last given back; minus infinity for never."""
        slots = self.slots_of(worker)
        lent = max((slot.since for slot in slots if slot.kind), default=NEVER)
        return lent, max((slot.used for slot in slots), default=NEVER)

    # ---- estimates, in seconds

    def until_free(self, worker: str, at: float, by: Estimates) -> list[float]:
        """Until each slot of a worker is free."""
        if (own := self.find(worker)) is None:
            return []
        return [0.0 if slot.free else _until_free(own.model, slot, at, by) for slot in own.slots]

    def soonest_empty(self, model: str, names: Sequence[str], at: float, by: Estimates) -> str:
        """Which of these workers is likely to be the first of which every slot is free; "" if there are none."""
        best, least = "", inf
        for name in names:
            last = 0.0
            for slot in self.slots_of(name):
                if not slot.free and (last := max(last, _until_free(model, slot, at, by))) >= least:
                    break
            if not best or last < least:
                best, least = name, last
        return best

    def until_slots(self, model: str, at: float, by: Estimates) -> Iterator[float]:
        """Until each busy slot of a model is free, and until each slot of one of its starting workers is there. Workers may change while this is walked."""
        ready, starting = self.on(model).ready_slots(), self._starting(model, at, by)
        yield from (_until_free(model, slot, at, by) for slot in ready if not slot.free)
        yield from (seconds for slots in starting for seconds in slots)

    def soonest_free(self, model: str, at: float, by: Estimates) -> float | None:
        """The least of `until_slots`; of many slots some are looked at."""
        starting = [seconds for slots in self._starting(model, at, by) for seconds in slots[:1]]
        return min(self._sample(model, at, by) + starting, default=None)

    def mean_until_free(self, model: str, at: float, by: Estimates) -> tuple[float, int]:
        """The mean of `until_slots`, and how many they are; of many, some are taken for all, and for a moment what they were before."""
        workers = self.on(model)
        busy = workers.slots - workers.free
        mean = workers.mean_until_free
        if workers.slots <= MANY or mean is None or not 0 <= at - mean[0] < MOMENT:
            sample = self._sample(model, at, by)
            workers.mean_until_free = mean = at, sum(sample) / max(1, len(sample))
        starting = [second for slots in self._starting(model, at, by) for second in slots]
        count = max(1, busy + len(starting))
        return (mean[1] * busy + sum(starting)) / count, count

    def until_workers(self, model: str, at: float, by: Estimates) -> Iterator[list[float]]:
        """For each worker of a model, until each of its slots is free. Workers may change while this is walked."""
        ready, starting = self.on(model).ready(), self._starting(model, at, by)
        yield from (self.until_free(name, at, by) for name, _ in ready)
        yield from starting

    def _sample(self, model: str, at: float, by: Estimates) -> list[float]:
        """Until each busy slot of a model is free; of many slots, until some."""
        slots = self.on(model).ready_slots()
        step = max(1, len(slots) // MANY)
        return [_until_free(model, slot, at, by) for slot in slots[::step] if not slot.free]

    def _starting(self, model: str, at: float, by: Estimates) -> list[list[float]]:
        return [
            [by.start_remaining(model, at - worker.since)] * worker.expected
            for worker in self.on(model).starting()
        ]


def _until_free(model: str, slot: Slot, at: float, by: Estimates) -> float:
    """Until a slot in use is free. What another gateway runs in it is taken for a chat of its model."""
    own = 0.0 if slot.ticket is None else by.remaining(slot.job, slot.progress, at)
    if slot.elsewhere is None:
        return own
    return max(own, by.remaining(Job(model), SlotProgress(since=slot.elsewhere), at))
