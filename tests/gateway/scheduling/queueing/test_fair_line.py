"""A line that keys share: who is next, and that nobody is overtaken without a bound."""

import random
from collections.abc import Iterator

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from duologue.gateway.scheduling.queueing import fair_line
from duologue.gateway.scheduling.queueing.fair_line import LEAST_COST, FairLine
from duologue.gateway.scheduling.queueing.slots import EVERY_SLOT, QueueEntry


class Lined:
    """A line, and the requests that are put into it."""

    def __init__(self, overtakings: int = 64) -> None:
        self.line = FairLine(overtakings)
        self.number = 0

    def add(
        self, share: str, *, cost: float = 1.0, weight: float = 1.0, slots: int = 1, whole: bool = False
    ) -> QueueEntry:
        self.number += 1
        need = EVERY_SLOT if whole else slots
        entry = QueueEntry(f"{share}{self.number}", "m", need, "chat", (), 0.0, share=share)
        entry.number, entry.cost, entry.weight = self.number, cost, weight
        entry.left = 1 if whole else slots
        self.line.add(entry)
        return entry

    def serve(self, times: int = 1, *, takes: float | None = None) -> str:
        """Serve the next requests, each after the one before has ended; gives their shares."""
        served = ""
        for _ in range(times):
            entry = self.line.first()
            assert entry is not None
            self.line.take(entry)
            self.line.settle(entry.share, entry.cost, entry.cost if takes is None else takes)
            served += entry.share
        return served


def test_what_a_key_was_served_elsewhere_counts_here_too():
    lined = Lined()
    for _ in range(4):
        lined.add("a")
        lined.add("b")
    lined.line.served_elsewhere("a", 2.0)
    assert lined.serve(8) == "bbababaa"
    lined.line.served_elsewhere("a", 100.0)
    lined.add("a")
    lined.add("b")
    assert lined.serve(2) == "ab"


def test_what_is_charged_is_told_in_seconds_with_what_was_estimated_set_right():
    lined = Lined()
    lined.line.charged = {}
    lined.add("a", cost=3.0, weight=2.0)
    lined.add("b", cost=1.0)
    lined.serve(2, takes=5.0)
    assert lined.line.charged == pytest.approx({"a": 5.0, "b": 5.0})


def test_a_single_share_is_served_first_come_first_served():
    lined = Lined()
    tickets = [lined.add("a", cost=cost).ticket for cost in (5.0, 1.0, 9.0, 0.1)]
    assert [entry.ticket for entry in lined.line.in_order()] == tickets
    for ticket in tickets:
        first = lined.line.first()
        assert first is not None
        assert first.ticket == ticket
        lined.serve()


def test_a_share_with_one_request_is_served_after_one_of_the_share_with_thirty():
    lined = Lined()
    for _ in range(30):
        lined.add("a")
    lined.serve(2)
    lined.add("b")
    assert lined.serve(3) in ("aba", "baa")


def test_two_shares_take_turns_and_a_third_joins_them_without_a_head_start():
    lined = Lined()
    for _ in range(30):
        lined.add("a")
        lined.add("b")
    assert lined.serve(10).count("a") == 5
    for _ in range(20):
        lined.add("c")
    served = lined.serve(12)
    assert [served.count(share) for share in "abc"] == [4, 4, 4]


def test_a_share_gets_as_much_as_it_weighs():
    lined = Lined()
    for _ in range(60):
        lined.add("a", weight=3.0)
        lined.add("b", weight=1.0)
    assert lined.serve(40).count("a") == 30


def test_what_counts_is_time_and_not_the_number_of_requests():
    lined = Lined()
    for _ in range(60):
        lined.add("l", cost=10.0)
        lined.add("s", cost=1.0)
    served = lined.serve(44)
    assert 3 <= served.count("l") <= 5


def test_a_wrong_estimate_is_set_right_once_the_slot_is_free():
    lined = Lined()
    for _ in range(60):
        lined.add("l", cost=1.0)
        lined.add("s", cost=1.0)
    seconds = {"l": 0.0, "s": 0.0}
    for _ in range(50):
        entry = lined.line.first()
        assert entry is not None
        takes = 10.0 if entry.share == "l" else 1.0
        lined.line.take(entry)
        lined.line.settle(entry.share, entry.cost, takes)
        seconds[entry.share] += takes
    assert abs(seconds["l"] - seconds["s"]) <= 20.0


def test_a_share_that_comes_back_has_saved_nothing_up():
    lined = Lined()
    lined.add("b")
    lined.serve()
    for _ in range(40):
        lined.add("a")
    lined.serve(20)
    for _ in range(20):
        lined.add("b")
    assert 5 <= lined.serve(10).count("b") <= 6


def test_when_nothing_waits_or_runs_what_was_before_is_forgotten():
    lined = Lined()
    for _ in range(10):
        lined.add("a")
    lined.serve(10)
    lined.add("a")
    lined.add("b")
    assert lined.serve(2) == "ab"


