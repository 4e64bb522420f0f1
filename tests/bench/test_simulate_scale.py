"""The simulation of many workers: its arithmetic, and the scheduler in it, at sizes that take a moment."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "bench"))

from scale_model import Costs, Models, Simulation, Users, demand, gateways_for, rate_of, users_of

COSTS = Costs(
    request=0.002,
    chunk=0.00003,
    client_bytes=80_000.0,
    worker=0.0001,
    worker_chunk=0.00002,
    saves=3.0,
    saves_a_second=1.0,
    commits=1000.0,
    notice=0.00005,
)
STEADY = Users(think_sigma=0.0, tokens_sigma=0.0)


def timed(work: Callable[[], object]) -> float:
    work()
    return 0.001


def test_users_and_workers_are_two_sides_of_one_number() -> None:
    users, models = Users(), Models()
    active = users_of(100, users, models, 0.8)
    busy = rate_of(active, users, models) * models.seconds(users.tokens_mean)
    assert busy == pytest.approx(100 * models.slots * 0.8, rel=0.01)


def test_nobody_waits_while_slots_are_free_and_everybody_once_they_are_not() -> None:
    models = Models(slots=4)
    few = Simulation(2, models, STEADY, timed=timed).closed(8, 600.0)
    assert few.wait(0.95) == 0
    many = Simulation(2, models, STEADY, timed=timed).closed(200, 600.0)
    assert many.busy == pytest.approx(8, rel=0.1)
    assert many.wait(0.5) > 30
    assert many.replies / many.seconds == pytest.approx(8 / models.seconds(250), rel=0.1)


def test_an_open_day_has_the_load_that_was_asked_for() -> None:
    users, models = Users(), Models()
    rate = rate_of(users_of(10, users, models, 0.8), users, models)
    outcome = Simulation(10, models, users, timed=timed).open(rate, 400, 0.8)
    assert len(outcome.costs) == 400
    assert outcome.cost == pytest.approx(0.001)
    assert outcome.wait(0.5) == 0


def test_an_event_while_some_wait_is_measured_too() -> None:
    assert Simulation(3, Models(), Users(), timed=timed).waiting() == pytest.approx(0.001)


def test_what_is_used_most_is_the_bottleneck() -> None:
    users, models = Users(), Models()
    small = demand(10, 1000, 1, 0.0001, COSTS, users, models)
    assert small.gateway == pytest.approx(small.scheduler + small.relay + small.requests + small.idle)
    assert small.notices == 0
    assert demand(10, 1000, 1, 0.5, COSTS, users, models).bottleneck == "event loop: scheduler"
    slow = Costs(**{**{name: getattr(COSTS, name) for name in COSTS.__dataclass_fields__}, "commits": 1.0})
    assert demand(10, 1000, 1, 0.0001, slow, users, models).bottleneck == "database"


def test_more_gateways_share_the_work_until_the_notices_of_the_others_are_too_many() -> None:
    users, models = Users(), Models()
    few = gateways_for(100, users_of(100, users, models, 0.8), 0.0005, COSTS, users, models)
    assert few.gateway <= 0.6
    assert few.gateways > 1
    never = gateways_for(10_000, users_of(10_000, users, models, 0.8), 0.05, COSTS, users, models)
    assert never.gateway > 0.6
