"""Counts and limits every request: the one place that all of them pass, whichever dialect they came by.

Implements `scheduling.request_meter`. Owns the clock around the pure `KeyLimiter`, and the sentences of its refusals.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from duologue import caller
from duologue.errors import Busy, ModelNotFound, Problem
from duologue.gateway.scheduling.lowest_place import BATCH, in_lowest_place
from duologue.gateway.scheduling.request_meter import SharedRequest, shared_request
from duologue.gateway.usage.key_limiter import (
    KeyLimiter,
    LimitExceeded,
    LimitStanding,
    LimitTime,
    Reservation,
)
from duologue.gateway.usage.limit_lookup import LimitLookup
from duologue.gateway.usage.usage_counter import UsageCounter
from duologue.values.usage.key_limits import AppliedLimits
from duologue.values.usage.usage_counts import UsageCounts, UsageRow, UsageSlot, day_of

if TYPE_CHECKING:
    from duologue.gateway.usage.shared.shared_limits import SharedLimits

CONCURRENT = "concurrency_limit_exceeded"
RATE = "rate_limit_exceeded"
QUOTA = "insufficient_quota"
SOUND_KINDS = ("speech", "transcription", "clip")
"""Work of the voice worker, whose models every key may use."""
LIMIT_CODES = (CONCURRENT, RATE, QUOTA)
"""The codes of requests that a key's limits do not allow now."""


class UsageMeter:
    """`clock` gives seconds that never go back, `unix` seconds since 1970."""

    def __init__(
        self,
        lookup: LimitLookup,
        counter: UsageCounter | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        unix: Callable[[], float] = time.time,
    ) -> None:
        self.lookup = lookup
        self.limiter = KeyLimiter()
        self.shared: SharedLimits | None = None
        """The other gateways of the database, where there may be any."""
        self._unwritten: Counter[str] = Counter()
        self.counter = UsageCounter() if counter is None else counter
        self._clock, self._unix = clock, unix

    def now(self) -> LimitTime:
        return LimitTime(self._clock(), self._unix())

    async def ready(self, user: str, tokens: int = 0) -> None:
        """As `RequestMeter.ready`."""
        together = shared_request()
        if self.shared is not None and not (together is not None and together.is_counted):
            await self.shared.prepare(caller.share(user), tokens)

    @contextmanager
    def request(
        self, kind: str, model: str, *, user: str, tokens: int = 0, part: bool = False
    ) -> Iterator[CountedRequest]:
        """As `RequestMeter.request`."""
        share, together = caller.share(user), shared_request()
        is_joining = together is not None and together.is_counted
        if part:
            reservation = None
        elif is_joining:
            reservation = self.limiter.join(share, tokens, self.now())
        else:
            reservation = self._begin(share, kind, model, tokens)
        if together is not None and not part:
            together.is_counted = True
            together.running += 1
        request = CountedRequest(
            self,
            share,
            BATCH if in_lowest_place() else kind,
            model,
            reservation,
            together,
            is_counted=not is_joining,
        )
        try:
            yield request
        except Problem:
            request.failed()
            raise
        finally:
            request.close()

    def _begin(self, share: str, kind: str, model: str, tokens: int) -> Reservation:
        limits = self.lookup.limits(share)
        if limits.models and kind not in SOUND_KINDS and not self.lookup.may_use(share, model):
            raise ModelNotFound(
                f"Your key may not use the model {model[:200]!r}. GET /v1/models lists those it may use.",
                param="model",
            )
        part = None if self.shared is None else self.shared.part(share)
        outcome = self.limiter.begin(share, limits, tokens, self.now(), part)
        if isinstance(outcome, LimitExceeded):
            raise refusal(outcome, limits, tokens)
        return outcome

    def count(self, share: str, kind: str, model: str, counts: UsageCounts) -> None:
        """Add what a share used."""
        user, name, prefix = self.lookup.owner(share)
        slot = UsageSlot(day_of(self._unix()), share, user, name, prefix, model, kind)
        self.counter.add(slot, counts)
        if self.shared is not None and counts.limited_tokens:
            self._unwritten[share] += counts.limited_tokens

    def unwritten(self, share: str) -> int:
        """The tokens of a share that are not in the rows of the usage yet."""
        return self._unwritten[share]

    def written(self, rows: Iterable[UsageRow]) -> None:
        """These counts are in the rows of the usage now."""
        for row in rows:
            self._unwritten[row.slot.key] -= row.counts.limited_tokens
        self._unwritten += Counter()  # drops what is zero or less

    def ended(self, reservation: Reservation, tokens: int) -> None:
        """A request has ended and used so many tokens."""
        self.limiter.end(reservation, tokens, self.now())
        if self.shared is not None:
            self.shared.ended(reservation.key)

    def running(self, share: str) -> int:
        """How many requests of a share run, at any gateway."""
        elsewhere = 0 if self.shared is None else self.shared.running_elsewhere(share)
        return self.limiter.running(share) + elsewhere

    def standing(self, share: str) -> LimitStanding:
        """What a share has left of its limits."""
        limits = self.lookup.limits(share)
        if self.shared is not None and (standing := self.shared.standing(share, limits)) is not None:
            return standing
        return self.limiter.standing(share, limits, self.now())