def test_several_slots_are_several_requests_of_a_share():
    lined = Lined()
    lined.add("a", slots=4)
    lined.add("b")
    assert [entry.share for entry in lined.line.in_order()] == ["a", "b", "a", "a", "a"]
    assert lined.serve(5) == "abaaa"


def test_a_share_with_expensive_requests_is_not_passed_over_for_ever():
    lined = Lined(overtakings=4)
    lined.add("l", cost=1000.0)
    lined.add("l", cost=1000.0)
    lined.add("s")
    served = ""
    for _ in range(30):
        lined.add("s")
        served += lined.serve()
    assert served.count("l") == 2
    assert served.rindex("l") <= 4 + 3 * 2 + 1


def test_new_shares_without_end_do_not_starve_the_one_that_has_had_most():
    lined = Lined(overtakings=4)
    for _ in range(3):
        lined.add("a")
    served = ""
    for number in range(40):
        lined.add(chr(ord("b") + number % 20) * 2)
        served += lined.serve()
    assert served.count("a") == 3


def test_the_order_told_is_the_order_kept():
    lined = Lined()
    for share, cost, weight in (("a", 2.0, 1.0), ("b", 1.0, 2.0), ("a", 1.0, 1.0), ("c", 5.0, 1.0)) * 4:
        lined.add(share, cost=cost, weight=weight)
    told = [entry.ticket for entry in lined.line.in_order()]
    kept = []
    while (entry := lined.line.first()) is not None:
        kept.append(entry.ticket)
        lined.serve()
    assert told == kept


def test_who_comes_far_back_is_counted_without_walking_the_line():
    lined = Lined()
    for number in range(300):
        lined.add("abc"[number % 3])
    lined.serve(30)
    for share in "abcd":
        entry = lined.add(share)
        order = [other.ticket for other in lined.line.in_order()]
        count, seconds = lined.line.before(entry)
        assert abs(count - order.index(entry.ticket)) <= 3
        assert seconds == float(count)


class Overtaken(RuleBasedStateMachine):
    """Whatever comes, leaves and takes however long: the bound of the docstring holds, and within a share nobody is overtaken."""

    OVERTAKINGS = 3

    def __init__(self) -> None:
        super().__init__()
        self.lined = Lined(self.OVERTAKINGS)
        self.waiting: dict[str, list[QueueEntry]] = {}
        self.running: list[QueueEntry] = []
        self.others: dict[str, int] = {}
        """Slots that others got while the first request of a share was that."""
        self.most: dict[str, int] = {}

    def became_first(self, share: str) -> None:
        self.others[share], self.most[share] = 0, 0

    @rule(
        share=st.sampled_from("abcdef"),
        cost=st.sampled_from([0.0, 0.5, 1.0, 30.0, 5000.0]),
        weight=st.sampled_from([0.1, 1.0, 50.0]),
        slots=st.integers(1, 3),
    )
    def come(self, share: str, cost: float, weight: float, slots: int) -> None:
        entry = self.lined.add(share, cost=cost, weight=weight, slots=slots)
        if not self.waiting.setdefault(share, []):
            self.became_first(share)
        self.waiting[share].append(entry)

    @precondition(lambda self: any(self.waiting.values()))
    @rule()
    def serve(self) -> None:
        entry = self.lined.line.first()
        assert entry is not None
        assert self.waiting[entry.share][0] is entry, "overtaken within its share"
        self.lined.line.take(entry)
        self.running.append(entry)
        for share, entries in self.waiting.items():
            if entries and share != entry.share:
                self.others[share] += 1
        if entry.left == 0:
            self.waiting[entry.share].pop(0)
        self.became_first(entry.share)

    @rule()
    def overtake(self) -> None:
        if self.lined.line.due() is None:
            self.lined.line.overtake()
            for share, entries in self.waiting.items():
                self.others[share] += bool(entries)

    @precondition(lambda self: self.running)
    @rule(pick=st.integers(0, 99), seconds=st.sampled_from([0.0, 1.0, 40.0, 9000.0]))
    def end(self, pick: int, seconds: float) -> None:
        entry = self.running.pop(pick % len(self.running))
        self.lined.line.settle(entry.share, entry.cost, seconds)

    @precondition(lambda self: any(self.waiting.values()))
    @rule(pick=st.integers(0, 99))
    def leave(self, pick: int) -> None:
        entries = [entry for waiting in self.waiting.values() for entry in waiting]
        entry = entries[pick % len(entries)]
        if self.waiting[entry.share][0] is entry:
            self.became_first(entry.share)
        self.waiting[entry.share].remove(entry)
        self.lined.line.remove(entry)

    @invariant()
    def the_bound_holds(self) -> None:
        shares = sum(bool(entries) for entries in self.waiting.values())
        for share, entries in self.waiting.items():
            if entries:
                self.most[share] = max(self.most[share], shares)
                assert self.others[share] <= self.OVERTAKINGS + 3 * self.most[share]

    @invariant()
    def nobody_is_forgotten(self) -> None:
        assert len(self.lined.line) == sum(map(len, self.waiting.values()))
        order = list(self.lined.line.in_order())
        assert len(order) == sum(entry.left for entries in self.waiting.values() for entry in entries)
        assert (order[0] if order else None) is self.lined.line.first()


