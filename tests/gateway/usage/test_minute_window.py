"""What was used in the last minute."""

from hypothesis import given
from hypothesis import strategies as st

from duologue.gateway.usage.minute_window import MINUTE, MinuteWindow

ADDED = st.lists(st.tuples(st.floats(0, 30), st.integers(1, 50)), max_size=60)


def test_what_is_a_minute_old_counts_no_more():
    window = MinuteWindow()
    window.add(3, 10.2)
    window.add(4, 40.0)
    window.expire(70.9)
    assert window.total == 7
    window.expire(71.0)
    assert window.total == 4
    window.expire(101.0)
    assert window.total == 0


def test_it_says_when_enough_of_it_is_over():
    window = MinuteWindow()
    window.add(3, 10.5)
    window.add(4, 40.0)
    assert window.seconds_until_less(0, 41.0) == 0
    assert window.seconds_until_less(3, 41.0) == 30.0
    assert window.seconds_until_less(4, 41.0) == 60.0
    assert window.seconds_until_less(99, 41.0) == 60.0, "more than there is: all of it"


@given(ADDED)
def test_everything_of_the_last_minute_is_in_the_total_and_it_stays_small(added):
    window, now = MinuteWindow(), 0.0
    seen = []
    for pause, amount in added:
        now += pause
        seen.append((now, amount))
        window.add(amount, now)
        of_minute = sum(amount for at, amount in seen if at > now - MINUTE)
        of_longer = sum(amount for at, amount in seen if at > now - MINUTE - 1)
        assert of_minute <= window.total <= of_longer
        assert len(window._seconds) <= MINUTE + 2


@given(ADDED, st.integers(0, 500))
def test_after_the_time_it_says_so_much_is_over(added, amount):
    window, now = MinuteWindow(), 0.0
    for pause, more in added:
        now += pause
        window.add(more, now)
    before = window.total
    window.expire(now + window.seconds_until_less(amount, now))
    assert before - window.total >= min(amount, before)
