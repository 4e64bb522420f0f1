"""How fast, and how long still: numbers and times in, an estimate out."""

import pickle

from duologue.gateway.models.transfer_rate import LEAST, WINDOW, TransferRate


def test_a_steady_rate_is_told_and_what_is_left_follows_from_it():
    rate = TransferRate(0, 100.0)
    for second in range(1, 5):
        rate.update(second * 1000, 100.0 + second)
    assert rate.rate(104.0) == 1000.0
    assert rate.left(10_000, 104.0) == 6.0


def test_nothing_is_said_before_something_was_samples():
    rate = TransferRate(500, 0.0)
    assert rate.rate(LEAST / 2) == 0.0
    assert rate.left(1000, LEAST / 2) is None


def test_what_was_there_before_does_not_count():
    rate = TransferRate(1_000_000, 0.0)
    rate.update(1_000_100, 1.0)
    assert rate.rate(1.0) == 100.0


def test_only_the_last_seconds_count():
    rate = TransferRate(0, 0.0)
    for second in range(1, 11):
        rate.update(second * 1000, float(second))
    for second in range(11, 31):
        rate.update(10_000 + (second - 10) * 10, float(second))
    assert rate.rate(30.0) == 10.0


def test_a_stream_that_stands_still_gets_slower_and_slower():
    rate = TransferRate(0, 0.0)
    rate.update(1000, 1.0)
    assert rate.rate(1.0) > rate.rate(5.0) > rate.rate(50.0) > 0


def test_beginning_anew_forgets_what_came_before():
    rate = TransferRate(0, 0.0)
    rate.update(5000, 5.0)
    rate.update(0, 6.0)
    assert rate.rate(7.0) == 0.0
    rate.update(10, 8.0)
    assert rate.rate(8.0) == 5.0


def test_a_size_that_nobody_knows_leaves_no_time():
    rate = TransferRate(0, 0.0)
    rate.update(10, 1.0)
    assert rate.left(0, 1.0) is None
    assert rate.left(5, 1.0) == 0.0


def test_a_long_transfer_needs_no_more_memory_than_its_window():
    rate = TransferRate(0, 0.0)
    sizes = []
    for number in range(1, 10_001):
        rate.update(number, number * 0.25)
        sizes.append(len(pickle.dumps(rate)))
    # 42 samples at most: those of the window, and the one it is measured from.
    assert sizes[-1] < 2 * sizes[int(WINDOW / 0.25) + 2]
