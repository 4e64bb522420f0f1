"""The dispatch point, told in facts and commands; no clock runs here."""

import random
from collections.abc import Sequence

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from duologue.gateway.scheduling.eta import Job
from duologue.gateway.scheduling.queueing.slots import reusable_messages
from duologue.gateway.scheduling.queueing.worker_table import MANY
from duologue.gateway.scheduling.scheduler import (
    EVERY_SLOT,
    Granted,
    Moved,
    Refused,
    Scheduler,
)


def up(slots: int = 1, limit: int = 1000, model: str = "m") -> Scheduler:
    queue = Scheduler(limit)
    queue.worker_ready("w", model, slots, 0.0)
    return queue


def test_a_free_slot_is_lent_at_once():
    assert up().request("a", "m", 1.0) == [Granted("a", "w", (0,))]


def test_the_second_waits_first_in_line_and_is_served_when_the_slot_returns():
    queue = up()
    queue.request("a", "m", 0.0)
    [moved] = queue.request("b", "m", 1.0)
    assert isinstance(moved, Moved)
    assert (moved.position, moved.length) == (1, 1)
    assert queue.release("a", "w", 0, 2.0) == [Granted("b", "w", (0,))]


def test_a_worker_that_drains_keeps_what_runs_and_gets_nothing_new():
    queue = up(slots=2)
    queue.request("a", "m", 0.0)
    queue.worker_ready("v", "m", 1, 1.0)
    queue.worker_draining("w", 2.0)
    assert queue.request("b", "m", 3.0) == [Granted("b", "v", (0,))]
    [moved] = queue.request("c", "m", 4.0)
    assert isinstance(moved, Moved)
    assert queue.release("a", "w", 0, 5.0) == []
    assert queue.busy("w") == 0
    assert queue.release("b", "v", 0, 6.0) == [Granted("c", "v", (0,))]


def test_far_back_in_a_long_line_the_first_place_is_told_and_each_step_only_near_the_head():
    queue = Scheduler(1000)
    queue.worker_ready("w", "m", 1, 0.0)
    told: dict[str, list[int]] = {}
    for number in range(901):
        for command in queue.request(str(number), "m", 0.0):
            if isinstance(command, Moved):
                told.setdefault(command.ticket, []).append(command.position)
    assert told["900"] == [900]
    assert [moved.position for moved in queue.places(0.5)] == list(range(1, 901))
    for number in range(900):
        for command in queue.release(str(number), "w", 0, 1.0):
            if isinstance(command, Moved):
                told.setdefault(command.ticket, []).append(command.position)
    assert told["900"] == [900, *range(20, 0, -1)]


def test_positions_close_up_when_somebody_leaves():
    queue = up()
    for ticket in "abcd":
        queue.request(ticket, "m", 0.0)
    moved = queue.cancel("b", 1.0)
    assert [(move.ticket, move.position) for move in moved] == [("c", 1), ("d", 2)]


def test_somebody_who_left_leaves_no_trace():
    queue = up()
    queue.request("a", "m", 0.0)
    queue.request("b", "m", 0.0)
    queue.cancel("b", 0.0)
    assert queue.release("a", "w", 0, 1.0) == []
    assert queue.busy("w") == 0
    assert queue.entries() == []


def test_a_full_queue_refuses_and_says_which_setting_rules_it():
    queue = up(limit=1)
    queue.request("a", "m", 0.0)
    queue.request("b", "m", 0.0)
    [refused] = queue.request("c", "m", 0.0)
    assert isinstance(refused, Refused)
    assert refused.code == "queue_full"
    assert "queue.limit" in refused.message


def test_a_full_queue_says_when_a_place_is_likely_to_be_free():
    queue = up(limit=1)
    queue.request("a", "m", 0.0)
    queue.request("b", "m", 0.0)
    [refused] = queue.request("c", "m", 5.0)
    assert isinstance(refused, Refused)
    [running] = queue.tasks(5.0)
    assert refused.retry_after == running.remaining > 0


def test_a_starting_worker_keeps_its_line():
    queue = Scheduler()
    queue.worker_starting("w", "m", 0.0)
    [moved] = queue.request("a", "m", 0.0)
    assert moved.position == 1
    assert queue.worker_ready("w", "m", 1, 1.0) == [Granted("a", "w", (0,))]


