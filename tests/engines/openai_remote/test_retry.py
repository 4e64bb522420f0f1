"""When a request is sent to an upstream again."""

import pytest

from duologue.engines.openai_remote.retry import FIRST, LONGEST, pause, retry_after


def test_each_pause_is_twice_the_one_before_give_or_take_a_half() -> None:
    assert [pause(attempt, 9, 0.0, None, 0.5) for attempt in range(4)] == [
        FIRST,
        FIRST * 2,
        FIRST * 4,
        FIRST * 8,
    ]
    assert pause(0, 9, 0.0, None, 0.0) == FIRST / 2
    assert pause(0, 9, 0.0, None, 1.0) == FIRST * 1.5


def test_the_server_knows_better_how_long() -> None:
    assert pause(0, 2, 0.0, 3.0, 0.9) == 3.0
    assert pause(0, 2, 0.0, 0.0, 0.9) == 0.0


def test_it_gives_up_after_so_many_tries_or_so_long() -> None:
    assert pause(2, 2, 0.0, None, 0.5) is None
    assert pause(0, 0, 0.0, None, 0.5) is None
    assert pause(0, 2, 0.0, LONGEST, 0.5) == LONGEST
    assert pause(1, 2, 1.0, LONGEST, 0.5) is None


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("7", 7.0),
        (" 0.5 ", 0.5),
        ("Thu, 01 Jan 1970 00:01:00 GMT", 50.0),
        ("Thu, 01 Jan 1970 00:00:01 GMT", 0.0),
        ("", None),
        ("soon", None),
        ("-3", None),
        ("nan", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(value: str, seconds: float | None) -> None:
    assert retry_after(value, 10.0) == seconds
