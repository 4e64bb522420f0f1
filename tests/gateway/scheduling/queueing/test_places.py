from duologue.gateway.scheduling.eta import Estimator
from duologue.gateway.scheduling.queueing.model_queue import ModelQueue
from duologue.gateway.scheduling.queueing.places import NEAR, first_place, moved, places
from duologue.gateway.scheduling.queueing.slots import QueueEntry, Slot, WorkerSlots
from duologue.gateway.scheduling.queueing.worker_table import MANY, WorkerTable


def table(slots: int) -> WorkerTable:
    workers = WorkerTable()
    workers.put("w", WorkerSlots("m", "ready", [Slot(ticket="r", kind="chat") for _ in range(slots)]))
    return workers


def line(count: int) -> tuple[ModelQueue, list[QueueEntry]]:
    queue = ModelQueue()
    entries = []
    for number in range(1, count + 1):
        entry = QueueEntry(f"q{number}", "m", 1, "chat", (), 0.0, number=number, cost=10.0)
        queue.ordinary.add(entry)
        entries.append(entry)
    return queue, entries


def test_places_are_told_near_the_head_and_only_when_they_have_changed():
    queue, entries = line(NEAR + 5)
    told = moved(queue, table(2), "m", 1.0, Estimator())
    assert [(place.ticket, place.position, place.length) for place in told] == [
        (f"q{number}", number, NEAR + 5) for number in range(1, NEAR + 1)
    ]
    assert moved(queue, table(2), "m", 2.0, Estimator()) == []
    queue.remove(entries[1])
    assert [place.position for place in moved(queue, table(2), "m", 3.0, Estimator())] == [
        *range(2, NEAR + 1)
    ]


def test_where_a_model_has_many_slots_places_are_told_only_together():
    queue, entries = line(3)
    workers = table(MANY + 1)
    assert moved(queue, workers, "m", 1.0, Estimator()) == []
    assert [place.position for _, place in places(queue, workers, "m", 1.0, Estimator())] == [1, 2, 3]
    first = first_place(entries[2], queue, workers, 1.0, Estimator())
    assert (first.position, first.length, entries[2].reported) == (3, 3, 3)


def test_what_runs_already_and_waits_for_further_slots_has_no_place():
    queue, entries = line(2)
    entries[0].begun = True
    [(entry, place)] = places(queue, table(1), "m", 1.0, Estimator())
    assert (entry.ticket, place.position) == ("q2", 1)
