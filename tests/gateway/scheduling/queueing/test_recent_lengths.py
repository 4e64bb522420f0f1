"""What is left of something that has come so far, by how long such things have been."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.gateway.scheduling.queueing.recent_lengths import RecentLengths


def seen(*lengths: float) -> RecentLengths:
    recent = RecentLengths()
    for length in lengths:
        recent.add(length)
    return recent


def test_of_something_unknown_the_base_is_expected_and_counts_down():
    recent = RecentLengths()
    assert recent.rest(0.0, 15.0) == pytest.approx(15.0)
    assert recent.rest(5.0, 15.0) < 12.0


def test_what_was_seen_counts_soon_more_than_the_base():
    assert seen(4.0, 4.0, 4.0, 4.0).rest(1.0, 15.0) == pytest.approx(3.0, abs=0.6)
    assert seen(*[4.0] * 60).rest(1.0, 15.0) == pytest.approx(3.0, abs=0.1)


def test_past_the_short_ones_it_is_a_long_one():
    recent = seen(*[1.0] * 19, 30.0, *[1.0] * 19, 30.0)
    assert recent.rest(0.0, 15.0) < 5.0
    assert recent.rest(3.0, 15.0) > 15.0


def test_the_bound_is_kept():
    recent = seen(*[100.0] * 10)
    assert recent.rest(0.0, 100.0, most=20) == pytest.approx(20.0, abs=0.5)
    assert recent.rest(15.0, 100.0, most=20) == pytest.approx(5.0, abs=0.5)
    assert recent.rest(20.0, 100.0, most=20) == 0.0


def test_old_lengths_fade():
    assert seen(*[100.0] * 64, *[1.0] * 64).rest(0.0, 15.0) == pytest.approx(1.0, abs=0.3)


@given(
    lengths=st.lists(st.floats(0.0, 1000.0), max_size=20),
    base=st.floats(0.1, 100.0),
    so_far=st.floats(0.0, 5000.0),
    most=st.one_of(st.just(math.inf), st.floats(0.1, 5000.0)),
)
def test_it_is_always_a_number_and_never_beyond_the_bound(
    lengths: list[float], base: float, so_far: float, most: float
):
    rest = seen(*lengths).rest(so_far, base, most)
    assert 0.0 <= rest <= max(0.0, most - so_far) + 1e-6
    assert math.isfinite(rest)


@given(lengths=st.lists(st.floats(0.5, 100.0), min_size=1, max_size=20), start=st.floats(0.0, 300.0))
def test_it_grows_smoothly_and_never_stands_still(lengths: list[float], start: float):
    recent = seen(*lengths)
    step = 0.00001
    points = [recent.rest(start + step * number, 15.0) for number in range(200)]
    assert max(abs(b - a) for a, b in pairwise(points)) < 0.1, "no jump"
    assert len({round(point, 9) for point in points}) > 100
