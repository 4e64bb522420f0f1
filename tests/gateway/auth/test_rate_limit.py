"""Wrong keys: a burst, then one at a time, for each address and each beginning of a key by itself."""

import pytest

from duologue.gateway.auth.rate_limit import (
    GUESSES,
    PREFIX_GUESSES,
    SECONDS_PER_GUESS,
    GuessLimit,
    GuessTable,
    TokenBucket,
)


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


def test_one_source_does_not_slow_another():
    table = GuessTable(burst=1, seconds=10)
    assert table.guessed(b"a", b"1", 0) == 0
    assert table.guessed(b"a", b"2", 0) > 0
    assert table.guessed(b"b", b"3", 0) == 0


def test_the_least_recently_active_source_is_dropped():
    table = GuessTable(burst=1, seconds=10, limit=2)
    for source in (b"a", b"b", b"c"):
        table.guessed(source, b"1", 0)
    assert table.guessed(b"b", b"2", 0) > 0
    assert table.guessed(b"c", b"2", 0) > 0
    assert table.guessed(b"a", b"2", 0) == 0


def test_the_same_wrong_key_again_is_no_further_guess():
    limit = GuessLimit()
    assert [limit.wrong("192.0.2.1", "old-key", 0) for _ in range(1000)] == [0] * 1000
    assert limit.wrong("192.0.2.1", "another", 0) == 0


def test_an_address_guesses_a_few_keys_and_then_one_now_and_then():
    limit = GuessLimit()
    waits = [limit.wrong("192.0.2.1", f"{number}-guess", 0) for number in range(GUESSES + 1)]
    assert waits == [0] * GUESSES + [SECONDS_PER_GUESS]
    assert limit.wrong("192.0.2.1", "later", SECONDS_PER_GUESS) == 0
    assert limit.wrong("192.0.2.2", "elsewhere", 0) == 0


def test_one_key_guessed_from_many_addresses_is_slowed_too():
    limit = GuessLimit()
    waits = [limit.wrong(f"192.0.2.{number}", f"duo_abcdef{number}", 0) for number in range(40)]
    assert waits[:PREFIX_GUESSES] == [0] * PREFIX_GUESSES
    assert all(wait > 0 for wait in waits[PREFIX_GUESSES:])
    assert limit.wrong("192.0.3.1", "duo_uvwxyz1", 0) == 0


def test_an_address_that_is_refused_uses_nothing_up_for_the_others():
    limit = GuessLimit()
    for number in range(1000):
        limit.wrong("192.0.2.1", f"duo_abcdef{number}", 0)
    assert limit.wrong("192.0.2.2", "duo_abcdefx", 0) == 0
