"""The workers and their slots: what is free, what runs, and when it is likely to be over. Used by the scheduler alone."""

from __future__ import annotations

from collections.abc import Iterator

from duologue.gateway.scheduling.eta import Estimates, Job, SlotProgress
from duologue.gateway.scheduling.queueing.queue_commands import Refused
from duologue.gateway.scheduling.queueing.slots import NEVER, Slot, WorkerSlots

MANY = 256
"""Slots of a model from which on its whole forecast is too much work for every step."""


def unloaded_message(model: str) -> str:
    """The sentence for requests that used or waited for a model that was unloaded."""
    return f"The model {model!r} was unloaded. Choose another model, or load it again."


class WorkerTable:
    """By name, in the order in which the workers came."""

    def __init__(self) -> None:
        self._workers: dict[str, WorkerSlots] = {}

    def put(self, name: str, worker: WorkerSlots) -> None:
        self._workers[name] = worker

    def drop(self, name: str) -> WorkerSlots | None:
        return self._workers.pop(name, None)

    def find(self, name: str) -> WorkerSlots | None:
        return self._workers.get(name)

    def of(self, model: str) -> list[WorkerSlots]:
        """The workers of a model, in whatever state."""
        return [worker for worker in self._workers.values() if worker.model == model]

    def ready(self, model: str) -> list[tuple[str, WorkerSlots]]:
        """The workers that serve a model now."""
        return [
            (name, worker)
            for name, worker in self._workers.items()
            if worker.state == "ready" and worker.model == model
        ]

    def only_drain(self, model: str) -> bool:
        """Whether every worker of a model is going to be removed, if there is one."""
        return all(worker.state == "draining" for worker in self.of(model))

    def refusal(self, ticket: str, model: str) -> Refused | None:
        """Why no worker of this model will ever serve a request; None if one may."""
        serving = self.of(model)
        if any(worker.state not in ("failed", "draining") for worker in serving):
            return None
        detail = next((worker.detail for worker in serving if worker.detail), "")
        if not detail and serving:
            return Refused(ticket, "model_unloaded", unloaded_message(model))
        return Refused(ticket, "model_unavailable", detail or f"No worker serves the model {model!r}.")

    # ---- slots

    def slots_of(self, worker: str) -> list[Slot]:
        return self._workers[worker].slots if worker in self._workers else []

    def slots_for(self, model: str) -> list[Slot]:
        """The slots that serve a model now."""
        return [slot for _, worker in self.ready(model) for slot in worker.slots]

    def slot(self, worker: str, number: int, ticket: str) -> Slot | None:
        """A slot, if this ticket holds it."""
        slots = self.slots_of(worker)
        return slots[number] if number < len(slots) and slots[number].ticket == ticket else None

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

    def until_slots(self, model: str, at: float, by: Estimates) -> list[float]:
        """Until each busy slot of a model is free, and until each slot of one of its starting workers is there."""
        busy = [_until_free(model, slot, at, by) for slot in self.slots_for(model) if not slot.free]
        return busy + [seconds for slots in self._starting(model, at, by) for seconds in slots]

    def mean_until_free(self, model: str, at: float, by: Estimates) -> tuple[float, int]:
        """The mean of `until_slots`, and how many they are; of many, some are taken for all."""
        busy = [slot for slot in self.slots_for(model) if not slot.free]
        step = max(1, len(busy) // MANY)
        seconds = [_until_free(model, slot, at, by) for slot in busy[::step]]
        starting = [second for slots in self._starting(model, at, by) for second in slots]
        count = len(busy) + len(starting)
        return ((sum(seconds) * len(busy) / max(1, len(seconds))) + sum(starting)) / max(1, count), max(
            1, count
        )

    def until_workers(self, model: str, at: float, by: Estimates) -> list[list[float]]:
        """For each worker of a model, until each of its slots is free."""
        return [self.until_free(name, at, by) for name, _ in self.ready(model)] + self._starting(
            model, at, by
        )

    def _starting(self, model: str, at: float, by: Estimates) -> list[list[float]]:
        return [
            [by.start_remaining(model, at - worker.since)] * worker.expected
            for worker in self.of(model)
            if worker.state == "starting"
        ]


def _until_free(model: str, slot: Slot, at: float, by: Estimates) -> float:
    """Until a slot in use is free. What another gateway runs in it is taken for a chat of its model."""
    own = 0.0 if slot.ticket is None else by.remaining(slot.job, slot.progress, at)
    if slot.elsewhere is None:
        return own
    return max(own, by.remaining(Job(model), SlotProgress(since=slot.elsewhere), at))
