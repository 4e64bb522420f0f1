from duologue.gateway.scheduling.eta import Job
from duologue.gateway.scheduling.queueing.slots import (
    EVERY_SLOT,
    QueueEntry,
    Slot,
    WorkerSlots,
    best_slots,
    lend,
)


def entry(*chain: bytes, need: int = 1) -> QueueEntry:
    return QueueEntry("q", "m", need, "chat", chain, 0.0, job=Job("m", prompt=100.0))


def test_the_slot_whose_cache_holds_most_of_the_conversation_is_taken():
    cold, warm = Slot(), Slot(chain=(b"1", b"2"), used=5.0)
    workers = [("w", WorkerSlots("m", "ready", [cold])), ("v", WorkerSlots("m", "ready", [warm]))]
    assert best_slots(workers, entry(b"1", b"2", b"3"), set()) == ("v", (0,))
    assert best_slots(workers, entry(b"9"), set()) == ("w", (0,)), "the longest unused for another one"
    assert best_slots(workers, entry(b"1", b"2", b"3"), {"v"}) == ("w", (0,))


def test_a_whole_worker_is_taken_only_when_all_of_it_is_free():
    worker = WorkerSlots("m", "ready", [Slot(), Slot(ticket="other")])
    assert best_slots([("w", worker)], entry(need=EVERY_SLOT), set()) is None
    worker.slots[1].ticket = None
    assert best_slots([("w", worker)], entry(need=EVERY_SLOT), set()) == ("w", (0, 1))


def test_what_is_in_the_cache_need_not_be_read():
    slots = [Slot(chain=(b"1", b"2", b"3"))]
    lend(slots, [0], entry(b"1", b"2", b"3", b"4"), 7.0)
    assert slots[0].job.prompt == 25.0
    assert (slots[0].ticket, slots[0].since, slots[0].progress.since) == ("q", 7.0, 7.0)
