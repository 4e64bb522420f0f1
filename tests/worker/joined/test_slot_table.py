"""Slots of a worker that several gateways schedule."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from duologue.worker.joined.slot_table import EVERY, SlotTable, SlotWork


def test_work_in_a_slot_waits_for_what_came_before() -> None:
    table = SlotTable()
    first, second, other = SlotWork(0, 1, 3), SlotWork(1, 1, 3), SlotWork(1, 2, 4)
    for work in (first, second, other):
        table.begin(work)
    assert [table.may_run(work) for work in (first, second, other)] == [True, False, True]
    table.end(first)
    assert table.may_run(second)


def test_a_call_of_the_model_waits_for_every_slot_and_later_work_for_it() -> None:
    table = SlotTable()
    chat, call, later = SlotWork(0, 1, 0), SlotWork(1, 1, EVERY), SlotWork(0, 2, 1)
    for work in (chat, call, later):
        table.begin(work)
    assert [table.may_run(work) for work in (chat, call, later)] == [True, False, False]
    table.end(chat)
    assert [table.may_run(work) for work in (call, later)] == [True, False]


def test_each_gateway_hears_of_the_slots_of_the_others() -> None:
    table = SlotTable()
    table.begin(SlotWork(0, 1, 3))
    table.begin(SlotWork(1, 1, 1))
    assert table.elsewhere(0, 8) == (1,)
    assert table.elsewhere(1, 8) == (3,)
    table.begin(SlotWork(1, 2, EVERY))
    assert table.elsewhere(0, 4) == (0, 1, 2, 3)


def test_work_that_has_ended_may_not_run() -> None:
    table = SlotTable()
    table.begin(SlotWork(0, 1, 0))
    assert not table.may_run(SlotWork(0, 2, 0))


WORKS = st.lists(st.tuples(st.integers(0, 2), st.integers(EVERY, 3)), max_size=12)


@given(WORKS, st.randoms(use_true_random=False))
def test_a_slot_never_works_twice_and_everything_gets_its_turn(works: list[tuple[int, int]], chance) -> None:
    table = SlotTable()
    waiting = [SlotWork(gateway, lease, slot) for lease, (gateway, slot) in enumerate(works)]
    for work in waiting:
        table.begin(work)
    while waiting:
        running = [work for work in waiting if table.may_run(work)]
        assert running, "nothing may run, and something waits"
        slots = [work.slot for work in running]
        assert len(slots) == len(set(slots))
        assert EVERY not in slots or len(slots) == 1
        done = chance.choice(running)
        waiting.remove(done)
        table.end(done)
