"""The lowest place in the queue: who waits there is served only while nobody else wants the model."""

from collections.abc import Iterable
from contextlib import nullcontext

import anyio
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from duologue.gateway.scheduling.lowest_place import in_lowest_place, lowest_place
from duologue.gateway.scheduling.scheduler import (
    EVERY_SLOT,
    Command,
    Granted,
    Moved,
    Refused,
    Scheduler,
)


def up(slots: int = 1, limit: int = 1000) -> Scheduler:
    queue = Scheduler(limit)
    queue.worker_ready("w", "m", slots, 0.0)
    return queue


def granted(commands: Iterable[Command]) -> list[str]:
    return [command.ticket for command in commands if isinstance(command, Granted)]


def test_a_single_idle_slot_is_lent_to_a_batch():
    assert granted(up().request("line", "m", 1.0, behind=True)) == ["line"]


def test_of_several_slots_one_stays_free():
    queue = up(slots=3)
    taken = [granted(queue.request(f"line{number}", "m", 1.0, behind=True)) for number in range(4)]
    assert taken == [["line0"], ["line1"], [], []]
    assert granted(queue.request("chat", "m", 2.0)) == ["chat"]
    assert granted(queue.release("line0", "w", 0, 3.0)) == [], "the last free slot stays free"
    assert granted(queue.release("chat", "w", 2, 4.0)) == ["line2"]


def test_whoever_comes_later_is_served_before_a_batch_that_waits():
    queue = up()
    queue.request("running", "m", 0.0)
    queue.request("line", "m", 1.0, behind=True)
    [told] = [moved for moved in queue.request("chat", "m", 2.0) if moved.ticket == "chat"]
    assert isinstance(told, Moved)
    assert (told.position, told.length) == (1, 1), "a batch is no part of the line that people see"
    assert granted(queue.release("running", "w", 0, 3.0)) == ["chat"]
    assert granted(queue.release("chat", "w", 0, 4.0)) == ["line"]


def test_a_batch_waits_while_somebody_waits_for_several_slots_or_a_whole_worker():
    for need in (2, EVERY_SLOT):
        queue = up(slots=4)
        for ticket in ("one", "two", "three"):
            queue.request(ticket, "m", 0.0)
        queue.request("large", "m", 1.0, need=need)
        queue.request("line", "m", 2.0, behind=True)
        assert "line" not in granted(queue.release("one", "w", 0, 3.0))


def test_several_choices_of_a_line_take_one_slot():
    assert up(slots=4).request("line", "m", 0.0, need=3, behind=True) == [Granted("line", "w", (0,))]


def test_batches_take_no_place_of_the_queue():
    queue = up(limit=2)
    queue.request("running", "m", 0.0)
    for number in range(2):
        queue.request(f"line{number}", "m", 0.0, behind=True)
    [refused] = queue.request("line2", "m", 0.0, behind=True)
    assert isinstance(refused, Refused)
    assert not queue.someone_waits
    assert not any(isinstance(told, Refused) for told in queue.request("chat", "m", 1.0))
    assert queue.someone_waits


def test_a_batch_goes_on_in_the_slot_it_has_used_and_leaves_warm_ones_alone():
    queue = up(slots=2)
    queue.request("chat", "m", 0.0, chain=(b"a",))
    queue.release("chat", "w", 0, 1.0)
    for number in range(3):
        assert queue.request(f"line{number}", "m", 2.0, behind=True) == [Granted(f"line{number}", "w", (1,))]
        queue.release(f"line{number}", "w", 1, 3.0)
    assert queue.request("another", "m", 4.0) == [Granted("another", "w", (1,))], "nor is it kept from people"


async def leased_by_a_task() -> bool:
    found: list[bool] = []

    async def look() -> None:
        found.append(in_lowest_place())

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(look)
    return found[0]


async def test_the_place_is_that_of_a_task_and_of_those_it_starts(anyio_backend):
    with lowest_place():
        assert await leased_by_a_task()
    with nullcontext():
        assert not await leased_by_a_task()


class Shared(RuleBasedStateMachine):
    """Whatever happens, batches hold no slot that somebody waits for, and one slot of several is never theirs."""

    def __init__(self) -> None:
        super().__init__()
        self.queue = Scheduler(limit=6)
        self.time = 0.0
        self.number = 0
        self.held: dict[tuple[str, int], str] = {}
        self.waiting: list[str] = []
        for name in ("w0", "w1"):
            self.queue.worker_starting(name, "m", 0.0)

    def obey(self, commands: Iterable[Command]) -> None:
        given = [command for command in commands if isinstance(command, Granted)]
        for command in commands:
            if isinstance(command, Granted | Refused) and command.ticket in self.waiting:
                self.waiting.remove(command.ticket)
        for command in given:
            for slot in command.slots:
                assert (command.worker, slot) not in self.held, "lent twice"
                self.held[command.worker, slot] = command.ticket
        if any(command.ticket.startswith("line") for command in given):
            assert not any(ticket.startswith("chat") for ticket in self.waiting), "somebody waits"
            total = sum(self.queue.slots(name) for name in ("w0", "w1"))
            assert total - len(self.held) >= (1 if total > 1 else 0), "none is left free"

    def now(self) -> float:
        self.time += 1.0
        return self.time

    @rule(need=st.integers(1, 3), behind=st.booleans(), ahead=st.booleans())
    def ask(self, need: int, behind: bool, ahead: bool) -> None:
        self.number += 1
        ticket = f"{'line' if behind else 'chat'}{self.number}"
        self.waiting.append(ticket)
        ahead = ahead and not behind
        need = 1 if ahead else need  # a caller waits for one reply
        self.obey(self.queue.request(ticket, "m", self.now(), need=need, behind=behind, ahead=ahead))

    @rule(pick=st.integers(0, 99))
    def release(self, pick: int) -> None:
        if self.held:
            worker, slot = sorted(self.held)[pick % len(self.held)]
            ticket = self.held.pop((worker, slot))
            self.obey(self.queue.release(ticket, worker, slot, self.now()))

    @rule(pick=st.integers(0, 99))
    def leave(self, pick: int) -> None:
        if self.waiting:
            ticket = self.waiting.pop(pick % len(self.waiting))
            self.obey(self.queue.cancel(ticket, self.now()))

    @rule(name=st.sampled_from(["w0", "w1"]), slots=st.integers(1, 3))
    def come_up(self, name: str, slots: int) -> None:
        self.forget(name)
        self.obey(self.queue.worker_ready(name, "m", slots, self.now()))

    @rule(name=st.sampled_from(["w0", "w1"]))
    def restart(self, name: str) -> None:
        self.forget(name)
        self.obey(self.queue.worker_starting(name, "m", self.now()))

    def forget(self, name: str) -> None:
        self.held = {key: ticket for key, ticket in self.held.items() if key[0] != name}

    @invariant()
    def nobody_is_forgotten(self) -> None:
        assert sorted(entry.ticket for entry in self.queue.entries()) == sorted(self.waiting)

    @invariant()
    def a_batch_waits_only_for_a_reason(self) -> None:
        free = sum(self.queue.slots(name) - self.queue.busy(name) for name in ("w0", "w1"))
        total = sum(self.queue.slots(name) for name in ("w0", "w1"))
        if self.waiting and all(ticket.startswith("line") for ticket in self.waiting):
            assert free <= (1 if total > 1 else 0), "an idle machine does the work of batches"


TestShared = Shared.TestCase
TestShared.settings = settings(max_examples=150, stateful_step_count=40)
