"""When a model gets another worker and loses one: single rules, and simulated loads."""

import itertools
import math
from collections.abc import Callable, Iterable

from hypothesis import given, settings
from hypothesis import strategies as st

from duologue.gateway.life.autoscaling import (
    LONG_FOR,
    NO_ROOM_FOR,
    NOTHING,
    PATIENCE_GROWS,
    SETTLE,
    Autoscaler,
    ScaleFacts,
    ScaleLimits,
)

LIMITS = ScaleLimits(1, 4, wait=15.0, idle=300.0)
CALM = ScaleFacts(1, 0, 4, 0, 0, 0.0, room=True)
LONG = ScaleFacts(1, 0, 4, 4, 8, 40.0, room=True)


class Simulation:
    """A model whose workers take `load` seconds to start, looked at every two seconds. `demand` gives how many requests there are at a time;
    each slot ends one in `seconds`."""

    def __init__(
        self, limits: ScaleLimits, *, load: float = 20.0, room: int = 99, seconds: float = 10.0
    ) -> None:
        self.scaler = Autoscaler(limits)
        self.load, self.room, self.seconds = load, room, seconds
        self.ready, self.coming, self.at = 1, list[float](), 0.0
        self.changes: list[tuple[float, int]] = []
        self.most = 1

    def run(self, demand: Callable[[float], int], hours: float) -> None:
        for _ in range(int(hours * 1800)):
            self.at += 2.0
            at = self.at
            self.ready += sum(when <= at for when in self.coming)
            self.coming = [when for when in self.coming if when > at]
            self.most = max(self.most, self.ready)
            slots, wanted = 4 * self.ready, demand(at)
            waiting = max(0, wanted - slots)
            wait = self.seconds * math.ceil(waiting / slots) if waiting else 0.0
            room = self.ready + len(self.coming) < self.room
            facts = ScaleFacts(self.ready, len(self.coming), 4, min(wanted, slots), waiting, wait, room)
            scale = self.scaler.decide(facts, at)
            if scale.by > 0:
                self.coming.append(at + self.load)
            elif scale.by < 0:
                self.ready -= 1
            if scale.by:
                assert scale.reason
                self.changes.append((at, scale.by))


def ups(changes: Iterable[tuple[float, int]]) -> int:
    return sum(by > 0 for _, by in changes)


def test_a_short_burst_calls_for_no_worker():
    scaler = Autoscaler(LIMITS)
    assert scaler.decide(LONG, 100.0) == NOTHING
    assert scaler.decide(LONG, 100.0 + LONG_FOR / 2) == NOTHING
    assert scaler.decide(CALM, 103.0) == NOTHING
    assert scaler.decide(LONG, 100.0 + LONG_FOR) == NOTHING


def test_a_queue_that_stays_long_calls_for_one_with_the_reason():
    scaler = Autoscaler(LIMITS)
    scaler.decide(LONG, 100.0)
    scale = scaler.decide(LONG, 100.0 + LONG_FOR)
    assert (scale.by, scale.reason) == (1, "requests were waiting for 40 s")
    assert scaler.note == scale.reason
    assert scaler.decide(LONG._replace(coming=1), 110.0) == NOTHING, "one is on its way"
    assert scaler.decide(LONG._replace(ready=2), 100.0 + SETTLE) == NOTHING, "it has just begun to help"


def test_without_memory_nothing_is_added_and_that_is_said():
    scaler = Autoscaler(LIMITS)
    scaler.decide(LONG, 100.0)
    assert scaler.needs_room(LONG, 104.0)
    assert scaler.decide(LONG._replace(room=False), 104.0) == NOTHING
    assert scaler.note == "requests were waiting for 40 s, but there is no memory for another worker"
    assert not scaler.needs_room(LONG, 104.0 + NO_ROOM_FOR - 1)
    assert scaler.needs_room(LONG, 104.0 + NO_ROOM_FOR)


def test_the_least_number_of_workers_is_kept_without_a_queue():
    scaler = Autoscaler(LIMITS._replace(least=2))
    assert scaler.decide(CALM, 0.0).by == 1
    assert scaler.decide(CALM._replace(ready=2), 10_000.0) == NOTHING
    assert scaler.decide(CALM._replace(ready=2), 20_000.0) == NOTHING


def test_a_worker_that_failed_counts_or_there_would_be_too_many_once_it_is_back():
    scaler = Autoscaler(LIMITS._replace(most=2))
    scaler.decide(LONG._replace(failed=1), 0.0)
    assert scaler.decide(LONG._replace(failed=1), 100.0) == NOTHING


def test_a_steady_overload_gets_workers_until_it_fits_and_loses_them_long_after():
    simulation = Simulation(LIMITS)
    simulation.run(lambda at: 40 if at < 1800 else 0, hours=2)
    assert simulation.most == 4
    assert simulation.ready == 1
    removed = [at for at, by in simulation.changes if by < 0]
    assert removed[0] >= 1800 + LIMITS.idle
    assert all(later - earlier >= LIMITS.idle for earlier, later in itertools.pairwise(removed))


def test_a_load_that_comes_and_goes_does_not_make_workers_do_so_too():
    # Four minutes on, six off: each removal would be regretted four minutes later.
    simulation = Simulation(LIMITS)
    simulation.run(lambda at: 12 if at % 600 < 240 else 0, hours=8)
    assert ups(simulation.changes) <= 8
    late = [at for at, by in simulation.changes if at > 4 * 3600 and by > 0]
    assert len(late) <= 3


LOADS = st.lists(st.integers(0, 40), min_size=1, max_size=60)


@settings(deadline=None, max_examples=60)
@given(LOADS, st.integers(1, 3), st.integers(0, 3), st.floats(2.0, 120.0))
def test_whatever_the_load_there_are_never_too_many_changes_or_workers(loads, least, more, load):
    limits = ScaleLimits(least, least + more, wait=15.0, idle=300.0)
    simulation = Simulation(limits, load=load)
    simulation.run(lambda at: loads[int(at // 120) % len(loads)], hours=3)
    assert simulation.most <= limits.most
    for (earlier, before), (later, after) in itertools.pairwise(simulation.changes):
        assert later - earlier >= (limits.idle if after < 0 else 0)
        if before < 0 < after and simulation.ready > limits.least:
            assert later - earlier >= LONG_FOR
    # One addition at most for each removal, besides the way up, and removals are at least `idle` apart.
    assert ups(simulation.changes) <= limits.most + 3 * 3600 / limits.idle


@given(st.integers(2, 4))
def test_memory_is_a_limit_too(room):
    simulation = Simulation(LIMITS, room=room)
    simulation.run(lambda at: 100, hours=1)
    assert simulation.most == room


def test_patience_grows_but_not_for_ever():
    simulation = Simulation(LIMITS)
    gap = 2 * LIMITS.idle
    simulation.run(lambda at: 12 if at % gap < 60 else 0, hours=24)
    longest = PATIENCE_GROWS * LIMITS.idle
    simulation.run(lambda at: 0, hours=(longest * 4 + 600) / 3600)
    assert simulation.ready == 1
