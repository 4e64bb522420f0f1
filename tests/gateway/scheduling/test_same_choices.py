"""The scheduler keeps free slots in an index. It chooses what the plain rule chooses, which looks at every slot each time."""

from __future__ import annotations

import random
from collections.abc import Sequence, Set

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from duologue.gateway.scheduling.queueing import free_slots
from duologue.gateway.scheduling.queueing.model_queue import ModelQueue
from duologue.gateway.scheduling.queueing.places import moved, place_round
from duologue.gateway.scheduling.queueing.queue_commands import Moved
from duologue.gateway.scheduling.queueing.slots import QueueEntry, WorkerSlots, cache_score
from duologue.gateway.scheduling.scheduler import EVERY_SLOT, Command, Granted, Refused, Scheduler

MODELS = ("m", "n")


class PlainScheduler(Scheduler):
    """The rule as it is meant."""

    def ready(self, model: str) -> list[tuple[str, WorkerSlots]]:
        workers = self._workers._workers.items()
        return [
            (name, worker) for name, worker in workers if (worker.model, worker.state) == (model, "ready")
        ]

    def _dispatch(self, model: str, at: float, *, moves: bool = True) -> list[Command]:
        if not (queue := self._queues.get(model)):
            return []
        return self.granted(queue, model, at) + moved(queue, self._workers, model, at, self.estimator)

    def granted(self, queue: ModelQueue, model: str, at: float) -> list[Command]:
        commands: list[Command] = []
        kept: set[str] = set()
        for entry in list(queue.kept):
            if (granted := self.grant(entry, queue, at, kept)) is not None:
                commands.append(granted)
            elif not self.keep(entry, at, kept):
                return commands
        while (next_entry := self.next(queue, model)) is not None:
            if (granted := self.grant(next_entry, queue, at, kept)) is not None:
                commands.append(granted)
                continue
            if not next_entry.whole:
                break
            queue.keep(next_entry)
            if not self.keep(next_entry, at, kept):
                break
        return commands

    def next(self, queue: ModelQueue, model: str) -> QueueEntry | None:
        slots = [slot for _, worker in self.ready(model) for slot in worker.slots]
        if len(slots) == 1 and (due := queue.ordinary.due()) is not None:
            return due
        held = sum(slot.ticket is not None and slot.ahead for slot in slots)
        if held < max(1, len(slots) // 2) and (ahead := queue.ahead.first()) is not None:
            return ahead
        if (ordinary := queue.ordinary.first()) is not None:
            return ordinary
        free = sum(slot.free for slot in slots)
        return None if queue.wanted or free <= (len(slots) > 1) else queue.behind.first()

    def keep(self, entry: QueueEntry, at: float, kept: set[str]) -> bool:
        free = [name for name, _ in self.ready(entry.model) if name not in kept]
        if entry.kept not in free:
            last = {name: self._workers.until_free(name, at, self.estimator) for name in free}
            entry.kept = min(free, key=lambda name: max(last[name], default=0.0), default="")
        if entry.kept:
            kept.add(entry.kept)
        return bool(entry.kept)

    def grant(self, entry: QueueEntry, queue: ModelQueue, at: float, kept: set[str]) -> Granted | None:
        ready = self.ready(entry.model)
        if (choice := best_slots(ready, entry, kept)) is None:
            return None
        name, numbers = choice
        self._workers.on(entry.model).lend(name, numbers, entry, at)
        queue.line_of(entry).take(entry, len(numbers))
        if entry.ahead and sum(len(worker.slots) for _, worker in ready) == 1:
            queue.ordinary.overtake()
        entry.begun = True
        if entry.left <= 0:
            if entry in queue.kept:
                queue.kept.remove(entry)
            del self._waiting[entry.ticket]
            self._behind -= entry.behind
        return Granted(entry.ticket, name, numbers)


def best_slots(
    workers: Sequence[tuple[str, WorkerSlots]], entry: QueueEntry, kept: Set[str]
) -> tuple[str, tuple[int, ...]] | None:
    best: tuple[tuple[float, int, float], str, tuple[int, ...]] | None = None
    for name, worker in workers:
        if name in kept:
            continue
        free = [
            (-cache_score(slot, entry), slot.used, number)
            for number, slot in enumerate(worker.slots)
            if slot.free
        ]
        if not free or (entry.whole and len(free) < len(worker.slots)):
            continue
        first = min(free)
        score = (-first[0], len(free), -first[1])
        if best is None or score > best[0]:
            taken = sorted(free) if entry.whole else [first]
            best = (score, name, tuple(number for _, _, number in taken))
    return None if best is None else best[1:]


class Both:
    """The scheduler and the plain one, told the same; what holds slots, as they said."""

    def __init__(self, workers: int, limit: int = 1000) -> None:
        self.ours, self.plain = Scheduler(limit), PlainScheduler(limit)
        self.workers = tuple(f"w{number}" for number in range(workers))
        self.time, self.number = 0.0, 0
        self.held: dict[tuple[str, int], str] = {}
        self.waiting: dict[str, None] = {}

    def tell(self, fact: str, *args: object, **options: object) -> None:
        commands = getattr(self.ours, fact)(*args, **options)
        assert commands == getattr(self.plain, fact)(*args, **options)
        for command in commands:
            if isinstance(command, Granted):
                self.held |= {(command.worker, slot): command.ticket for slot in command.slots}
            if isinstance(command, Refused):
                self.waiting.pop(command.ticket, None)

    def request(self, words: Sequence[str], model: str = "m", **options: object) -> None:
        """`words`: the messages; each item of a chain stands for all up to it."""
        self.number += 1
        ticket = f"t{self.number}"
        chain = tuple("/".join(words[: count + 1]).encode() for count in range(len(words)))
        self.waiting[ticket] = None
        self.tell("request", ticket, model, self.time, chain=chain, prompt=100.0, **options)

    def release(self, pick: int) -> None:
        if self.held:
            (worker, slot), ticket = sorted(self.held.items())[pick % len(self.held)]
            del self.held[worker, slot]
            self.tell("release", ticket, worker, slot, self.time)

    def cancel(self, pick: int) -> None:
        if self.waiting:
            ticket = list(self.waiting)[pick % len(self.waiting)]
            del self.waiting[ticket]
            self.tell("cancel", ticket, self.time)

    def places_in_steps(self) -> list[Moved]:
        rounds = (
            place_round(queue, self.ours._workers, model, self.time, self.ours.estimator)
            for model, queue in self.ours._queues.items()
            if queue
        )
        return [step[1] for steps in rounds for step in steps if step is not None]

    def check(self) -> None:
        """What is counted as it changes is what a walk over all slots counts."""
        places = self.ours.places(self.time)
        assert places == self.plain.places(self.time)
        assert self.places_in_steps() == places
        for model in MODELS:
            workers = self.ours._workers.on(model)
            ready = self.plain.ready(model)
            slots = [slot for _, worker in ready for slot in worker.slots]
            assert workers.ready_slots() == slots
            assert workers.slots == len(slots)
            assert workers.free == sum(slot.free for slot in slots)
            assert workers.ahead == sum(slot.ticket is not None and slot.ahead for slot in slots)
            assert workers.empty == {
                name for name, worker in ready if worker.slots and all(slot.free for slot in worker.slots)
            }


WORDS = st.lists(st.sampled_from("ab"), max_size=4)
NAMES = st.integers(0, 3)


class SameChoices(RuleBasedStateMachine):
    """Whatever happens in whatever order, often at the same moment."""

    SLOTS: tuple[int, ...] = (1, 2, 2, 3)

    def __init__(self) -> None:
        super().__init__()
        self.both = Both(len(self.SLOTS), limit=8)
        for name, slots in zip(self.both.workers, self.SLOTS, strict=True):
            self.both.tell("worker_ready", name, "m", slots, 0.0)

    def worker(self, number: int) -> str:
        return self.both.workers[number % len(self.SLOTS)]

    @rule(seconds=st.sampled_from((0.5, 3.0, 100.0)))
    def time_passes(self, seconds: float) -> None:
        self.both.time += seconds

    @rule(words=WORDS, opening=st.sampled_from((b"", b"o", b"p")), share=st.sampled_from("xyz"))
    def ask(self, words: list[str], opening: bytes, share: str) -> None:
        self.both.request(words, opening=opening, share=share)

    @rule(
        words=WORDS,
        model=st.sampled_from(MODELS),
        need=st.sampled_from((1, 2, 3, EVERY_SLOT)),
        place=st.sampled_from(("", "ahead", "behind")),
        weight=st.sampled_from((0.5, 1.0, 3.0)),
    )
    def ask_for_more(self, words: list[str], model: str, need: int, place: str, weight: float) -> None:
        places = {place: True} if place else {}
        self.both.request(words, model, need=need, weight=weight, **places)

    @rule()
    def call(self) -> None:
        self.both.request((), need=EVERY_SLOT, kind="call")

    @rule(pick=st.integers(0, 99))
    def end(self, pick: int) -> None:
        self.both.release(pick)

    @rule(pick=st.integers(0, 99))
    def end_another(self, pick: int) -> None:
        self.both.release(pick)

    @rule(pick=st.integers(0, 99))
    def leave(self, pick: int) -> None:
        self.both.cancel(pick)

    @rule(name=NAMES, slots=st.integers(0, 3), model=st.sampled_from(("m", "m", "n")), starting=st.booleans())
    def come(self, name: int, slots: int, model: str, starting: bool) -> None:
        self.gone(name)
        worker = self.worker(name)
        if starting:
            self.both.tell("worker_starting", worker, model, self.both.time)
        else:
            self.both.tell("worker_ready", worker, model, slots, self.both.time)

    @rule(name=NAMES, failed=st.booleans())
    def go(self, name: int, failed: bool) -> None:
        self.gone(name)
        worker = self.worker(name)
        if failed:
            self.both.tell("worker_failed", worker, "m", "broken", self.both.time)
        else:
            self.both.tell("worker_removed", worker, self.both.time)

    def gone(self, name: int) -> None:
        worker = self.worker(name)
        self.both.held = {key: ticket for key, ticket in self.both.held.items() if key[0] != worker}

    @rule(name=NAMES, fact=st.sampled_from(("worker_held", "worker_resumed", "worker_draining")))
    def change(self, name: int, fact: str) -> None:
        self.both.tell(fact, self.worker(name), self.both.time)

    @rule(name=NAMES, numbers=st.sets(st.integers(-1, 3)))
    def others_work(self, name: int, numbers: set[int]) -> None:
        self.both.tell("slots_elsewhere", self.worker(name), tuple(numbers), self.both.time)

    @invariant()
    def the_counts_are_right(self) -> None:
        self.both.check()


TestSameChoices = SameChoices.TestCase
TestSameChoices.settings = settings(max_examples=100, stateful_step_count=50)


class FewSlots(SameChoices):
    """Where calls wait for a whole worker most of the time."""

    SLOTS = (2, 2)


TestFewSlots = FewSlots.TestCase
TestFewSlots.settings = settings(max_examples=100, stateful_step_count=50)


@pytest.mark.parametrize("remembered", [8192, 8])
@pytest.mark.parametrize("busy", [0.2, 0.95])
def test_many_workers_with_shared_beginnings_are_chosen_in_the_same_order(monkeypatch, remembered, busy):
    """Conversations that begin alike, and so many changes that groups have forgotten some."""
    monkeypatch.setattr(free_slots, "MOST_CHANGES", remembered)
    chance = random.Random(7)
    both = Both(30)
    for name in both.workers:
        both.tell("worker_ready", name, "m", 4, 0.0)
    for _ in range(1500):
        both.time += chance.choice((0.0, 1.0))
        if len(both.held) < 120 * busy:
            words = ["system", "example", str(chance.randrange(3)), *("x" * chance.randrange(6))]
            both.request(words[: chance.randrange(len(words) + 1)], opening=chance.choice((b"", b"o")))
        else:
            both.release(chance.randrange(120))
    both.check()
