"""The index of free slots, and what a choice costs in it, counted by the workers that it looks at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from duologue.gateway.scheduling.queueing.free_slots import FreeSlots, SlotAddress
from duologue.gateway.scheduling.queueing.slots import Chain, QueueEntry, Slot, WorkerSlots


def entry(*chain: bytes, opening: bytes = b"") -> QueueEntry:
    return QueueEntry("q", "m", 1, "chat", chain, 0.0, opening=opening)


class Counted(Mapping[str, WorkerSlots]):
    """Workers, and how often one was looked at."""

    def __init__(self, workers: dict[str, WorkerSlots]) -> None:
        self._workers = workers
        self.looks = 0

    def __getitem__(self, name: str) -> WorkerSlots:
        self.looks += 1
        return self._workers[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._workers)

    def __len__(self) -> int:
        return len(self._workers)


class Indexed:
    """Workers with free slots, by what the caches hold."""

    def __init__(self, *workers: tuple[Chain, ...]) -> None:
        self.workers = Counted(
            {
                f"w{number}": WorkerSlots(
                    "m", "ready", [Slot(chain=chain) for chain in chains], order=number, free=len(chains)
                )
                for number, chains in enumerate(workers)
            }
        )
        self.free = FreeSlots(self.workers)
        for name, worker in self.workers.items():
            for number in range(len(worker.slots)):
                self.free.add(name, number)

    def lend(self, name: str, number: int) -> None:
        self.workers[name].free -= 1
        self.free.discard(name, number)

    def give_back(self, name: str, number: int, used: float, *chain: bytes) -> None:
        worker = self.workers[name]
        worker.free += 1
        worker.slots[number].used, worker.slots[number].chain = used, chain
        self.free.add(name, number)


def test_the_longest_beginning_in_a_cache_is_found():
    indexed = Indexed(((b"1", b"2", b"3", b"4"),), ((b"1", b"2", b"3"),), ((),))
    assert indexed.free.best(entry(b"1", b"2", b"3", b"9")) == SlotAddress("w0", 0), (
        "both hold three: the first"
    )
    assert indexed.free.best(entry(b"1", b"2", b"9")) == SlotAddress("w1", 0), "half of what the other holds"
    assert indexed.free.best(entry(b"1", b"9")) == SlotAddress("w0", 0), "of equal ones the first"
    indexed.lend("w1", 0)
    assert indexed.free.best(entry(b"1", b"2", b"9")) == SlotAddress("w0", 0)


def test_the_worker_with_most_free_slots_comes_first_and_then_the_longest_unused_slot():
    indexed = Indexed(((), ()), ((), ()))
    indexed.lend("w0", 0)
    assert indexed.free.best(entry()) == SlotAddress("w1", 0)
    indexed.lend("w1", 0)
    indexed.give_back("w0", 0, 5.0)
    indexed.give_back("w1", 0, 4.0)
    indexed.lend("w0", 1)
    indexed.lend("w1", 1)
    assert indexed.free.best(entry()) == SlotAddress("w1", 0)
    indexed.lend("w1", 0)
    indexed.lend("w0", 0)
    assert indexed.free.best(entry()) is None


def test_an_opening_is_found_where_no_messages_are():
    indexed = Indexed(((b"1",),), ((b"2",),))
    indexed.lend("w1", 0)
    indexed.workers["w1"].slots[0].opening = b"tools"
    indexed.give_back("w1", 0, 9.0)
    assert indexed.free.best(entry(b"3", opening=b"tools")) == SlotAddress("w1", 0)
    assert indexed.free.best(entry(b"1", opening=b"tools")) == SlotAddress("w0", 0)
    assert indexed.free.best(entry(b"3", opening=b"other")) == SlotAddress("w0", 0)


def test_a_choice_looks_at_as_many_of_a_thousand_workers_as_have_changed():
    """Whichever of the groups of slots a request leads to."""
    shared = (b"system", b"example")
    indexed = Indexed(*[((*shared, b"%d" % number), ()) for number in range(1000)])
    requests = [entry(), entry(*shared, b"question"), entry(*shared, b"7")]
    for request in requests:
        indexed.free.best(request)
    for used in range(20):
        place = indexed.free.best(entry(*shared, b"question"))
        assert place is not None
        indexed.lend(*place)
        indexed.give_back(*place, float(used), *shared, b"other")
        before = indexed.workers.looks
        for request in requests:
            indexed.free.best(request)
        assert indexed.workers.looks - before < 12


def test_a_group_that_has_missed_too_many_changes_looks_at_all_of_its_workers_again(monkeypatch):
    monkeypatch.setattr("duologue.gateway.scheduling.queueing.free_slots.MOST_CHANGES", 4)
    indexed = Indexed(*[((), (b"1",)) for _ in range(10)])
    assert indexed.free.best(entry(b"1")) == SlotAddress("w0", 1)
    for name in ("w0", "w1", "w2"):
        indexed.lend(name, 0)
    assert indexed.free.best(entry(b"1")) == SlotAddress("w3", 1)
    for number in range(6):
        indexed.lend(f"w{number + 3}", 0)
    assert indexed.free.best(entry(b"1")) == SlotAddress("w9", 1)
