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
from duologue.values.usage.limit_amounts import LimitAmounts, amounts_of
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


class KeyPart(NamedTuple):
    """What this gateway may use of a key's limits where several have them together. `unwritten`: tokens of today that are not in the rows of the usage,
    which are taken out of the day's limit already; `next_at`: seconds after which something comes back elsewhere, 0 for unknown; `is_day_over`: the day's
    tokens are used, not only reserved elsewhere."""

    allowed: LimitAmounts
    unwritten: int = 0
    next_at: float = 0.0
    is_day_over: bool = False


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
        self, key: str, limits: AppliedLimits, tokens: int, now: LimitTime, part: KeyPart | None = None
    ) -> Reservation | LimitExceeded:
        """Begin a request of a key, if its limits allow it. `tokens`: how many it may need; 0 for work that is not counted in tokens; `part`: what this
        gateway may use of the limits, None for all."""
        use = self._use(key, now)
        exceeded = _exceeded(use, limits, tokens, now, part)
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

    def exceeded(
        self, key: str, limits: AppliedLimits, tokens: int, now: LimitTime, part: KeyPart
    ) -> LimitExceeded | None:
        """Why such a request may not begin; nothing changes."""
        return _exceeded(self._use(key, now), limits, tokens, now, part)

    def amounts(self, key: str, now: LimitTime, unwritten: int) -> LimitAmounts:
        """What a key uses of its limits here; of the day only what is not in the rows of the usage."""
        use = self._use(key, now)
        return LimitAmounts(
            use.running, use.requests.total, use.tokens.total + use.reserved, use.reserved + unwritten
        )

    def resets(self, key: str, now: LimitTime) -> tuple[float, float]:
        """The seconds until nothing of a key's requests, and of its tokens, counts any more in the minute."""
        use = self._use(key, now)
        return (
            use.requests.seconds_until_less(use.requests.total, now.seconds),
            use.tokens.seconds_until_less(use.tokens.total, now.seconds),
        )

    def keys(self) -> list[str]:
        """The keys that something is known of."""
        return list(self._uses)

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


def _exceeded(
    use: _KeyUse, limits: AppliedLimits, tokens: int, now: LimitTime, part: KeyPart | None = None
) -> LimitExceeded | None:
    """The first limit that a request would exceed: the one that lasts longest comes first."""
    if part is None:
        allowed, today = amounts_of(limits), use.tokens_today
    else:
        allowed, today = part.allowed, part.unwritten
    if tokens and limits.tokens_per_day and not _fits(today, use, tokens, allowed.tokens_today):
        left = max(0, allowed.tokens_today - today - use.reserved)
        # What others have reserved may come back before the day is over.
        is_over = today >= allowed.tokens_today if part is None else part.is_day_over
        wait = now.rest_of_day if is_over else None
        return LimitExceeded("tokens_per_day", left, wait)
    if tokens and limits.tokens_per_minute and not _fits(use.tokens.total, use, tokens, allowed.tokens):
        left = allowed.tokens - use.tokens.total - use.reserved
        wait = use.tokens.seconds_until_less(min(tokens, limits.tokens_per_minute) - left, now.seconds)
        return LimitExceeded("tokens_per_minute", max(0, left), _sooner(wait, part) or None)
    if limits.requests_per_minute and use.requests.total >= allowed.requests:
        excess = use.requests.total - allowed.requests + 1
        wait = use.requests.seconds_until_less(excess, now.seconds)
        return LimitExceeded("requests_per_minute", 0, _sooner(wait, part))
    if limits.concurrent and use.running >= allowed.concurrent:
        return LimitExceeded("concurrent")
    return None


def _sooner(wait: float, part: KeyPart | None) -> float:
    """The seconds until something of a minute comes back, here or elsewhere."""
    if part is None or not part.next_at:
        return wait
    return min(wait, part.next_at) if wait else part.next_at


def _fits(used: int, use: _KeyUse, tokens: int, limit: int) -> bool:
    """Whether so many tokens may be reserved: they fit into what is left, or nothing else is reserved and something is left."""
    return used + use.reserved + tokens <= limit or (not use.reserving and used < limit)


def _left(limit: int, window: MinuteWindow, reserved: int, now: LimitTime) -> tuple[int, float] | None:
    if not limit:
        return None
    until = window.seconds_until_less(window.total, now.seconds)
    return max(0, limit - window.total - reserved), math.ceil(until * 1000) / 1000