def test_a_model_that_cannot_load_refuses_those_who_wait_and_those_who_come():
    queue = Scheduler()
    queue.worker_starting("w", "m", 0.0)
    queue.request("a", "m", 0.0)
    assert queue.worker_failed("w", "m", "The file is broken.", 1.0) == [
        Refused("a", "model_unavailable", "The file is broken.")
    ]
    assert queue.request("b", "m", 2.0) == [Refused("b", "model_unavailable", "The file is broken.")]


def test_a_model_another_worker_still_serves_is_not_refused():
    queue = up()
    queue.worker_failed("v", "m", "broken", 0.0)
    assert queue.request("a", "m", 0.0) == [Granted("a", "w", (0,))]


def test_a_lease_of_a_worker_that_restarted_frees_nothing():
    queue = up()
    queue.request("a", "m", 0.0)
    queue.worker_starting("w", "m", 1.0)
    queue.worker_ready("w", "m", 1, 2.0)
    queue.request("b", "m", 3.0)
    assert queue.release("a", "w", 0, 4.0) == []
    assert queue.busy("w") == 1


def test_models_do_not_wait_for_each_other():
    queue = up(model="m")
    queue.worker_ready("v", "n", 1, 0.0)
    queue.request("a", "m", 0.0)
    queue.request("b", "m", 0.0)
    assert queue.request("c", "n", 0.0) == [Granted("c", "v", (0,))]


def test_several_slots_come_one_after_another_and_nobody_overtakes():
    queue = up(slots=2)
    queue.request("a", "m", 0.0)
    assert queue.request("both", "m", 0.0, need=2) == [Granted("both", "w", (1,))]
    assert moved(queue.request("c", "m", 0.0)).keys() == {"c"}
    assert not queue.is_waiting("both"), "it runs, although it waits for another slot"
    assert granted(queue.release("a", "w", 0, 1.0)) == {"both": Granted("both", "w", (0,))}
    assert granted(queue.release("both", "w", 1, 2.0)) == {"c": Granted("c", "w", (1,))}


def test_a_need_beyond_all_slots_is_served_in_waves():
    queue = up(slots=2)
    commands = queue.request("a", "m", 0.0, need=3)
    assert [command.slots for command in commands if isinstance(command, Granted)] == [(0,), (1,)]
    assert queue.release("a", "w", 1, 1.0) == [Granted("a", "w", (1,))]
    assert queue.release("a", "w", 1, 2.0) == []


def test_the_slots_of_a_request_may_be_those_of_several_workers():
    queue = up()
    queue.worker_ready("v", "m", 1, 0.0)
    lent = [
        command.worker for command in queue.request("a", "m", 0.0, need=2) if isinstance(command, Granted)
    ]
    assert sorted(lent) == ["v", "w"]


def test_a_request_for_four_slots_does_not_have_them_all_while_another_key_waits():
    queue = up(slots=4)
    for ticket in "abcd":
        queue.request(ticket, "m", 0.0, share="others")
    queue.request("four", "m", 1.0, need=4, share="many")
    queue.request("one", "m", 2.0, share="few")
    first = granted(queue.release("a", "w", 0, 3.0))
    second = granted(queue.release("b", "w", 1, 4.0))
    assert [*first, *second] == ["four", "one"]


def test_a_request_that_leaves_waits_for_none_of_its_further_slots():
    queue = up()
    queue.request("a", "m", 0.0, need=3)
    queue.request("b", "m", 0.0)
    queue.cancel("a", 1.0)
    assert queue.release("a", "w", 0, 2.0) == [Granted("b", "w", (0,))]
    assert queue.entries() == []


def test_a_conversation_finds_the_slot_that_holds_its_beginning():
    queue = up(slots=3)
    queue.request("a", "m", 0.0, chain=(b"1",))
    queue.request("b", "m", 0.0, chain=(b"2",))
    queue.release("a", "w", 0, 1.0)
    queue.release("b", "w", 1, 2.0)
    [granted] = queue.request("a2", "m", 3.0, chain=(b"1", b"r", b"q"))
    assert granted.slots == (0,)


