"""Four numbers, one for each limit: how much of it a key uses, for example, or a gateway holds."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from duologue.values.usage.key_limits import AppliedLimits


class LimitAmounts(Struct, frozen=True, array_like=True):
    """Requests at a time, requests of a minute, tokens of a minute, tokens of a day."""

    concurrent: int = 0
    requests: int = 0
    tokens: int = 0
    tokens_today: int = 0

    def plus(self, other: LimitAmounts) -> LimitAmounts:
        return self.combined(other, lambda one, two: one + two)

    def combined(self, other: LimitAmounts, how: Callable[[int, int], int]) -> LimitAmounts:
        """Each number with that of the other amounts."""
        return LimitAmounts(
            how(self.concurrent, other.concurrent),
            how(self.requests, other.requests),
            how(self.tokens, other.tokens),
            how(self.tokens_today, other.tokens_today),
        )

    @property
    def is_empty(self) -> bool:
        return self == NOTHING


NOTHING = LimitAmounts()


def amounts_of(limits: AppliedLimits) -> LimitAmounts:
    """The limits themselves; 0 where there is none."""
    return LimitAmounts(
        limits.concurrent, limits.requests_per_minute, limits.tokens_per_minute, limits.tokens_per_day
    )
