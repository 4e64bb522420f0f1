"""Decides whether a request may begin, by what its key has running and has used. Pure: the time is an argument.

A request reserves the tokens that it may need when it begins, and at its end what it really used is counted and the rest given back. So many
requests that begin together cannot all pass a check that none of them has been counted for yet. One request alone may begin as long as
anything is left, however much it may need: otherwise a client that asks for long replies would never get one. So the tokens that end in a
minute exceed the limit by less than what one request needs, and a day's tokens likewise.

`UsageMeter` asks for every request.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

from msgspec import Struct

from duologue.gateway.usage.minute_window import MinuteWindow
from duologue.values.usage.key_limits import AppliedLimits
from duologue.values.usage.usage_counts import DAY_S

Exceeded = Literal["concurrent", "requests_per_minute", "tokens_per_minute", "tokens_per_day"]


class LimitTime(NamedTuple):
    """A time: `seconds` of a clock that never goes back, and `unix`, seconds since 1970 (UTC), for the day."""

    seconds: float
    unix: float

    @property
    def day(self) -> int:
        """Days since 1970."""
        return int(self.unix // DAY_S)

    @property
    def rest_of_day(self) -> float:
        """Seconds until the next day begins."""
        return (self.day + 1) * DAY_S - self.unix


class LimitExceeded(Struct, frozen=True):
    """A request may not begin. `left`: tokens of the limit that nothing has used or reserved; `retry_after`: seconds after which another try
    is worth it, None where that depends on what runs."""

    limit: Exceeded
    left: int = 0
    retry_after: float | None = None


class Reservation:
    """A request that runs. `tokens` are reserved for it; `has_place`: it counts among those that run at a time."""

    def __init__(self, key: str, tokens: int, *, has_place: bool = True) -> None:
        self.key = key
        self.tokens = tokens
        self.has_place = has_place
        self.is_open = True


class LimitStanding(Struct, frozen=True):
    """How much of its limits a key has left, and the seconds until all of it is there again if it uses nothing; None where there is no
    limit."""

    requests: tuple[int, float] | None = None
    tokens: tuple[int, float] | None = None
    tokens_today: tuple[int, float] | None = None


class _KeyUse:
    """What one key has running and has used. `reserving`: how many running requests have tokens reserved."""

    def __init__(self) -> None:
        self.running = self.reserved = self.reserving = 0
        self.requests = MinuteWindow()
        self.tokens = MinuteWindow()
        self.day = 0
        self.tokens_today = 0

    def advance(self, now: LimitTime) -> None:
        self.requests.expire(now.seconds)
        self.tokens.expire(now.seconds)
        if now.day > self.day:  # a clock that is set back a little does not give the day's tokens again
            self.day, self.tokens_today = now.day, 0

    @property
    def is_idle(self) -> bool:
        return not (
            self.running or self.reserving or self.requests.total or self.tokens.total or self.tokens_today
        )


class KeyLimiter:
    """The running requests and the recent use of all keys."""

    def __init__(self) -> None:
        self._uses: dict[str, _KeyUse] = {}

    def begin(
        self, key: str, limits: AppliedLimits, tokens: int, now: LimitTime
    ) -> Reservation | LimitExceeded:
        """Begin a request of a key, if its limits allow it. `tokens`: how many it may need; 0 for work that is not counted in tokens."""
        use = self._use(key, now)
        exceeded = _exceeded(use, limits, tokens, now)
        if exceeded is not None:
            return exceeded
        use.running += 1
        use.requests.add(1, now.seconds)
        use.reserved += tokens
        use.reserving += tokens > 0
        return Reservation(key, tokens)

    def join(self, key: str, tokens: int, now: LimitTime) -> Reservation:
        """One more part of a request that has begun: it is not asked again, and only its tokens are reserved."""
        use = self._use(key, now)
        use.reserved += tokens
        use.reserving += tokens > 0
        return Reservation(key, tokens, has_place=False)

    def needs(self, reservation: Reservation, tokens: int) -> None:
        """A running request has used so many tokens already: where that is more than was reserved, it holds them from now on."""
        more = tokens - reservation.tokens
        if more > 0 and reservation.is_open:
            use = self._uses[reservation.key]
            use.reserving += not reservation.tokens
            use.reserved += more
            reservation.tokens = tokens

    def end(self, reservation: Reservation, tokens: int, now: LimitTime) -> None:
        """A request has ended and used so many tokens. Without effect if it ended before."""
        if not reservation.is_open:
            return
        reservation.is_open = False
        use = self._use(reservation.key, now)
        use.running -= reservation.has_place
        use.reserved -= reservation.tokens
        use.reserving -= reservation.tokens > 0
        if tokens:
            use.tokens.add(tokens, now.seconds)
            use.tokens_today += tokens

    def restore(self, key: str, tokens: int, now: LimitTime) -> None:
        """Tokens that the key used today, before this process began."""
        self._use(key, now).tokens_today += tokens

    def standing(self, key: str, limits: AppliedLimits, now: LimitTime) -> LimitStanding:
        """What the key has left."""
        use = self._uses.get(key) or _KeyUse()
        use.advance(now)
        return LimitStanding(
            _left(limits.requests_per_minute, use.requests, 0, now),
            _left(limits.tokens_per_minute, use.tokens, use.reserved, now),
            (max(0, limits.tokens_per_day - use.tokens_today - use.reserved), now.rest_of_day)
            if limits.tokens_per_day
            else None,
        )

    def running(self, key: str) -> int:
        """How many requests of a key run."""
        use = self._uses.get(key)
        return 0 if use is None else use.running

    def forget_idle(self, now: LimitTime) -> None:
        """Drop the keys that have nothing running and used nothing that still counts."""
        for key, use in list(self._uses.items()):
            use.advance(now)
            if use.is_idle:
                del self._uses[key]

    def __len__(self) -> int:
        return len(self._uses)

    def _use(self, key: str, now: LimitTime) -> _KeyUse:
        use = self._uses.get(key)
        if use is None:
            use = self._uses[key] = _KeyUse()
        use.advance(now)
        return use


def _exceeded(use: _KeyUse, limits: AppliedLimits, tokens: int, now: LimitTime) -> LimitExceeded | None:
    """The first limit that a request would exceed: the one that lasts longest comes first."""
    if tokens and limits.tokens_per_day and not _fits(use.tokens_today, use, tokens, limits.tokens_per_day):
        left = max(0, limits.tokens_per_day - use.tokens_today - use.reserved)
        # What others have reserved may come back before the day is over.
        wait = now.rest_of_day if use.tokens_today >= limits.tokens_per_day else None
        return LimitExceeded("tokens_per_day", left, wait)
    if (
        tokens
        and limits.tokens_per_minute
        and not _fits(use.tokens.total, use, tokens, limits.tokens_per_minute)
    ):
        left = limits.tokens_per_minute - use.tokens.total - use.reserved
        wait = use.tokens.seconds_until_less(min(tokens, limits.tokens_per_minute) - left, now.seconds)
        return LimitExceeded("tokens_per_minute", max(0, left), wait or None)
    if limits.requests_per_minute and use.requests.total >= limits.requests_per_minute:
        excess = use.requests.total - limits.requests_per_minute + 1
        return LimitExceeded("requests_per_minute", 0, use.requests.seconds_until_less(excess, now.seconds))
    if limits.concurrent and use.running >= limits.concurrent:
        return LimitExceeded("concurrent")
    return None


def _fits(used: int, use: _KeyUse, tokens: int, limit: int) -> bool:
    """Whether so many tokens may be reserved: they fit into what is left, or nothing else is reserved and something is left."""
    return used + use.reserved + tokens <= limit or (not use.reserving and used < limit)


def _left(limit: int, window: MinuteWindow, reserved: int, now: LimitTime) -> tuple[int, float] | None:
    if not limit:
        return None
    until = window.seconds_until_less(window.total, now.seconds)
    return max(0, limit - window.total - reserved), math.ceil(until * 1000) / 1000
