"""Counts in memory."""

from duologue.gateway.usage.usage_counter import OTHER, UsageCounter
from duologue.values.usage.usage_counts import UsageCounts, UsageRow, UsageSlot


def slot(model: str) -> UsageSlot:
    return UsageSlot("2026-11-27", "key_1", "user_1", "bob", "duo_ab", model, "chat")


def test_what_is_taken_is_there_no_more_and_may_be_put_back():
    counter = UsageCounter()
    counter.add(slot("a"), UsageCounts(requests=1))
    counter.add(slot("a"), UsageCounts(prompt=5))
    taken = counter.take()
    assert taken == [UsageRow(slot("a"), UsageCounts(requests=1, prompt=5))]
    assert len(counter) == 0
    counter.add(slot("a"), UsageCounts(requests=2))
    counter.put_back(taken)
    assert counter.take() == [UsageRow(slot("a"), UsageCounts(requests=3, prompt=5))]


def test_it_stays_small_and_loses_nothing_while_nothing_can_be_written():
    counter = UsageCounter(most=3)
    for number in range(1000):
        counter.add(slot(f"model {number}"), UsageCounts(requests=1))
    rows = counter.take()
    assert len(rows) == 4
    assert sum(row.counts.requests for row in rows) == 1000
    assert max(rows, key=lambda row: row.counts.requests).slot.model == OTHER