def test_a_new_conversation_takes_a_slot_nobody_used_before_one_that_is_warm():
    queue = up(slots=2)
    queue.request("a", "m", 0.0, chain=(b"1",))
    queue.release("a", "w", 0, 1.0)
    [granted] = queue.request("b", "m", 2.0, chain=(b"2",))
    assert granted.slots == (1,)


def test_a_shared_system_prompt_alone_does_not_claim_a_slot():
    assert reusable_messages((b"s", b"u", b"r"), (b"s", b"x")) == 0
    assert reusable_messages((b"s", b"u", b"r"), (b"s", b"u", b"y")) == 2


def test_the_wait_follows_what_was_measured():
    queue = up()
    for number in range(4):
        queue.request(f"t{number}", "m", 10.0 * number)
        queue.release(f"t{number}", "w", 0, 10.0 * number + 4.0)
    queue.request("a", "m", 100.0)
    queue.request("b", "m", 101.0)
    place = queue.place("b", 101.0)
    assert place is not None
    assert 2.5 < place.wait < 4.0


def test_whoever_waits_for_a_model_that_is_taken_away_is_refused():
    queue = up()
    queue.worker_ready("v", "other", 1, 0.0)
    for ticket, model in (("a", "m"), ("b", "m"), ("c", "other"), ("d", "other")):
        queue.request(ticket, model, 1.0)
    [refused] = queue.worker_removed("w", 2.0)
    assert (refused.ticket, refused.code) == ("b", "model_unloaded")
    assert "'m' was unloaded" in refused.message
    assert [entry.ticket for entry in queue.entries()] == ["d"]
    assert [task.ticket for task in queue.tasks(2.0)] == ["c"]


def test_whoever_waits_for_a_model_that_another_worker_has_waits_on():
    queue = up()
    queue.worker_starting("v", "m", 0.0)
    queue.request("a", "m", 1.0)
    queue.request("b", "m", 1.0)
    assert queue.worker_removed("w", 2.0) == []
    assert queue.worker_ready("v", "m", 1, 3.0) == [Granted("b", "v", (0,))]


def test_whoever_waits_for_a_model_is_refused_when_its_worker_comes_back_with_another_one():
    """As a worker does that has the model of a server, or of another machine, and no name of its own for it. They once waited for ever."""
    queue = up()
    queue.worker_starting("v", "other", 0.0)
    for ticket, model in (("a", "m"), ("b", "m"), ("c", "other")):
        queue.request(ticket, model, 1.0)
    queue.worker_starting("w", "m", 2.0)
    refused, granted = queue.worker_ready("w", "other", 1, 3.0)
    assert isinstance(refused, Refused)
    assert (refused.ticket, refused.code) == ("b", "model_unloaded")
    assert granted == Granted("c", "w", (0,))


def test_when_the_only_other_worker_has_failed_its_reason_is_told():
    queue = up()
    queue.worker_failed("v", "m", "The file is broken.", 0.0)
    queue.request("a", "m", 1.0)
    queue.request("b", "m", 1.0)
    [refused] = queue.worker_removed("w", 2.0)
    assert (refused.code, refused.message) == ("model_unavailable", "The file is broken.")


def test_a_slot_of_a_worker_that_is_gone_comes_back_to_nobody():
    queue = up()
    queue.request("a", "m", 0.0)
    assert queue.worker_removed("w", 1.0) == []
    assert queue.release("a", "w", 0, 2.0) == []
    assert queue.worker_removed("w", 3.0) == []
    assert (queue.slots("w"), queue.totals("w")) == (0, (0, 0.0))


