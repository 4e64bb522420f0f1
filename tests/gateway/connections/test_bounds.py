"""The pure machines: sizes and times in, the bound that is met out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.config.sections.connections import ConnectionSettings
from duologue.gateway.connections.bounds import (
    CLOSING_SECONDS,
    KILOBYTE,
    Exceeded,
    RateWatch,
    Reading,
    RequestProgress,
    SendProgress,
)

SETTINGS = ConnectionSettings(request_line_kb=1, header_kb=2, headers=3)


def head(now: float = 0.0) -> RequestProgress:
    progress = RequestProgress(SETTINGS, now)
    progress.received(now)
    return progress


@given(st.lists(st.integers(0, 1500), max_size=6), st.integers(0, 1100))
def test_a_head_is_refused_exactly_beyond_its_bounds(sizes, line):
    headers = [(b"a" * (size // 2), b"b" * (size - size // 2)) for size in sizes]
    raw = line + sum(sizes) + 4 * len(sizes)
    wrong = "request_line" if line > KILOBYTE else "headers"
    if line <= KILOBYTE and len(sizes) <= 3 and sum(sizes) <= 2 * KILOBYTE:
        head().check_head(line, headers, raw)
        return
    with pytest.raises(Exceeded) as refusal:
        head().check_head(line, headers, raw)
    assert refusal.value.bound == wrong


@given(st.lists(st.integers(1, 900), max_size=12))
def test_a_head_without_end_is_refused_whatever_its_pieces(sizes):
    progress, total = head(), 0
    for size in sizes:
        total += size
        if total > 3 * KILOBYTE:
            with pytest.raises(Exceeded):
                progress.head_continues(size, 5)
            return
        progress.head_continues(size, 5)


def test_an_address_without_end_is_refused():
    progress = head()
    progress.head_continues(KILOBYTE, KILOBYTE)
    with pytest.raises(Exceeded) as refusal:
        progress.head_continues(1, KILOBYTE + 1)
    assert refusal.value.bound == "request_line"


def test_every_request_of_a_connection_is_counted_anew():
    progress = head()
    for _ in range(10):
        progress.received(1.0)
        progress.head_continues(2 * KILOBYTE, 5)
        progress.check_head(KILOBYTE, [(b"a", b"b" * 2000)], 100)
        progress.head_complete(1.0)
        progress.request_complete()
    assert progress.reading is Reading.WAITING


def test_bytes_that_end_nothing_are_bounded():
    progress = head()
    progress.parsed_nothing(2 * KILOBYTE)
    progress.parsed()
    progress.parsed_nothing(2 * KILOBYTE)
    with pytest.raises(Exceeded):
        progress.parsed_nothing(1)


def test_only_a_new_connection_is_hurried_to_send_something():
    assert RequestProgress(SETTINGS, 0.0).verdict(29.9) is None
    assert RequestProgress(SETTINGS, 0.0).verdict(30.0) == "first_byte"
    progress = head()
    progress.head_complete(1.0)
    progress.request_complete()
    assert progress.verdict(1000.0) is None


def test_the_time_of_headers_counts_from_their_first_byte():
    progress = head(5.0)
    progress.received(24.0)
    assert (progress.verdict(24.9), progress.verdict(25.0)) == (None, "header_time")


def test_while_the_server_does_not_read_no_time_passes():
    progress = head()
    assert progress.verdict(100.0, is_paused=True) is None
    assert progress.verdict(119.0) is None
    progress.head_complete(119.0)
    for now in range(120, 1000, 50):
        assert progress.verdict(now, is_paused=True) is None
    assert progress.verdict(1000.0) is None
    assert progress.verdict(1060.0) == "body_rate"


@given(st.lists(st.tuples(st.floats(0.1, 30), st.integers(0, 200_000)), min_size=1, max_size=60))
def test_a_body_fast_enough_in_every_window_passes_and_one_that_rests_does_not(steps):
    watch, now, size = RateWatch(SETTINGS, 0.0), 0.0, 0
    least = SETTINGS.body_rate_kb * KILOBYTE
    for seconds, arrived in steps:
        now += seconds
        size += arrived + int(least * seconds) + 1
        assert watch.verdict(now, size) is None
    watch.verdict(now, size)
    assert watch.verdict(now + 61, size) in ("body_rate", None)
    assert watch.verdict(now + 122, size) == "body_rate"


def test_a_body_ends_in_time_however_fast_it_is():
    watch = RateWatch(SETTINGS, 0.0)
    assert watch.verdict(7199.0, 10**9) is None
    assert watch.verdict(7200.0, 10**10) == "body_time"


def test_a_refused_client_has_a_moment_to_read():
    progress = head()
    progress.refused(10.0)
    assert (progress.is_done_with(11.0), progress.is_done_with(12.0)) == (False, True)
    assert progress.verdict(1000.0) is None


def test_a_client_that_takes_nothing_is_noticed():
    sending = SendProgress(SETTINGS)
    assert sending.verdict(0.0, 1000, is_closing=False) is None
    assert sending.verdict(59.0, 1000, is_closing=False) is None
    assert sending.verdict(60.0, 1200, is_closing=False) == "unread"


def test_a_client_that_takes_anything_has_its_time_again():
    sending = SendProgress(SETTINGS)
    for now in range(0, 1000, 50):
        assert sending.verdict(float(now), 10_000 - now, is_closing=False) is None
    assert sending.verdict(1000.0, 0, is_closing=False) is None
    assert sending.verdict(2000.0, 5, is_closing=False) is None
    assert sending.verdict(2060.0, 5, is_closing=False) == "unread"


def test_a_connection_that_closes_has_less_time():
    sending = SendProgress(SETTINGS)
    assert sending.verdict(0.0, 0, is_closing=True) is None
    assert sending.verdict(CLOSING_SECONDS, 0, is_closing=True) == "unread"
