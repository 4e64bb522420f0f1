from duologue.gateway.scheduling.eta import Estimator, Job
from duologue.gateway.scheduling.queueing.slots import Slot, SlotsState, WorkerSlots
from duologue.gateway.scheduling.queueing.worker_table import MANY, MOMENT, WorkerTable


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
    assert list(workers.until_workers("m", 0.0, Estimator())) == [[first, second]]
    assert workers.refusal("q", "m") is None


def test_a_model_whose_workers_are_all_gone_is_refused():
    assert table().refusal("q", "m") is not None
    assert table(("w", "draining", [Slot()])).only_drain("m")
    assert not table(("w", "draining", []), ("v", "failed", [])).only_drain("m")


def test_the_worker_that_is_likely_to_be_empty_first_is_found():
    now = [Slot(ticket="q", kind="chat", since=0.0)]
    workers = table(
        ("late", "ready", [*now, Slot(), *now]), ("empty", "ready", [Slot()]), ("v", "ready", [Slot()])
    )
    estimator = Estimator()
    assert workers.soonest_empty("m", ["late", "empty", "v"], 1.0, estimator) == "empty"
    assert workers.soonest_empty("m", ["late"], 1.0, estimator) == "late"
    assert workers.soonest_empty("m", [], 1.0, estimator) == ""


def test_of_many_slots_some_stand_for_all_and_their_mean_holds_for_a_moment():
    workers = table(("w", "ready", [Slot(ticket="q", kind="chat", job=Job("m")) for _ in range(2 * MANY)]))
    estimator = Estimator()
    mean, count = workers.mean_until_free("m", 0.0, estimator)
    assert (mean, count) == (next(workers.until_slots("m", 0.0, estimator)), 2 * MANY)
    for _ in range(5):
        estimator.observe(Job("m"), 100.0)
    assert workers.mean_until_free("m", MOMENT / 2, estimator) == (mean, count)
    later, _ = workers.mean_until_free("m", 2 * MOMENT, estimator)
    assert later > mean
    assert workers.soonest_free("m", 2 * MOMENT, estimator) == min(
        workers.until_slots("m", 2 * MOMENT, estimator)
    )


def test_a_worker_that_changes_its_model_leaves_the_other_one_and_keeps_its_order():
    workers = table(("w", "ready", [Slot()]), ("v", "ready", [Slot()]))
    workers.put("w", WorkerSlots("n", "ready", [Slot()]))
    assert [name for name, _ in workers.on("m").ready()] == ["v"]
    workers.put("v", WorkerSlots("n", "ready", [Slot()]))
    assert [name for name, _ in workers.on("n").ready()] == ["w", "v"]
    assert workers.refusal("q", "m") is not None
    workers.set_state("w", "draining")
    assert [name for name, _ in workers.on("n").ready()] == ["v"]
