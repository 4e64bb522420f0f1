"""Where the requests that wait for a model stand, and for about how long they still wait. Used by the scheduler alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from duologue.gateway.scheduling.eta import Estimates
from duologue.gateway.scheduling.queueing.model_queue import ModelQueue
from duologue.gateway.scheduling.queueing.queue_commands import Moved
from duologue.gateway.scheduling.queueing.slots import QueueEntry
from duologue.gateway.scheduling.queueing.wait_forecast import told, waits, waits_whole
from duologue.gateway.scheduling.queueing.worker_table import MANY, WorkerTable

NEAR = 20
"""Up to this position, a request hears of every change of its place at once. Further back it hears of its place when it arrives, and when all
places are sent (`Scheduler.places`): sending every change to hundreds of waiting requests would delay those that are being answered."""


def places(
    queue: ModelQueue, workers: WorkerTable, model: str, at: float, by: Estimates, most: int | None = None
) -> Iterator[tuple[QueueEntry, Moved]]:
    """The places of all, in order, or of so many."""
    line = list(queue.in_order(most))
    if not line:
        return
    position, seen = 0, set[str]()
    for entry, wait in zip(line, _waits(workers, model, line, at, by), strict=True):
        if entry.begun or entry.ticket in seen:
            continue
        seen.add(entry.ticket)
        position += 1
        yield entry, Moved(entry.ticket, position, told(wait), _length(queue, entry))


def moved(queue: ModelQueue, workers: WorkerTable, model: str, at: float, by: Estimates) -> list[Moved]:
    """The places near the head that have changed. Where a model has many slots they change all the time, and soon come to nothing: the next
    `places` tells them."""
    if workers.on(model).slots > MANY:
        return []
    changed = []
    for entry, place in places(queue, workers, model, at, by, NEAR):
        if entry.reported != place.position:
            entry.reported = place.position
            changed.append(place)
    return changed


def first_place(
    entry: QueueEntry, queue: ModelQueue, workers: WorkerTable, at: float, by: Estimates
) -> Moved:
    """The place of a request that has just come, far back: counted and estimated without walking the line."""
    count, seconds = queue.before(entry)
    length = _length(queue, entry)
    mean, slots = workers.mean_until_free(entry.model, at, by)
    entry.reported = min(count + 1, length)
    return Moved(entry.ticket, entry.reported, told(mean + seconds / slots), length)


def _length(queue: ModelQueue, entry: QueueEntry) -> int:
    others = len(queue.kept) + len(queue.ahead) + len(queue.ordinary)
    return others + len(queue.behind) if entry.behind else others


def _waits(
    workers: WorkerTable, model: str, line: Sequence[QueueEntry], at: float, by: Estimates
) -> list[float]:
    """How long each of a model's waiting requests still waits."""
    durations = [by.expected(entry.job) for entry in line]
    if not any(entry.whole for entry in line):
        return waits(workers.until_slots(model, at, by), durations)
    return waits_whole(workers.until_workers(model, at, by), durations, [entry.whole for entry in line])
