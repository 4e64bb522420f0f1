"""Which saves share a transaction."""

from __future__ import annotations

from duologue.conversations.runs.saving.save_queue import (
    MOST_PARTS,
    MOST_SAVES,
    HasSave,
    RunSave,
    SaveQueue,
)
from duologue.store.log_entry import LogEntry


def save(run: str, parts: int = 1) -> HasSave:
    return HasSave(RunSave(run, (), [LogEntry(number, number, (), b"") for number in range(parts)]))


def runs(batch: list[HasSave]) -> list[str]:
    return [one.save.run for one in batch]


def test_the_first_leads_and_those_that_wait_when_it_begins_go_with_it():
    queue: SaveQueue[HasSave] = SaveQueue()
    assert [queue.add(save(run)) for run in "abc"] == [True, False, False]
    assert runs(queue.take()) == ["a", "b", "c"]
    assert queue.hand_over() is None
    assert queue.add(save("d"))


def test_what_comes_during_a_transaction_shares_the_next_and_its_first_leads():
    queue: SaveQueue[HasSave] = SaveQueue()
    queue.add(save("a"))
    assert runs(queue.take()) == ["a"]
    waiting = [save(run) for run in "bc"]
    assert [queue.add(one) for one in waiting] == [False, False]
    assert queue.hand_over() is waiting[0]
    assert runs(queue.take()) == ["b", "c"]


def test_a_transaction_is_bounded_and_the_rest_goes_into_the_next():
    queue: SaveQueue[HasSave] = SaveQueue()
    for number in range(MOST_SAVES + 3):
        queue.add(save(str(number)))
    assert len(queue.take()) == MOST_SAVES
    leader = queue.hand_over()
    assert leader is not None
    assert leader.save.run == str(MOST_SAVES)
    assert len(queue.take()) == 3


def test_many_rows_and_entries_bound_a_transaction_but_a_large_save_is_stored_alone():
    queue: SaveQueue[HasSave] = SaveQueue()
    for run, parts in (("a", 5 * MOST_PARTS), ("b", MOST_PARTS - 1), ("c", 1), ("d", 1)):
        queue.add(save(run, parts))
    assert runs(queue.take()) == ["a"]
    queue.hand_over()
    assert runs(queue.take()) == ["b", "c"]
    queue.hand_over()
    assert runs(queue.take()) == ["d"]