class AnyOrder(RuleBasedStateMachine):
    """Whatever happens in whatever order, no slot is lent twice and nobody is forgotten."""

    def __init__(self) -> None:
        super().__init__()
        self.queue = Scheduler(limit=5)
        self.time = 0.0
        self.number = 0
        self.held: dict[tuple[str, int], str] = {}
        self.waiting: list[str] = []
        """In order, a ticket once for each slot that it waits for."""
        self.begun: set[str] = set()
        for name in ("w0", "w1"):
            self.queue.worker_starting(name, "m", 0.0)

    def obey(self, commands):
        for command in commands:
            match command:
                case Granted(ticket, worker, slots):
                    if ticket in self.waiting:
                        assert self.waiting[0] == ticket, "served out of turn"
                        self.waiting.remove(ticket)
                        self.begun.add(ticket)
                    for slot in slots:
                        assert (worker, slot) not in self.held, "lent twice"
                        self.held[worker, slot] = ticket
                case Refused(ticket):
                    self.waiting = [other for other in self.waiting if other != ticket]

    def now(self) -> float:
        self.time += 1.0
        return self.time

    @rule(need=st.integers(1, 3))
    def ask(self, need):
        self.number += 1
        ticket = f"t{self.number}"
        self.waiting += [ticket] * need
        self.obey(self.queue.request(ticket, "m", self.now(), need=need))

    @rule(pick=st.integers(0, 99))
    def release(self, pick):
        if self.held:
            worker, slot = sorted(self.held)[pick % len(self.held)]
            ticket = self.held.pop((worker, slot))
            self.obey(self.queue.release(ticket, worker, slot, self.now()))

    @rule(pick=st.integers(0, 99))
    def leave(self, pick):
        if self.waiting:
            ticket = self.waiting[pick % len(self.waiting)]
            self.waiting = [other for other in self.waiting if other != ticket]
            self.obey(self.queue.cancel(ticket, self.now()))

    @rule(name=st.sampled_from(["w0", "w1"]), slots=st.integers(1, 3))
    def come_up(self, name, slots):
        self.forget(name)
        self.obey(self.queue.worker_ready(name, "m", slots, self.now()))

    @rule(name=st.sampled_from(["w0", "w1"]))
    def restart(self, name):
        self.forget(name)
        self.obey(self.queue.worker_starting(name, "m", self.now()))

    @rule(name=st.sampled_from(["w0", "w1"]))
    def fail(self, name):
        self.forget(name)
        self.obey(self.queue.worker_failed(name, "m", "broken", self.now()))

    @rule(name=st.sampled_from(["w0", "w1"]))
    def go(self, name):
        self.forget(name)
        self.obey(self.queue.worker_removed(name, self.now()))

    def forget(self, name):
        self.held = {key: ticket for key, ticket in self.held.items() if key[0] != name}

    @invariant()
    def the_books_agree(self):
        unbegun = dict.fromkeys(ticket for ticket in self.waiting if ticket not in self.begun)
        assert [entry.ticket for entry in self.queue.entries()] == list(unbegun)
        for name in ("w0", "w1"):
            assert self.queue.busy(name) == sum(worker == name for worker, _ in self.held)

    @invariant()
    def the_head_waits_only_for_slots_that_are_not_there(self):
        if self.waiting:
            assert all(self.queue.slots(name) == self.queue.busy(name) for name in ("w0", "w1"))


TestAnyOrder = AnyOrder.TestCase
TestAnyOrder.settings = settings(max_examples=150, stateful_step_count=40)


def test_the_reply_of_a_call_goes_ahead_of_the_line():
    queue = up()
    queue.request("running", "m", 0.0)
    queue.request("chat", "m", 0.0)
    queue.request("call", "m", 1.0, kind="voice", ahead=True)
    assert [entry.ticket for entry in queue.entries()] == ["call", "chat"]
    assert Granted("call", "w", (0,)) in queue.release("running", "w", 0, 2.0)


def test_calls_never_have_all_of_several_slots():
    queue = up(slots=4)
    for ticket in ("one", "two", "three"):
        queue.request(ticket, "m", 0.0, kind="voice", ahead=True)
    assert queue.busy("w") == 2
    assert Granted("chat", "w", (2,)) in queue.request("chat", "m", 1.0)
    assert any(
        isinstance(given, Granted) and given.ticket == "three" for given in queue.release("one", "w", 0, 2.0)
    )


def test_with_a_single_slot_a_running_chat_is_finished_first():
    queue = up()
    queue.request("chat", "m", 0.0)
    [moved] = queue.request("call", "m", 1.0, kind="voice", ahead=True)
    assert isinstance(moved, Moved)
    assert moved.position == 1


def test_a_slot_a_call_has_left_counts_as_nobodys():
    queue = up(slots=2)
    queue.request("call", "m", 0.0, ahead=True)
    queue.release("call", "w", 0, 1.0)
    assert any(isinstance(given, Granted) for given in queue.request("again", "m", 2.0, ahead=True))


def moved(commands: Sequence[object]) -> dict[str, Moved]:
    return {command.ticket: command for command in commands if isinstance(command, Moved)}


