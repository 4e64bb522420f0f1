"""Limits of a key: those that an admin set for it, and those that apply once the defaults of the settings are filled in."""

from __future__ import annotations

from msgspec import Struct

LARGEST = 10**12
"""Of every number: it stays exact in JSON and in the database."""
MOST_MODELS = 100
LONGEST_MODEL = 200
LEAST_WEIGHT, LARGEST_WEIGHT = 0.01, 100.0


class KeyLimits(Struct, frozen=True, omit_defaults=True):
    """What an admin set for one key. None: as the settings say (`limits.key`), for an admin's key without a limit; 0 and (): no limit."""

    concurrent: int | None = None
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    tokens_per_day: int | None = None
    models: tuple[str, ...] | None = None
    weight: float | None = None

    def over(self, defaults: AppliedLimits) -> AppliedLimits:
        """These limits, with the defaults where nothing was set."""
        return AppliedLimits(
            *(
                default if own is None else own
                for own, default in (
                    (getattr(self, name), getattr(defaults, name)) for name in self.__struct_fields__
                )
            )
        )


class AppliedLimits(Struct, frozen=True):
    """What applies to a key: requests at a time, requests and tokens a minute, tokens a day (UTC), 0 for no limit; the models it may use, ()
    for all; its weight in the queue. Tokens are those of the prompt that did not come from the cache, and those of the reply."""

    concurrent: int = 0
    requests_per_minute: int = 0
    tokens_per_minute: int = 0
    tokens_per_day: int = 0
    models: tuple[str, ...] = ()
    weight: float = 1.0


UNLIMITED = AppliedLimits()
