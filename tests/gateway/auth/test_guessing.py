"""What a wrong key is answered: that it is wrong, and beyond the rate when to try again."""

import logging

import pytest

from duologue.errors import Busy, Unauthorized
from duologue.gateway.auth.guessing import GuessGuard
from duologue.gateway.auth.rate_limit import GUESSES, SECONDS_PER_GUESS

pytestmark = pytest.mark.anyio


async def test_wrong_keys_are_told_so_and_then_when_to_try_again(caplog):
    guard = GuessGuard(clock=lambda: 0.0, pause=0)
    for number in range(GUESSES):
        assert isinstance(await guard.refusal("192.0.2.1", f"{number}", param="key"), Unauthorized)
    assert not caplog.records
    for number in range(20):
        refusal = await guard.refusal("192.0.2.1", f"more {number}")
        assert isinstance(refusal, Busy)
        assert (refusal.code, refusal.retry_after) == ("rate_limited", SECONDS_PER_GUESS)
    assert [record.levelno for record in caplog.records] == [logging.WARNING]  # once, not for each
    assert "192.0.2.1" in caplog.text
    assert "more" not in caplog.text


async def test_guesses_at_two_gateways_have_one_rate():
    guards = [GuessGuard(clock=lambda: 0.0, pause=0) for _ in range(2)]
    guards[0].tell, guards[1].tell = guards[1].heard, guards[0].heard
    refusals = [await guards[number % 2].refusal("192.0.2.1", f"{number}") for number in range(GUESSES + 4)]
    assert [isinstance(refusal, Busy) for refusal in refusals] == [False] * GUESSES + [True] * 4
