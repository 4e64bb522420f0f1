"""How fast, and how long still: numbers and times in, an estimate out."""

from duologue.gateway.models.transfer_rate import LEAST, WINDOW, TransferRate


def test_a_steady_rate_is_told_and_what_is_left_follows_from_it():
    pace = TransferRate(0, 100.0)
    for second in range(1, 5):
        pace.moved(second * 1000, 100.0 + second)
    assert pace.rate(104.0) == 1000.0
    assert pace.left(10_000, 104.0) == 6.0


def test_nothing_is_said_before_something_was_seen():
    pace = TransferRate(500, 0.0)
    assert pace.rate(LEAST / 2) == 0.0
    assert pace.left(1000, LEAST / 2) is None


def test_what_was_there_before_does_not_count():
    pace = TransferRate(1_000_000, 0.0)
    pace.moved(1_000_100, 1.0)
    assert pace.rate(1.0) == 100.0


def test_only_the_last_seconds_count():
    pace = TransferRate(0, 0.0)
    for second in range(1, 11):
        pace.moved(second * 1000, float(second))
    for second in range(11, 31):
        pace.moved(10_000 + (second - 10) * 10, float(second))
    assert pace.rate(30.0) == 10.0


def test_a_stream_that_stands_still_gets_slower_and_slower():
    pace = TransferRate(0, 0.0)
    pace.moved(1000, 1.0)
    assert pace.rate(1.0) > pace.rate(5.0) > pace.rate(50.0) > 0


def test_beginning_anew_forgets_what_came_before():
    pace = TransferRate(0, 0.0)
    pace.moved(5000, 5.0)
    pace.moved(0, 6.0)
    assert pace.rate(7.0) == 0.0
    pace.moved(10, 8.0)
    assert pace.rate(8.0) == 5.0


def test_a_size_that_nobody_knows_leaves_no_time():
    pace = TransferRate(0, 0.0)
    pace.moved(10, 1.0)
    assert pace.left(0, 1.0) is None
    assert pace.left(5, 1.0) == 0.0


def test_the_samples_do_not_pile_up():
    pace = TransferRate(0, 0.0)
    for number in range(10_000):
        pace.moved(number, number * 0.25)
    assert len(pace._seen) <= WINDOW / 0.25 + 2
