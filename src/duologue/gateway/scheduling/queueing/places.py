"""The places of the requests that wait for a model, and about how long they still wait. Used by the scheduler alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from duologue.gateway.scheduling.eta import Estimates
from duologue.gateway.scheduling.queueing.model_queue import ModelQueue
from duologue.gateway.scheduling.queueing.queue_commands import Moved
from duologue.gateway.scheduling.queueing.slots import QueueEntry
from duologue.gateway.scheduling.queueing.wait_forecast import (
    SlotForecast,
    WaitForecast,
    WorkerForecast,
    told,
)
from duologue.gateway.scheduling.queueing.worker_table import MANY, WorkerTable

NEAR = 20
"""Up to this position, every change of its place is sent to a request at once. Further back its place is sent when it arrives, and in the rounds
over all of them (`place_round`): sending every change to hundreds of waiting requests would delay those that are being answered."""
SLOTS_AT_ONCE = 500
WORKERS_AT_ONCE = 25
"""How many are forecast in one step of a round."""

Place = tuple[QueueEntry, Moved]


def places(
    queue: ModelQueue, workers: WorkerTable, model: str, at: float, by: Estimates, most: int | None = None
) -> Iterator[Place]:
    """The places of all, in order, or of so many."""
    line = list(queue.in_order(most))
    if not line:
        return
    forecast: WaitForecast
    if any(entry.whole for entry in line):
        forecast = WorkerForecast(workers.until_workers(model, at, by))
    else:
        forecast = SlotForecast(workers.until_slots(model, at, by))
    yield from _in_line(line, forecast, by, _lengths(queue))


def place_round(
    queue: ModelQueue, workers: WorkerTable, model: str, at: float, by: Estimates
) -> Iterator[Place | None]:
    """As `places`, of all, in small steps between which queue and workers may change. None: a step without a place."""
    forecast: WaitForecast
    if queue.wants_whole:
        by_worker: list[list[float]] = []
        every = workers.until_workers(model, at, by)
        while part := list(islice(every, WORKERS_AT_ONCE)):
            by_worker += part
            yield None
        forecast = WorkerForecast(by_worker)
    else:
        by_slot: list[float] = []
        each = workers.until_slots(model, at, by)
        while step := list(islice(each, SLOTS_AT_ONCE)):
            by_slot += step
            yield None
        forecast = SlotForecast(by_slot)
    yield from _in_line(queue.copied_order(), forecast, by, _lengths(queue))


def moved(queue: ModelQueue, workers: WorkerTable, model: str, at: float, by: Estimates) -> list[Moved]:
    """The places near the head that have changed. Where a model has many slots they change all the time, and soon come to nothing: the next
    round tells them."""
    if workers.on(model).slots > MANY:
        return []
    changed = []
    for entry, place in places(queue, workers, model, at, by, NEAR):
        if entry.reported != place.position:
            note(entry, place, at)
            changed.append(place)
    return changed


def first_place(
    entry: QueueEntry, queue: ModelQueue, workers: WorkerTable, at: float, by: Estimates
) -> Moved:
    """The place of a request that has just come, far back: counted and estimated without walking the line."""
    count, seconds = queue.before(entry)
    length = _length(_lengths(queue), entry)
    mean, slots = workers.mean_until_free(entry.model, at, by)
    place = Moved(entry.ticket, min(count + 1, length), told(mean + seconds / slots), length)
    note(entry, place, at)
    return place


def last_place(entry: QueueEntry, queue: ModelQueue) -> Moved:
    """The place that a request was last told."""
    return Moved(
        entry.ticket,
        entry.reported,
        entry.reported_wait,
        max(entry.reported, _length(_lengths(queue), entry)),
    )


def note(entry: QueueEntry, place: Moved, at: float) -> None:
    """The request is told this place."""
    entry.reported, entry.reported_wait, entry.reported_at = place.position, place.wait, at


def _in_line(
    line: Iterable[QueueEntry], forecast: WaitForecast, by: Estimates, lengths: tuple[int, int]
) -> Iterator[Place]:
    position, seen = 0, set[str]()
    for entry in line:
        wait = forecast.wait(by.expected(entry.job), entry.whole)
        if entry.begun or entry.ticket in seen:
            continue
        seen.add(entry.ticket)
        position += 1
        # Some may have come since the lengths were taken.
        length = max(position, _length(lengths, entry))
        yield entry, Moved(entry.ticket, position, told(wait), length)


def _lengths(queue: ModelQueue) -> tuple[int, int]:
    """How many waiting requests are not batches, and how many there are in all."""
    others = len(queue.kept) + len(queue.ahead) + len(queue.ordinary)
    return others, others + len(queue.behind)


def _length(lengths: tuple[int, int], entry: QueueEntry) -> int:
    return lengths[entry.behind]