class CountedRequest:
    """Implements `MeteredRequest`. Sound is counted as it comes, as a call takes hours; tokens at the end."""

    def __init__(
        self,
        meter: UsageMeter,
        share: str,
        kind: str,
        model: str,
        reservation: Reservation | None,
        together: SharedRequest | None,
        *,
        is_counted: bool,
    ) -> None:
        self._meter, self._reservation = meter, reservation
        self._together, self._is_counted = together, is_counted
        self._share, self._kind, self._model = share, kind, model
        self._written = 0
        self._failed = False
        self._counts = UsageCounts()
        self._heard = self._spoken = 0.0
        self._sound = UsageCounts()

    def wrote(self, tokens: int) -> None:
        self._written += tokens
        if self._reservation is not None:
            self._meter.limiter.needs(self._reservation, self._counts.limited_tokens + self._written)

    def counted(self, *, prompt: int = 0, cached: int = 0, completion: int = 0, instead_of: int = 0) -> None:
        self._counts = self._counts.plus(UsageCounts(prompt=prompt, cached=cached, completion=completion))
        self._written = max(0, self._written - instead_of)

    def heard(self, seconds: float) -> None:
        self._heard += seconds
        self._count_sound()

    def spoke(self, seconds: float) -> None:
        self._spoken += seconds
        self._count_sound()

    def _count_sound(self) -> None:
        """Count the whole milliseconds that were not counted yet: sound comes in pieces of a few, whose rests add up."""
        heard, spoken = (round(seconds * 1000, 3) for seconds in (self._heard, self._spoken))
        new = UsageCounts(
            heard_ms=int(heard) - self._sound.heard_ms, spoken_ms=int(spoken) - self._sound.spoken_ms
        )
        if new != UsageCounts():
            self._sound = self._sound.plus(new)
            self._meter.count(self._share, self._kind, self._model, new)

    def failed(self) -> None:
        self._failed = True

    def close(self) -> None:
        """The request has ended."""
        counts = self._counts.plus(UsageCounts(completion=self._written))
        if self._reservation is not None:
            if self._together is not None:
                _hand_over(self._together, self._reservation)
            self._meter.ended(self._reservation, counts.limited_tokens)
            counts = counts.plus(UsageCounts(requests=int(self._is_counted), errors=int(self._failed)))
        if counts != UsageCounts():
            self._meter.count(self._share, self._kind, self._model, counts)


def _hand_over(together: SharedRequest, ending: Reservation) -> None:
    """The last of several parts to end gives back the place that they have together."""
    together.running -= 1
    together.holds_place = together.holds_place or ending.has_place
    ending.has_place = together.holds_place and not together.running


def refusal(exceeded: LimitExceeded, limits: AppliedLimits, tokens: int) -> Busy:
    """The error for a request that may not begin now."""
    match exceeded.limit:
        case "concurrent":
            sentence = (
                f"Your key may have {_several(limits.concurrent, 'request')} running at a time. Wait until one has "
                "ended, or ask an admin for a higher limit."
            )
            return Busy(sentence, code=CONCURRENT)
        case "requests_per_minute":
            sentence = f"Your key may make {_several(limits.requests_per_minute, 'request')} a minute. "
            return Busy(sentence + _again(exceeded), code=RATE, retry_after=exceeded.retry_after)
        case "tokens_per_minute":
            sentence = (
                f"Your key may use {limits.tokens_per_minute:,} tokens a minute; {exceeded.left:,} are left, and this request "
                f"may need {tokens:,}. "
            )
            again = _again(exceeded) + " A lower max_tokens needs less."
            return Busy(sentence + again, code=RATE, retry_after=exceeded.retry_after)
        case "tokens_per_day":
            sentence = (
                f"Your key may use {limits.tokens_per_day:,} tokens a day; {exceeded.left:,} are left, and this request may "
                f"need {tokens:,}. The next day begins at midnight (UTC). Ask an admin for a higher limit."
            )
            return Busy(sentence, code=QUOTA, retry_after=exceeded.retry_after)


def _several(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _again(exceeded: LimitExceeded) -> str:
    if exceeded.retry_after is None:
        return "Try again when another request has ended."
    seconds = max(1, math.ceil(exceeded.retry_after))
    return f"Try again in {_several(seconds, 'second')}."
