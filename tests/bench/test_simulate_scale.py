"""The simulation of many workers: its arithmetic, and the scheduler in it, at sizes that take a moment."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "bench"))

from duologue.gateway.scheduling.pool import REFRESH
from duologue.gateway.scheduling.queueing.places import NEAR
from scale_model import (
    Costs,
    Models,
    Simulation,
    Users,
    demand,
    gateways_for,
    rate_of,
    users_of,
)
from simulate_scale import read_costs

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
    paced=((40.0, 0.0004), (160.0, 0.0002), (640.0, 0.0001)),
    place=0.0002,
    waiting=0.00001,
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
    assert few.waiting == 0
    many = Simulation(2, models, STEADY, timed=timed).closed(200, 600.0)
    assert many.busy == pytest.approx(8, rel=0.1)
    assert many.wait(0.5) > 30
    # Those who think or are answered do not wait.
    assert 50 < many.waiting < 192
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
    assert small.places == 0
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


def test_the_fewer_chunks_come_the_more_each_costs_and_beyond_what_was_measured_nothing_is_assumed() -> None:
    assert COSTS.relayed(40.0) == pytest.approx(0.0004)
    assert COSTS.relayed(80.0) == pytest.approx(0.0003)
    assert COSTS.relayed(1.0) == pytest.approx(0.0004)
    assert COSTS.relayed(640.0) == COSTS.relayed(100_000.0) == pytest.approx(0.0001)
    assert [COSTS.relayed(rate) for rate in (50, 100, 200, 400)] == sorted(
        (COSTS.relayed(rate) for rate in (50, 100, 200, 400)), reverse=True
    )


def test_a_calibration_without_the_pace_of_models_still_counts_its_chunks() -> None:
    old = {"paced": (), "place": 0.0, "waiting": 0.0}
    costs = Costs(**{**{name: getattr(COSTS, name) for name in COSTS.__dataclass_fields__}, **old})
    assert costs.relayed(40.0) == costs.chunk
    assert costs.places(100.0, 5.0, 8) == 0.0


def test_those_near_the_head_are_told_each_grant_where_slots_are_few_and_those_far_back_cost_little() -> None:
    assert COSTS.places(0.0, 5.0, 8) == 0.0
    assert COSTS.places(6.0, 5.0, 8) == pytest.approx((6 / REFRESH + 6 * 5.0) * COSTS.place)
    assert COSTS.places(6.0, 5.0, 8000) == pytest.approx(6 / REFRESH * COSTS.place)
    far = COSTS.places(NEAR + 100.0, 5.0, 8) - COSTS.places(float(NEAR), 5.0, 8)
    assert far == pytest.approx(100 * COSTS.waiting)


def test_costs_are_read_as_a_calibration_wrote_them() -> None:
    assert read_costs(json.dumps(dataclasses.asdict(COSTS))) == COSTS
