"""Which requests of a key may begin: by what runs, what was used, and what running requests may still use."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duologue.gateway.usage.key_limiter import KeyLimiter, LimitExceeded, LimitTime, Reservation
from duologue.values.usage.key_limits import UNLIMITED, AppliedLimits

MIDNIGHT = 20_000 * 86_400.0


def at(seconds: float, unix: float | None = None) -> LimitTime:
    return LimitTime(seconds, MIDNIGHT + seconds if unix is None else unix)


@pytest.fixture
def limiter() -> KeyLimiter:
    return KeyLimiter()


def refused(outcome: Reservation | LimitExceeded) -> LimitExceeded:
    assert isinstance(outcome, LimitExceeded)
    return outcome


def begun(outcome: Reservation | LimitExceeded) -> Reservation:
    assert isinstance(outcome, Reservation)
    return outcome


def test_a_key_without_limits_may_do_everything(limiter):
    for number in range(1000):
        begun(limiter.begin("a", UNLIMITED, 10_000, at(number / 1000)))
    assert limiter.running("a") == 1000


def test_so_many_requests_run_at_a_time_and_the_next_when_one_has_ended(limiter):
    limits = AppliedLimits(concurrent=2)
    first, _ = (begun(limiter.begin("a", limits, 1, at(0))) for _ in range(2))
    assert refused(limiter.begin("a", limits, 1, at(1))) == LimitExceeded("concurrent")
    begun(limiter.begin("b", limits, 1, at(1)))
    limiter.end(first, 5, at(2))
    begun(limiter.begin("a", limits, 1, at(2)))


def test_so_many_requests_a_minute_and_it_says_when_the_next_may_come(limiter):
    limits = AppliedLimits(requests_per_minute=2)
    for second in (0, 20):
        limiter.end(begun(limiter.begin("a", limits, 1, at(second))), 1, at(second + 1))
    exceeded = refused(limiter.begin("a", limits, 1, at(30)))
    assert exceeded == LimitExceeded("requests_per_minute", 0, 31.0)
    begun(limiter.begin("a", limits, 1, at(61)))
    assert refused(limiter.begin("a", limits, 1, at(61.5))).retry_after == pytest.approx(19.5)


def test_requests_that_were_refused_do_not_count(limiter):
    limits = AppliedLimits(requests_per_minute=1)
    begun(limiter.begin("a", limits, 1, at(0)))
    for second in range(1, 61):
        refused(limiter.begin("a", limits, 1, at(second)))
    begun(limiter.begin("a", limits, 1, at(61)))


def test_requests_that_begin_together_cannot_all_pass_a_check_of_what_was_used(limiter):
    limits = AppliedLimits(tokens_per_minute=1000)
    outcomes = [limiter.begin("a", limits, 300, at(0)) for _ in range(10)]
    assert [isinstance(outcome, Reservation) for outcome in outcomes] == [True] * 3 + [False] * 7
    assert refused(outcomes[-1]) == LimitExceeded("tokens_per_minute", 100, None)


def test_what_was_reserved_and_not_used_is_there_again(limiter):
    limits = AppliedLimits(tokens_per_minute=1000)
    limiter.end(begun(limiter.begin("a", limits, 900, at(0))), 100, at(1))
    begun(limiter.begin("a", limits, 900, at(2)))


def test_a_request_alone_may_begin_while_anything_is_left_and_none_beside_it(limiter):
    limits = AppliedLimits(tokens_per_minute=1000)
    alone = begun(limiter.begin("a", limits, 50_000, at(0)))
    refused(limiter.begin("a", limits, 1, at(1)))
    limiter.end(alone, 999, at(2))
    last = begun(limiter.begin("a", limits, 50_000, at(3)))
    limiter.end(last, 1, at(4))
    exceeded = refused(limiter.begin("a", limits, 1, at(5)))
    assert (exceeded.limit, exceeded.left, exceeded.retry_after) == ("tokens_per_minute", 0, 58.0)


def test_a_reply_that_is_longer_than_was_expected_holds_what_it_needs(limiter):
    limits = AppliedLimits(tokens_per_minute=1000)
    long = begun(limiter.begin("a", limits, 100, at(0)))
    limiter.needs(long, 50)
    begun(limiter.begin("a", limits, 100, at(1)))
    limiter.needs(long, 850)
    assert refused(limiter.begin("a", limits, 100, at(2))).left == 50


def test_work_that_is_not_counted_in_tokens_needs_none(limiter):
    limits = AppliedLimits(tokens_per_minute=10, tokens_per_day=10)
    limiter.end(begun(limiter.begin("a", limits, 10, at(0))), 10, at(1))
    refused(limiter.begin("a", limits, 1, at(2)))
    begun(limiter.begin("a", limits, 0, at(2)))


def test_a_days_tokens_are_there_again_at_midnight(limiter):
    limits = AppliedLimits(tokens_per_day=100)
    noon = at(0, MIDNIGHT + 43_200)
    limiter.end(begun(limiter.begin("a", limits, 10, noon)), 100, noon)
    exceeded = refused(limiter.begin("a", limits, 10, at(600, MIDNIGHT + 43_800)))
    assert exceeded == LimitExceeded("tokens_per_day", 0, 42_600.0)
    begun(limiter.begin("a", limits, 10, at(43_200, MIDNIGHT + 86_400)))


def test_a_clock_that_is_set_back_does_not_give_the_days_tokens_again(limiter):
    limits = AppliedLimits(tokens_per_day=100)
    limiter.end(begun(limiter.begin("a", limits, 10, at(0, MIDNIGHT))), 100, at(0, MIDNIGHT))
    refused(limiter.begin("a", limits, 10, at(1, MIDNIGHT - 60)))


def test_the_tokens_of_today_outlive_a_restart(limiter):
    limiter.restore("a", 95, at(0))
    limits = AppliedLimits(tokens_per_day=100)
    assert limiter.standing("a", limits, at(10)).tokens_today == (5, 86_390.0)
    limiter.end(begun(limiter.begin("a", limits, 50, at(10))), 5, at(11))
    assert refused(limiter.begin("a", limits, 1, at(12))).limit == "tokens_per_day"


def test_a_request_ends_once(limiter):
    one = begun(limiter.begin("a", UNLIMITED, 5, at(0)))
    for _ in range(2):
        limiter.end(one, 5, at(1))
    assert limiter.running("a") == 0
    assert limiter.standing("a", AppliedLimits(tokens_per_minute=10), at(1)).tokens == (5, 61.0)


def test_what_is_left_is_told_with_the_time_until_all_of_it_is_back(limiter):
    limits = AppliedLimits(requests_per_minute=10, tokens_per_minute=100, tokens_per_day=1000)
    assert limiter.standing("a", UNLIMITED, at(0)).requests is None
    begun(limiter.begin("a", limits, 30, at(0)))
    limiter.end(begun(limiter.begin("a", limits, 30, at(5))), 20, at(10))
    standing = limiter.standing("a", limits, at(10))
    assert standing.requests == (8, 56.0)
    assert standing.tokens == (50, 61.0)
    assert standing.tokens_today == (950, 86_390.0)


def test_keys_that_used_nothing_of_late_are_forgotten(limiter):
    for number in range(100):
        limiter.end(begun(limiter.begin(f"key {number}", UNLIMITED, 1, at(0))), 1, at(1))
    running = begun(limiter.begin("running", UNLIMITED, 1, at(2)))
    limiter.forget_idle(at(30))
    assert len(limiter) == 101
    limiter.forget_idle(at(86_400))
    assert len(limiter) == 1
    limiter.end(running, 1, at(86_400))


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("begin"), st.integers(1, 400), st.integers(0, 400)),
        st.tuples(st.just("end"), st.integers(0, 9), st.just(0)),
        st.tuples(st.just("wait"), st.integers(1, 25), st.just(0)),
    ),
    max_size=120,
)


@settings(max_examples=200)
@given(STEPS, st.integers(1, 1000), st.integers(1, 5), st.integers(1, 20), st.integers(1, 3000))
def test_whatever_comes_no_limit_is_overrun_by_more_than_one_request(
    steps, tokens, concurrent, requests, day
):
    """Requests use at most what they reserved. The tokens that ended in any minute, and on the day, exceed the limit by less than one request
    may need; requests never do."""
    limits = AppliedLimits(concurrent, requests, tokens, day)
    limiter, now = KeyLimiter(), 0.0
    running: list[tuple[Reservation, int]] = []
    begins: list[float] = []
    ended: list[tuple[float, int]] = []
    largest = 0
    for what, first, second in steps:
        if what == "wait":
            now += first
        elif what == "begin":
            outcome = limiter.begin("a", limits, first, at(now))
            if isinstance(outcome, LimitExceeded):
                assert outcome.retry_after is None or outcome.retry_after > 0
                continue
            running.append((outcome, min(first, second)))
            begins.append(now)
            largest = max(largest, first)
        elif running:
            reservation, used = running.pop(first % len(running))
            limiter.end(reservation, used, at(now))
            ended.append((now, used))
        assert len(running) == limiter.running("a") <= concurrent
        assert sum(begin > now - 60 for begin in begins) <= requests
        assert sum(used for end, used in ended if end > now - 60) <= tokens + largest - 1
        assert sum(used for _, used in ended) <= day + largest - 1


@given(STEPS, st.integers(1, 1000), st.integers(1, 20))
def test_who_waits_as_long_as_was_said_may_come(steps, tokens, requests):
    """While nothing else runs, and nobody else of the key asks."""
    limits = AppliedLimits(requests_per_minute=requests, tokens_per_minute=tokens)
    limiter, now = KeyLimiter(), 0.0
    for what, first, second in steps:
        if what == "wait":
            now += first
        elif what == "begin":
            outcome = limiter.begin("a", limits, first, at(now))
            for _ in range(2):  # one limit after the other
                if isinstance(outcome, LimitExceeded):
                    assert outcome.retry_after is not None
                    now += outcome.retry_after
                    outcome = limiter.begin("a", limits, first, at(now))
            limiter.end(begun(outcome), min(first, second), at(now))
