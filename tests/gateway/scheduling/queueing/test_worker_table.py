from duologue.gateway.scheduling.eta import Estimator, Job
from duologue.gateway.scheduling.queueing.slots import Slot, SlotsState, WorkerSlots
from duologue.gateway.scheduling.queueing.worker_table import WorkerTable


def table(*workers: tuple[str, SlotsState, list[Slot]]) -> WorkerTable:
    made = WorkerTable()
    for name, state, slots in workers:
        made.put(name, WorkerSlots("m", state, slots, expected=2))
    return made


def test_a_slot_belongs_to_the_ticket_that_holds_it():
    workers = table(("w", "ready", [Slot(ticket="q", kind="chat", job=Job("m"))]))
    assert workers.slot("w", 0, "q") is not None
    assert [workers.slot(*key) for key in (("w", 0, "other"), ("w", 1, "q"), ("v", 0, "q"))] == [None] * 3
    assert [(name, slot.ticket) for name, slot in workers.lent()] == [("w", "q")]


def test_the_slots_of_a_starting_worker_are_counted_when_it_will_be_ready():
    workers = table(("w", "starting", []), ("v", "failed", []))
    [first, second] = workers.until_slots("m", 0.0, Estimator())
    assert first == second > 5.0
    assert workers.until_workers("m", 0.0, Estimator()) == [[first, second]]
    assert workers.refusal("q", "m") is None


def test_a_model_whose_workers_are_all_gone_is_refused():
    assert table().refusal("q", "m") is not None
    assert table(("w", "draining", [Slot()])).only_drain("m")
    assert not table(("w", "draining", []), ("v", "failed", [])).only_drain("m")
