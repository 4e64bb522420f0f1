"""Slots that work for other gateways: granted to nobody here, and lost to nobody."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from duologue.gateway.scheduling.scheduler import EVERY_SLOT, Granted, Refused, Scheduler

WORKERS = ("w0", "w1")
NAMES = st.sampled_from(WORKERS)


def busy_elsewhere(*numbers: int, slots: int = 2) -> Scheduler:
    queue = Scheduler()
    queue.worker_ready("w", "m", slots, 0.0)
    assert queue.slots_elsewhere("w", numbers, 1.0) == []
    return queue


def granted(commands) -> list[Granted]:
    return [command for command in commands if isinstance(command, Granted)]


def test_a_worker_that_joins_in_the_midst_of_work_for_another_gateway_has_no_free_slot():
    """It says so before it reports that it is ready."""
    queue = Scheduler()
    queue.worker_starting("w", "m", 0.0)
    queue.request("a", "m", 1.0)
    queue.slots_elsewhere("w", (0,), 2.0)
    assert not granted(queue.worker_ready("w", "m", 1, 3.0))
    assert granted(queue.slots_elsewhere("w", (), 4.0)) == [Granted("a", "w", (0,))]


def test_a_process_that_takes_the_place_of_a_lost_one_works_for_nobody_yet():
    queue = busy_elsewhere(0, 1)
    queue.worker_starting("w", "m", 2.0)
    queue.worker_ready("w", "m", 2, 3.0)
    assert queue.occupied("w") == (False, False)


def test_a_slot_that_both_gateways_granted_is_free_once_both_are_done():
    queue = busy_elsewhere(1)
    assert granted(queue.request("a", "m", 2.0)) == [Granted("a", "w", (0,))]
    queue.slots_elsewhere("w", (0, 1), 3.0)
    assert not granted(queue.request("b", "m", 4.0))
    assert not granted(queue.release("a", "w", 0, 5.0))
    assert granted(queue.slots_elsewhere("w", (1,), 6.0)) == [Granted("b", "w", (0,))]


def test_a_worker_is_taken_whole_only_when_nothing_of_it_works_elsewhere():
    queue = busy_elsewhere(1)
    assert not granted(queue.request("a", "m", 2.0, need=EVERY_SLOT))
    assert granted(queue.slots_elsewhere("w", (), 3.0)) == [Granted("a", "w", (0, 1))]


def test_the_same_news_again_moves_nobody():
    queue = busy_elsewhere(0, 1)
    queue.request("a", "m", 2.0)
    assert queue.slots_elsewhere("w", (1, 0), 3.0) == []
    assert queue.is_waiting("a")


class BesideOthers(RuleBasedStateMachine):
    """Whatever happens in whatever order, also at another gateway."""

    def __init__(self) -> None:
        super().__init__()
        self.queue = Scheduler(limit=6)
        self.time = 0.0
        self.number = 0
        self.held: dict[tuple[str, int], str] = {}
        self.waiting: dict[str, tuple[str, bool]] = {}
        """In the order in which they came: the key of each, and whether it needs a worker whole."""
        self.elsewhere: dict[str, set[int]] = {name: set() for name in WORKERS}
        self.reachable = dict.fromkeys(WORKERS, False)
        for name in WORKERS:
            self.queue.worker_starting(name, "m", 0.0)

    def now(self) -> float:
        self.time += 1.0
        return self.time

    def obey(self, commands) -> None:
        for command in commands:
            match command:
                case Granted(ticket, worker, slots):
                    self.check_turn(ticket)
                    assert self.reachable[worker], "nothing begins on a worker that is not there"
                    if self.waiting.pop(ticket)[1]:
                        assert sorted(slots) == list(range(self.queue.slots(worker)))
                    for slot in slots:
                        assert (worker, slot) not in self.held, "lent twice"
                        assert slot not in self.elsewhere[worker], "it works for another gateway"
                        self.held[worker, slot] = ticket
                case Refused(ticket):
                    self.waiting.pop(ticket, None)

    def check_turn(self, ticket: str) -> None:
        """Nobody overtakes within a key, except that those behind one for which a worker is kept go to the others."""
        key, _ = self.waiting[ticket]
        before = list(self.waiting)[: list(self.waiting).index(ticket)]
        assert not [other for other in before if self.waiting[other] == (key, False)], "served out of turn"

    @rule(key=st.sampled_from("ab"), whole=st.sampled_from((False, False, False, True)))
    def ask(self, key, whole):
        self.number += 1
        ticket = f"t{self.number}"
        self.waiting[ticket] = (key, whole)
        need = EVERY_SLOT if whole else 1
        self.obey(self.queue.request(ticket, "m", self.now(), need=need, share=key))

    @rule(pick=st.integers(0, 99))
    def release(self, pick):
        if self.held:
            worker, slot = sorted(self.held)[pick % len(self.held)]
            ticket = self.held.pop((worker, slot))
            self.obey(self.queue.release(ticket, worker, slot, self.now()))

    @rule(pick=st.integers(0, 99))
    def leave(self, pick):
        if self.waiting:
            ticket = list(self.waiting)[pick % len(self.waiting)]
            del self.waiting[ticket]
            self.obey(self.queue.cancel(ticket, self.now()))

    @rule(name=NAMES, numbers=st.sets(st.integers(-1, 3)))
    def others_work(self, name, numbers):
        """Also in slots that work here: both gateways granted them at the same moment."""
        self.elsewhere[name] = numbers
        self.obey(self.queue.slots_elsewhere(name, tuple(numbers), self.now()))

    @rule(name=NAMES, slots=st.integers(1, 3), numbers=st.sets(st.integers(0, 2)))
    def join(self, name, slots, numbers):
        """A worker comes, perhaps in the midst of work for others."""
        self.restart(name)
        self.others_work(name, numbers)
        self.reachable[name] = True
        self.obey(self.queue.worker_ready(name, "m", slots, self.now()))

    @rule(name=NAMES)
    def restart(self, name):
        self.forget(name)
        self.obey(self.queue.worker_starting(name, "m", self.now()))

    @rule(name=NAMES, failed=st.booleans())
    def go(self, name, failed):
        self.forget(name)
        if failed:
            self.obey(self.queue.worker_failed(name, "m", "broken", self.now()))
        else:
            self.obey(self.queue.worker_removed(name, self.now()))

    @rule(name=NAMES)
    def out_of_reach(self, name):
        self.reachable[name] = False
        self.obey(self.queue.worker_held(name, self.now()))

    @rule(name=NAMES)
    def in_reach(self, name):
        self.reachable[name] = self.queue.slots(name) > 0
        self.obey(self.queue.worker_resumed(name, self.now()))

    def forget(self, name: str) -> None:
        self.held = {key: ticket for key, ticket in self.held.items() if key[0] != name}
        self.elsewhere[name], self.reachable[name] = set(), False

    @invariant()
    def the_books_agree(self):
        assert {entry.ticket for entry in self.queue.entries()} == set(self.waiting)
        for name in WORKERS:
            numbers = range(self.queue.slots(name))
            used = tuple((name, slot) in self.held or slot in self.elsewhere[name] for slot in numbers)
            assert self.queue.occupied(name) == used

    @invariant()
    def nobody_waits_beside_a_free_slot(self):
        if self.waiting and not any(whole for _, whole in self.waiting.values()):
            assert all(all(self.queue.occupied(name)) for name in WORKERS if self.reachable[name])

    def teardown(self):
        """In the end, when nothing works elsewhere and all that runs ends, everybody has been served."""
        for name in WORKERS:
            if self.queue.slots(name):
                self.others_work(name, set())
                self.in_reach(name)
            else:
                self.join(name, 2, set())
        while self.held:
            self.release(0)
        assert not self.waiting


TestBesideOthers = BesideOthers.TestCase
TestBesideOthers.settings = settings(max_examples=60, stateful_step_count=30)
