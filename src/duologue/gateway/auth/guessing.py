"""What a wrong key is answered, at every endpoint: `auth.middleware` and `auth.sessions` ask here.

Owns the shell around `rate_limit`: the clock, the log line, and the pause before a refusal, which slows a guesser that does
not read `Retry-After`.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

import anyio

from duologue.errors import Busy, Problem, Unauthorized
from duologue.gateway.auth.rate_limit import Guess, GuessLimit, TokenBucket, guess_of
from duologue.gateway.middleware.address_group import address_group

PAUSE = 1.0
"""Seconds before a refusal beyond the rate."""
MOST_PAUSED = 256
"""Refusals that wait at a time; further ones are sent at once."""
TOLD, TOLD_S = 200, 0.02
"""Limits on how many wrong keys are reported to the other gateways: this many at once, then one in this many seconds. Only an attack from many addresses makes more."""
LOGGED_SECONDS = 60.0
"""At most one line is logged in so many seconds."""

log = logging.getLogger(__name__)


class GuessGuard:
    """Counts wrong keys and words the refusals. `pause`: seconds before one that is beyond the rate."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic, pause: float = PAUSE) -> None:
        self._limit = GuessLimit()
        self._clock = clock
        self._pause = pause
        self._paused = 0
        self._logged_at = float("-inf")
        self._telling = TokenBucket(TOLD, TOLD_S, clock())
        self.tell: Callable[[Guess], None] | None = None
        """Reports a wrong key to the other gateways, if any, so that their limits count it too."""

    def heard(self, guess: Guess) -> None:
        """A wrong key came to another gateway."""
        self._limit.guessed(guess, self._clock())

    async def refusal(self, address: str, key: str, *, param: str | None = None) -> Problem:
        """The problem for a wrong key from this address: Unauthorized, and Busy (`rate_limited`) beyond the rate."""
        guess, now = guess_of(address, key), self._clock()
        wait = self._limit.guessed(guess, now)
        if self.tell is not None and wait == 0 and self._telling.take(now) == 0:
            self.tell(guess)
        if wait == 0:
            return Unauthorized("The key is wrong.", param=param)
        if self._clock() - self._logged_at >= LOGGED_SECONDS:
            self._logged_at = self._clock()
            source = address_group(address) or "an unknown address"
            log.warning("too many wrong keys from %s: they are refused for a while", source)
        if self._paused < MOST_PAUSED:
            self._paused += 1
            try:
                await anyio.sleep(self._pause)
            finally:
                self._paused -= 1
        return Busy(
            f"Too many wrong keys; try again in {max(1, round(wait))} s. A right key is accepted at any time.",
            code="rate_limited",
            retry_after=wait,
        )
