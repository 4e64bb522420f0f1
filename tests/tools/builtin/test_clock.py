from datetime import UTC, datetime
from unittest.mock import Mock
from zoneinfo import ZoneInfoNotFoundError

import pytest

from duologue.errors import BadRequest
from duologue.tools.builtin import clock
from duologue.tools.builtin.clock import describe_time, local_zone_name

NOW = int(datetime(2026, 3, 10, 12, 30, tzinfo=UTC).timestamp() * 1000)


def test_the_time_is_said_first_then_day_week_date_and_where():
    assert describe_time(NOW, "Europe/Berlin") == (
        "The time is 13:30, Tuesday of week 11, 2026-03-10, Europe/Berlin, +01:00"
    )


def test_without_a_zone_it_is_universal_time():
    assert describe_time(NOW) == "The time is 12:30, Tuesday of week 11, 2026-03-10, UTC, +00:00"


def test_a_zone_that_is_an_offset_is_said_once():
    assert describe_time(NOW, "+01:00").endswith(", 2026-03-10, +01:00")


def test_this_machine_is_in_a_zone_there_is():
    assert describe_time(NOW, local_zone_name())


@pytest.mark.parametrize("named", [None, "", "Mars/Olympus", ZoneInfoNotFoundError("Mars/Olympus")])
def test_a_machine_that_names_no_zone_is_in_universal_time(monkeypatch, named):
    monkeypatch.setattr(clock, "get_localzone_name", Mock(side_effect=[named]))
    assert local_zone_name() == "UTC"


@pytest.mark.parametrize("zone", ["Europe/Berlin", "berlin", "+01:00", "UTC+1", "GMT+0100"])
def test_a_zone_may_be_named_in_many_ways(zone):
    assert describe_time(NOW, zone).startswith("The time is 13:30, ")


def test_a_city_of_two_words_is_found():
    assert "New York" in describe_time(NOW, "New York")
    assert describe_time(NOW, "New York").startswith("The time is 08:30, ")


def test_the_way_to_another_moment_counts_days_and_months():
    text = describe_time(NOW, since="2024-02-29")
    assert "740 days, 12 hours, 30 minutes, 0 seconds" in text
    assert "740 calendar days, 2 full years and 0 months" in text


def test_a_moment_that_is_past_counts_backwards():
    assert "minus 1 days, 0 hours" in describe_time(NOW, until="2026-03-09T12:30")


def test_between_two_moments_now_does_not_matter():
    assert "From 2026-01-01 00:00:00 +00:00 to 2026-12-24 00:00:00 +00:00: 357 days" in describe_time(
        NOW, since="2026-01-01", until="2026-12-24"
    )


@pytest.mark.parametrize("zone", ["Mars/Olympus", "+99:99", "../../etc/passwd", "x" * 300])
def test_a_zone_there_is_not_is_said(zone):
    with pytest.raises(BadRequest) as refused:
        describe_time(NOW, zone)
    assert "time zone" in refused.value.message


def test_a_date_there_is_not_is_said():
    with pytest.raises(BadRequest) as refused:
        describe_time(NOW, since="next tuesday")
    assert "2026-12-24" in refused.value.message