TestOvertaken = Overtaken.TestCase
TestOvertaken.settings = settings(max_examples=200, stateful_step_count=60)


class PlainLine(FairLine):
    """Looks at every share each time."""

    def in_order(self, most: int | None = None) -> Iterator[QueueEntry]:
        due = self.due()
        line = [
            (
                share.passed if due is None or share.first is not due else float("-inf"),
                share.first.number,
                share,
                [entry for entry in share.entries.values() for _ in range(1 if entry.whole else entry.left)],
            )
            for share in self._firsts.values()
        ]
        left = sum(len(units) for *_, units in line) if most is None else most
        while line and left > 0:
            passed, number, share, units = min(line, key=lambda item: item[:2])
            line.remove((passed, number, share, units))
            yield units[0]
            left -= 1
            if units[1:]:
                passed = max(passed, share.passed) + max(LEAST_COST, units[0].cost) / share.weight
                line.append((passed, units[1].number, share, units[1:]))

    def _forget_shares(self) -> None:
        if len(self._shares) < 64 + 2 * len(self._firsts):
            return
        every = len(self._shares) >= fair_line.MOST_SHARES
        for share in list(self._shares.values()):
            if not share.entries and share.running <= 0 and (every or share.passed <= self._now):
                del self._shares[share.name]


@pytest.mark.parametrize("overtakings", [2, 64])
@pytest.mark.parametrize(("keys", "most"), [(5, 4096), (300, 4096), (300, 90)])
def test_the_order_and_what_is_remembered_are_those_of_a_line_that_looks_at_everything(
    monkeypatch, overtakings, keys, most
):
    monkeypatch.setattr(fair_line, "MOST_SHARES", most)
    chance = random.Random(keys + most)
    lines = FairLine(overtakings), PlainLine(overtakings)
    waiting: dict[str, tuple[QueueEntry, ...]] = {}
    running: list[QueueEntry] = []
    forgotten = 0
    for number in range(1200):
        share = f"k{chance.randrange(keys)}"
        match chance.choices(("come", "serve", "leave", "end", "elsewhere"), (5, 4, 1, 4, 1))[0]:
            case "come":
                before = len(lines[0]._shares)
                left, cost, weight = (
                    chance.choice((1, 1, 3)),
                    chance.choice((0.0, 1.0, 7.0)),
                    chance.choice((0.5, 1.0)),
                )
                waiting[f"q{number}"] = tuple(
                    QueueEntry(
                        f"q{number}",
                        "m",
                        left,
                        "chat",
                        (),
                        0.0,
                        share=share,
                        weight=weight,
                        number=number,
                        left=left,
                        cost=cost,
                    )
                    for _ in lines
                )
                for line, entry in zip(lines, waiting[f"q{number}"], strict=True):
                    line.add(entry)
                forgotten += len(lines[0]._shares) < before
            case "serve" if waiting:
                first = lines[0].first()
                assert first is not None
                entries = waiting[first.ticket]
                assert lines[1].first() is entries[1]
                for line, entry in zip(lines, entries, strict=True):
                    line.take(entry)
                running.append(first)
                if not first.left:
                    del waiting[first.ticket]
            case "leave" if waiting:
                for line, entry in zip(lines, waiting.pop(chance.choice(list(waiting))), strict=True):
                    line.remove(entry)
            case "end" if running:
                entry = running.pop(chance.randrange(len(running)))
                seconds = chance.choice((0.0, 2.0, 30.0))
                for line in lines:
                    line.settle(entry.share, entry.cost, seconds)
            case "elsewhere":
                for line in lines:
                    line.served_elsewhere(share, 3.0)
        ours, plain = ([entry.ticket for entry in line.in_order(20)] for line in lines)
        assert ours == plain
        assert lines[0]._shares.keys() == lines[1]._shares.keys()
    ours, plain = ([entry.ticket for entry in line.in_order()] for line in lines)
    assert ours == plain
    assert forgotten or keys < 64


def test_of_very_many_keys_some_are_looked_at_to_say_how_many_come_before():
    lined = Lined()
    for number in range(4000):
        lined.add(f"k{number}")
    entry = lined.add("k7")
    count, seconds = lined.line.before(entry)
    assert abs(count - 4000) <= 200
    assert seconds == pytest.approx(count, rel=0.01)
    assert lined.line.work == pytest.approx(4001, rel=0.05)
    assert len(lined.line._some_shares()) < 600


def test_the_books_of_a_line_do_not_grow_with_what_it_has_served():
    lined = Lined()
    lined.add("waiting", cost=1000.0)
    lined.line.take(lined.add("runs"))
    for number in range(3000):
        lined.add(f"k{number % 70}", cost=0.001)
        lined.serve()
    assert len(lined.line._heap) + len(lined.line._idle) < 600
