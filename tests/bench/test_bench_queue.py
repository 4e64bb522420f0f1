"""What the queue tells, on recorded loads: against a moving average and an oracle that knows every length, in one run."""

import sys
from itertools import pairwise
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "bench"))

from queue_replay import LoadRequest, QueueLoad, fair_parts, jain, overloaded, replay

BENCH = Path(__file__).resolve().parents[2] / "bench"
LOADS = sorted((BENCH / "queue_loads").glob("*.json"))


def test_there_are_even_and_mixed_loads():
    assert {path.stem for path in LOADS} >= {"even", "mixed"}


@pytest.mark.parametrize("path", LOADS, ids=lambda path: path.stem)
def test_what_is_told_is_at_least_halfway_from_a_moving_average_to_an_oracle(path: Path):
    told = replay(QueueLoad.read(path))
    assert told.error("oracle") < told.error("average")
    assert told.skill() >= 0.5, {name: told.error(name) for name in told.told}


@pytest.mark.parametrize("path", LOADS, ids=lambda path: path.stem)
def test_nobody_who_waits_is_told_0_and_no_estimate_stands_still(path: Path):
    told = replay(QueueLoad.read(path))
    series = list(told.by_ticket())
    assert all(seconds > 0.0 for each in series for _, seconds in each)
    # Where others join before a request its estimate may stay for a while, but none is a constant.
    for each in (each for each in series if len(each) >= 4):
        still = sum(after == before for (_, before), (_, after) in pairwise(each))
        assert still <= (len(each) - 1) / 2, each


def test_behind_a_long_reply_among_short_ones_the_wait_is_neither_15_s_nor_the_average():
    short = [LoadRequest(0.5 * number, "a", 100, 20, 0.1, 0.4) for number in range(40)]
    long = LoadRequest(25.0, "a", 100, 500, 0.1, 9.9)
    behind = LoadRequest(30.0, "a", 100, 20, 0.1, 0.4)
    taught = [LoadRequest(-20.0 * number, "a", 100, 500, 0.1, 9.9) for number in (1, 2)]
    told = replay(QueueLoad("one slot", 1, [*reversed(taught), *short, long, behind]))
    ticket = f"q_{len(taught) + len(short) + 1}"
    waits = {name: [wait for told_to, _, wait in told.told[name] if told_to == ticket] for name in told.told}
    assert waits["average"][0] == 15.0
    assert waits["oracle"][0] == pytest.approx(5.0, abs=0.2)
    assert abs(waits["ours"][0] - 5.0) < 3.0


def test_keys_are_served_fairly_under_overload():
    for keys, slots in (({"a": 30, "b": 1}, 1), ({"a": 30, "b": 4}, 4), ({"a": 30, "b": 9, "c": 5}, 2)):
        shares = overloaded(keys, slots=slots, seconds=400.0)
        line = overloaded(keys, slots=slots, seconds=400.0, fair=False)
        assert jain(list(shares.values())) >= 0.95
        assert jain(list(line.values())) < 0.8, "one line for all is not fair"


def test_the_arithmetic():
    assert jain([1.0, 1.0]) == 1.0
    assert jain([1.0, 0.0]) == 0.5
    assert fair_parts({"a": 30, "b": 1}, 4) == {"a": 3.0, "b": 1.0}
    assert fair_parts({"a": 30, "b": 9, "c": 5}, 3) == {"a": 1.0, "b": 1.0, "c": 1.0}
