"""Counts of usage, and the days they are of."""

import pytest

from duologue.values.usage.key_limits import AppliedLimits, KeyLimits
from duologue.values.usage.usage_counts import UsageCounts, day_of, days_before


def test_counts_add_up_field_by_field():
    assert UsageCounts(1, 2, 3, 4, 5, 6, 7).plus(UsageCounts(10, 20, 30, 40, 50, 60, 70)) == UsageCounts(
        11, 22, 33, 44, 55, 66, 77
    )


def test_limits_count_no_tokens_from_the_cache():
    assert UsageCounts(prompt=100, cached=90, completion=7).limited_tokens == 17
    assert UsageCounts(prompt=5, cached=9, completion=7).limited_tokens == 7


@pytest.mark.parametrize(
    ("unix", "day"),
    [(0, "1970-01-01"), (1_795_823_999.9, "2026-11-27"), (1_795_824_000, "2026-11-28")],
)
def test_a_day_begins_at_midnight_in_utc(unix, day):
    assert day_of(unix) == day


def test_days_are_counted_back_over_months_and_leap_years():
    assert days_before("2024-03-01", 1) == "2024-02-29"
    assert days_before("2026-11-27", 29) == "2026-10-29"


def test_own_limits_replace_the_defaults_also_by_none():
    defaults = AppliedLimits(4, 10, 100, 1000, ("small",), 2.0)
    assert KeyLimits().over(defaults) == defaults
    assert KeyLimits(concurrent=0, models=(), weight=0.5).over(defaults) == AppliedLimits(
        0, 10, 100, 1000, (), 0.5
    )
