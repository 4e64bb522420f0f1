"""Login attempts: a burst, then one at a time, for each address by itself."""

import pytest

from duologue.gateway.auth.rate_limit import LoginRateLimit, TokenBucket


def test_a_bucket_gives_its_burst_then_one_at_a_time():
    bucket = TokenBucket(burst=2, seconds=6, now=0)
    assert [bucket.take(0), bucket.take(0)] == [0, 0]
    assert bucket.take(0) == 6
    assert bucket.take(3) == pytest.approx(3)
    assert bucket.take(6) == 0
    assert bucket.take(6) > 0


def test_a_quiet_bucket_never_holds_more_than_its_burst():
    bucket = TokenBucket(burst=1, seconds=1, now=0)
    assert bucket.take(1000) == 0
    assert bucket.take(1000) > 0


def test_one_address_does_not_slow_another():
    limit = LoginRateLimit(burst=1, seconds=10)
    assert limit.take("a", 0) == 0
    assert limit.take("a", 0) > 0
    assert limit.take("b", 0) == 0


def test_the_least_recently_active_address_is_dropped():
    limit = LoginRateLimit(burst=1, seconds=10, limit=2)
    for address in "abc":
        limit.take(address, 0)
    assert limit.take("b", 0) > 0
    assert limit.take("c", 0) > 0
    assert limit.take("a", 0) == 0