def granted(commands: Sequence[object]) -> dict[str, Granted]:
    return {command.ticket: command for command in commands if isinstance(command, Granted)}


def test_a_call_that_its_model_holds_takes_a_worker_whole():
    queue = up(slots=3)
    assert queue.request("call", "m", 0.0, need=EVERY_SLOT) == [Granted("call", "w", (0, 1, 2))]
    assert moved(queue.request("chat", "m", 1.0)).keys() == {"chat"}


def test_the_largest_worker_need_not_be_the_one_that_is_taken():
    queue = up(slots=4)
    queue.worker_ready("small", "m", 1, 0.0)
    queue.request("chat", "m", 0.0)
    assert queue.request("call", "m", 1.0, need=EVERY_SLOT) == [Granted("call", "small", (0,))]


def test_it_waits_for_every_slot_and_the_chats_behind_it_for_its_end():
    queue = up(slots=2)
    queue.request("one", "m", 0.0)
    call = moved(queue.request("call", "m", 0.0, need=EVERY_SLOT, kind="omni_duplex"))["call"]
    waiting = moved(queue.request("two", "m", 0.0))["two"]
    assert (waiting.position, waiting.wait) == (2, call.wait + 90.0), (
        "a call of this kind is expected to take that long"
    )
    commands = queue.release("one", "w", 0, 5.0)
    assert granted(commands) == {"call": Granted("call", "w", (1, 0))}
    assert moved(commands)["two"].position == 1
    assert queue.release("call", "w", 0, 95.0) == [Granted("two", "w", (0,))]


def test_while_it_waits_for_one_worker_chats_go_to_the_other():
    queue = up()
    queue.worker_ready("v", "m", 1, 0.0)
    lent = granted([*queue.request("one", "m", 0.0), *queue.request("two", "m", 5.0)])
    queue.request("call", "m", 6.0, need=EVERY_SLOT)
    queue.request("three", "m", 6.0)
    first, second = lent["one"].worker, lent["two"].worker
    assert queue.entries()[0].kept == first, "the one that is likely to be free first"
    assert granted(queue.release("two", second, 0, 7.0)) == {"call": Granted("call", second, (0,))}
    assert granted(queue.release("one", first, 0, 8.0)) == {"three": Granted("three", first, (0,))}


def test_the_worker_that_is_kept_for_it_stays_the_same_until_it_is_empty():
    queue = up(slots=2)
    queue.worker_ready("v", "m", 2, 0.0)
    for number in range(4):
        queue.request(f"c{number}", "m", 0.0)
    queue.request("call", "m", 1.0, need=EVERY_SLOT)
    kept = queue.entries()[0].kept
    busy = {task.ticket: task.worker for task in queue.tasks(1.0)}
    mine = [ticket for ticket, worker in busy.items() if worker == kept]
    others = [ticket for ticket, worker in busy.items() if worker != kept]
    for number in range(10):
        queue.request(f"d{number}", "m", 2.0)
    place = {task.ticket: index for index, task in enumerate(queue.tasks(1.0))}
    commands = queue.release(others[0], busy[others[0]], place[others[0]] % 2, 3.0)
    assert [lent.worker for lent in granted(commands).values()] == [busy[others[0]]]
    assert granted(queue.release(mine[0], kept, place[mine[0]] % 2, 4.0)) == {}
    assert granted(queue.release(mine[1], kept, place[mine[1]] % 2, 5.0)) == {
        "call": Granted("call", kept, (0, 1))
    }


def test_a_call_that_had_a_worker_whole_counts_once():
    queue = up(slots=3)
    queue.request("call", "m", 0.0, need=EVERY_SLOT, kind="omni_duplex")
    for slot in range(3):
        queue.release("call", "w", slot, 60.0)
    assert queue.totals("w") == (1, 60.0)


def test_who_leaves_the_line_leaves_no_worker_kept():
    queue = up(slots=2)
    queue.request("one", "m", 0.0)
    queue.request("call", "m", 0.0, need=EVERY_SLOT)
    queue.request("two", "m", 0.0)
    assert granted(queue.cancel("call", 1.0)) == {"two": Granted("two", "w", (1,))}


