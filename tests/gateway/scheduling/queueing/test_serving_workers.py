from duologue.gateway.scheduling.queueing.serving_workers import ServingWorkers
from duologue.gateway.scheduling.queueing.slots import EVERY_SLOT, QueueEntry, Slot, SlotsState, WorkerSlots


def entry(*chain: bytes, need: int = 1, ahead: bool = False) -> QueueEntry:
    return QueueEntry("q", "m", need, "chat", chain, 0.0, ahead=ahead)


def made(*workers: list[Slot], state: SlotsState = "ready") -> ServingWorkers:
    of_model = ServingWorkers()
    for number, slots in enumerate(workers):
        of_model.put(f"w{number}", WorkerSlots("m", state, slots, order=number))
    return of_model


def test_the_slot_whose_cache_holds_most_of_the_conversation_is_taken():
    workers = made([Slot()], [Slot(chain=(b"1", b"2"), used=5.0)])
    assert workers.best(entry(b"1", b"2", b"3"), set()) == ("w1", (0,))
    assert workers.best(entry(b"9"), set()) == ("w0", (0,)), "the longest unused for another one"
    workers.keep({"w1"})
    assert workers.best(entry(b"1", b"2", b"3"), workers.kept) == ("w0", (0,))
    workers.keep(set())
    assert workers.best(entry(b"1", b"2", b"3"), workers.kept) == ("w1", (0,))


def test_a_whole_worker_is_taken_only_when_all_of_it_is_free():
    workers = made([Slot(), Slot()])
    workers.lend("w0", (1,), entry(ahead=True), 1.0)
    assert (workers.slots, workers.free, workers.ahead) == (2, 1, 1)
    assert workers.best(entry(need=EVERY_SLOT), set()) is None
    workers.take_back("w0", 1, 2.0)
    assert (workers.free, workers.ahead) == (2, 0)
    assert workers.best(entry(need=EVERY_SLOT), set()) == ("w0", (0, 1))
    assert workers.best(entry(need=EVERY_SLOT), {"w0"}) is None


def test_only_slots_of_workers_that_are_ready_are_counted():
    workers = made([Slot(), Slot()], [Slot()], state="held")
    assert (workers.slots, workers.free, workers.ready()) == (0, 0, [])
    assert workers.serving
    assert workers.best(entry(), set()) is None
    worker = workers.drop("w0")
    worker.state = "ready"
    workers.put("w0", worker)
    assert (workers.slots, workers.free) == (2, 2)
    assert workers.ready_slots() == worker.slots
    workers.drop("w0")
    workers.drop("w1")
    assert (workers.slots, workers.free, len(workers), workers.serving) == (0, 0, 0, False)


def test_a_slot_that_works_elsewhere_is_not_free():
    workers = made([Slot(), Slot()])
    workers.use_elsewhere("w0", frozenset({0, 7}), 1.0)
    assert (workers.slots, workers.free) == (2, 1)
    assert workers.best(entry(), set()) == ("w0", (1,))
    workers.use_elsewhere("w0", frozenset({1}), 2.0)
    assert workers.best(entry(), set()) == ("w0", (0,))