def test_a_worker_that_is_lost_frees_whom_it_was_kept_for_to_take_another():
    queue = up()
    queue.worker_ready("v", "m", 1, 0.0)
    queue.request("one", "m", 0.0)
    queue.request("two", "m", 0.0)
    queue.request("call", "m", 0.0, need=EVERY_SLOT)
    kept = queue.entries()[0].kept
    other = "v" if kept == "w" else "w"
    queue.worker_starting(kept, "m", 1.0)
    ticket = {task.worker: task.ticket for task in queue.tasks(1.0)}[other]
    assert granted(queue.release(ticket, other, 0, 2.0)) == {"call": Granted("call", other, (0,))}


def test_when_the_worker_that_is_kept_for_it_is_held_the_other_one_is_kept_at_once():
    queue = up(slots=2)
    queue.worker_ready("v", "m", 2, 0.0)
    for ticket in "abc":
        queue.request(ticket, "m", 1.0)
    assert queue.occupied("v") == (True, False)
    queue.request("call", "m", 2.0, need=EVERY_SLOT)
    assert queue.entries()[0].kept == "w"
    queue.worker_held("w", 3.0)
    assert queue.entries()[0].kept == "v"
    assert not granted(queue.request("chat", "m", 4.0))
    queue.worker_resumed("w", 5.0)
    assert granted(queue.release("a", "w", 0, 6.0)) == {"chat": Granted("chat", "w", (0,))}
    assert granted(queue.release("b", "v", 0, 7.0)) == {"call": Granted("call", "v", (1, 0))}


def test_who_waits_for_a_worker_that_drains_is_told_unless_another_has_the_model():
    queue = up()
    queue.request("a", "m", 0.0)
    queue.request("b", "m", 0.0)
    queue.worker_starting("v", "m", 1.0)
    assert all(isinstance(command, Moved) for command in queue.worker_draining("w", 2.0, "It goes."))
    queue.worker_removed("v", 3.0)
    assert queue.entries() == []
    assert queue.tasks(4.0)[0].ticket == "a", "what runs goes on"


def test_draining_the_only_worker_of_a_model_refuses_who_waits_and_who_comes():
    queue = up()
    queue.request("a", "m", 0.0)
    queue.request("b", "m", 0.0)
    assert queue.worker_draining("w", 2.0, "It goes.") == [Refused("b", "model_unloaded", "It goes.")]
    [refused] = queue.request("c", "m", 3.0)
    assert isinstance(refused, Refused)
    assert refused.code == "model_unloaded"
    assert queue.release("a", "w", 0, 4.0) == []


def test_a_worker_that_is_removed_for_a_reason_tells_it():
    queue = Scheduler()
    queue.worker_starting("w", "m", 0.0)
    queue.request("a", "m", 0.0)
    assert queue.worker_removed("w", 1.0, "It broke.", "load_failed") == [
        Refused("a", "load_failed", "It broke.")
    ]


def test_a_worker_is_wanted_while_something_runs_on_it_or_waits_and_tells_when_it_was_used():
    queue = up()
    assert (queue.is_wanted("w"), queue.last_use("w")) == (False, (float("-inf"), float("-inf")))
    queue.request("a", "m", 5.0)
    queue.request("b", "m", 6.0)
    assert (queue.is_wanted("w"), queue.last_use("w")) == (True, (5.0, float("-inf")))
    queue.release("a", "w", 0, 7.0)
    queue.release("b", "w", 0, 9.0)
    assert (queue.is_wanted("w"), queue.last_use("w")) == (False, (7.0, 9.0))
    assert not queue.is_wanted("nobody")


# ---- shares


def test_one_request_of_a_key_is_served_after_one_of_the_key_with_thirty():
    queue = up()
    for number in range(31):
        queue.request(f"a{number}", "m", 0.0, share="a")
    commands = queue.request("b", "m", 1.0, share="b")
    assert moved(commands)["b"].position <= 2
    queue.release("a0", "w", 0, 2.0)
    running = queue.tasks(3.0)[0].ticket
    if running != "b":
        assert "b" in granted(queue.release(running, "w", 0, 4.0))


def test_a_key_shares_its_slots_whatever_the_kind_of_its_requests():
    queue = up()
    queue.request("running", "m", 0.0, share="a")
    for number in range(10):
        queue.request(f"embed{number}", "m", 0.0, kind="embed", share="a")
        queue.request(f"chat{number}", "m", 0.0, kind="chat", share="a")
    queue.request("b", "m", 1.0, kind="chat", share="b")
    assert queue.entries()[0].ticket == "b", "a share that has had nothing is next"


def test_a_restart_of_a_worker_ends_what_its_shares_were_charged_for():
    queue = up()
    queue.request("a", "m", 0.0, share="a")
    queue.worker_starting("w", "m", 1.0)
    queue.request("b", "m", 2.0, share="b")
    queue.request("c", "m", 2.0, share="a")
    assert granted(queue.worker_ready("w", "m", 1, 3.0)).keys() == {"b"}
    assert granted(queue.release("b", "w", 0, 4.0)).keys() == {"c"}
    assert queue.release("a", "w", 0, 5.0) == []


def test_while_a_worker_starts_the_wait_is_what_its_start_will_take():
    queue = Scheduler()
    queue.worker_starting("w", "m", 0.0)
    queue.worker_ready("w", "m", 1, 40.0)
    queue.worker_starting("w", "m", 100.0)
    wait = moved(queue.request("a", "m", 101.0))["a"].wait
    assert 20.0 < wait < 60.0
    later = queue.place("a", 111.0)
    assert later is not None
    assert later.wait < wait, "it counts down"
    much_later = queue.place("a", 300.0)
    assert much_later is not None
    assert much_later.wait > 0.0, "never 0 while it waits"


def test_what_a_reply_has_written_changes_the_wait_of_those_behind_it():
    queue = up()
    job = Job("m", "chat")
    for _ in range(30):
        queue.estimator.replied(job, 100, 0.0, 10.0)
    queue.request("a", "m", 0.0)
    queue.request("b", "m", 0.0)
    queue.progress("a", "w", 0, 1, 0.0)
    queue.progress("a", "w", 0, 80, 8.0)
    place = queue.place("b", 8.0)
    assert place is not None
    assert 1.0 < place.wait < 4.0
    queue.progress("nobody", "w", 0, 10, 9.0)


class Overtaken(RuleBasedStateMachine):
    """Whatever comes, is taken back and ends, the first request of a key is overtaken only so often."""

    OVERTAKINGS = 2
    KEYS = "abcd"

    def __init__(self) -> None:
        super().__init__()
        self.queue = Scheduler(overtakings=self.OVERTAKINGS)
        self.queue.worker_ready("w", "m", 1, 0.0)
        self.time = 0.0
        self.number = 0
        self.line: dict[str, list[str]] = {key: [] for key in self.KEYS}
        self.others: dict[str, int] = {}
        self.running = ""

    def now(self, seconds: float = 1.0) -> float:
        self.time += seconds
        return self.time

    def obey(self, commands: Sequence[object]) -> None:
        for ticket in granted(commands):
            self.running = ticket
            key = ticket[0]
            if ticket in self.line.get(key, []):
                assert self.line[key][0] == ticket, "overtaken within its key"
                self.line[key].pop(0)
                self.others[key] = 0
            for other, tickets in self.line.items():
                if tickets and other != key:
                    self.others[other] = self.others.get(other, 0) + 1
                    assert self.others[other] <= self.OVERTAKINGS + 3 * len(self.KEYS)

    @rule(
        key=st.sampled_from(KEYS),
        kind=st.sampled_from(["chat", "embed", "call"]),
        weight=st.sampled_from([0.1, 1.0, 30.0]),
    )
    def come(self, key: str, kind: str, weight: float) -> None:
        self.number += 1
        ticket = f"{key}{self.number}"
        if not self.line[key]:
            self.others[key] = 0
        self.line[key].append(ticket)
        self.obey(self.queue.request(ticket, "m", self.now(), kind=kind, share=key, weight=weight))

    @rule()
    def call(self) -> None:
        """With a single slot the replies of calls have no half of their own."""
        self.number += 1
        self.obey(self.queue.request(f"z{self.number}", "m", self.now(), kind="voice", ahead=True, share="z"))

    @rule(pick=st.integers(0, 99))
    def leave(self, pick: int) -> None:
        tickets = [ticket for line in self.line.values() for ticket in line]
        if tickets:
            ticket = tickets[pick % len(tickets)]
            if self.line[ticket[0]][0] == ticket:
                self.others[ticket[0]] = 0
            self.line[ticket[0]].remove(ticket)
            self.obey(self.queue.cancel(ticket, self.now()))

    @rule(seconds=st.sampled_from([0.1, 1.0, 500.0]))
    def end(self, seconds: float) -> None:
        if self.running:
            ticket, self.running = self.running, ""
            self.obey(self.queue.release(ticket, "w", 0, self.now(seconds)))

    @invariant()
    def the_slot_is_in_use_while_somebody_waits(self) -> None:
        assert self.running or not self.queue.entries()


TestOvertaken = Overtaken.TestCase
TestOvertaken.settings = settings(max_examples=150, stateful_step_count=50)


def test_where_a_model_has_many_slots_places_are_told_at_first_and_then_together():
    queue = Scheduler(1000)
    queue.worker_ready("w", "m", MANY + 44, 0.0)
    for number in range(MANY + 44):
        assert [type(command) for command in queue.request(f"r{number}", "m", 0.0)] == [Granted]
    (first,) = queue.request("a", "m", 1.0)
    (second,) = queue.request("b", "m", 1.0)
    assert isinstance(first, Moved)
    assert isinstance(second, Moved)
    assert (first.position, second.position) == (1, 2)
    assert 0 < first.wait <= second.wait
    (granted,) = queue.release("r0", "w", 0, 2.0)
    assert granted == Granted("a", "w", (0,))
    assert [(moved.ticket, moved.position) for moved in queue.places(2.0)] == [("b", 1)]


def test_a_round_over_all_places_goes_on_while_requests_come_and_go():
    queue = Scheduler(3000)
    queue.worker_ready("w", "m", 2, 0.0)
    for number in range(1002):
        queue.request(f"q{number}", "m", 0.0, share=f"key{number % 7}")
    told: list[str] = []
    chance = random.Random(3)
    for step, portion in enumerate(queue.place_portions(60.0)):
        told += [place.ticket for place in portion]
        queue.cancel(f"q{chance.randrange(2, 1002)}", 60.0)
        queue.request(f"new{step}", "m", 60.0, share=f"key{step % 9}")
        for number in range(2):
            queue.release(f"q{number}", "w", number, 60.0)
        if step == 3:
            queue.worker_ready("x", "m", 1, 60.0)
        if step == 5:
            queue.worker_removed("w", 60.0)
    assert len(told) == len(set(told))
    still = {entry.ticket for entry in queue.entries() if not entry.ticket.startswith("new")}
    assert len(still - set(told)) < 20  # those whose share was reached before them


def test_a_second_round_tells_those_near_the_head_and_few_others():
    queue = Scheduler(3000)
    queue.worker_ready("w", "m", 2, 0.0)
    for number in range(1002):
        queue.request(f"q{number}", "m", 0.0)
    first = [place for portion in queue.place_portions(60.0) for place in portion]
    assert [place.position for place in first] == list(range(1, 1001))
    second = [place.position for portion in queue.place_portions(63.0) for place in portion]
    assert second[:20] == list(range(1, 21))
    assert len(second) < 50


def test_a_request_that_leaves_tells_those_behind_it_who_are_near_the_head():
    queue = Scheduler(100)
    queue.worker_ready("w", "m", 1, 0.0)
    for number in range(51):
        queue.request(f"q{number}", "m", 0.0)
    assert queue.cancel("q40", 1.0) == []
    told = queue.cancel("q15", 1.0)
    assert [(place.ticket, place.position) for place in told] == [
        (f"q{number}", number - 1) for number in range(16, 22)
    ]


def test_the_place_of_a_ticket_far_back_is_the_one_that_it_was_told_last():
    queue = Scheduler(100)
    queue.worker_ready("w", "m", 1, 0.0)
    for number in range(51):
        queue.request(f"q{number}", "m", 0.0)
    far = queue.place("q40", 9.0)
    assert far is not None
    assert (far.position, far.length) == (40, 50)
    for number in range(30):
        queue.cancel(f"q{number + 1}", 9.0)
    place = queue.place("q40", 9.0)
    assert place is not None
    assert (place.position, place.length) == (10, 20)
    assert queue.place("q0", 9.0) is None
