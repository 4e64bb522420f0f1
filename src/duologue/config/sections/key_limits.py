"""The settings of limits that every key has for which an admin set none of its own."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from duologue.config.section import Section
from duologue.values.usage.key_limits import (
    LARGEST,
    LARGEST_WEIGHT,
    LEAST_WEIGHT,
    LONGEST_MODEL,
    MOST_MODELS,
    AppliedLimits,
)

Limit = Annotated[int, Field(ge=0, le=LARGEST)]


def _model_name(name: str) -> str:
    if not name.strip() or len(name) > LONGEST_MODEL:
        raise ValueError(f"must be the name of a model, 1 to {LONGEST_MODEL} characters")
    return name


ModelName = Annotated[str, AfterValidator(_model_name)]
ModelNames = Annotated[tuple[ModelName, ...], Field(max_length=MOST_MODELS)]
Weight = Annotated[float, Field(ge=LEAST_WEIGHT, le=LARGEST_WEIGHT, allow_inf_nan=False)]


class KeyLimitSettings(Section):
    concurrent: Limit = Field(
        default=0, description="Requests that a key may have at a time; 0: as many as it likes."
    )
    requests_per_minute: Limit = Field(
        default=0, description="Requests that a key may make in a minute; 0: no limit."
    )
    tokens_per_minute: Limit = Field(
        default=0,
        description="Tokens that a key may use in a minute, of replies and of prompts without what was cached; 0: no limit.",
    )
    tokens_per_day: Limit = Field(
        default=0, description="Tokens that a key may use in a day (UTC), counted likewise; 0: no limit."
    )
    models: ModelNames = Field(
        default=(), description="Models that a key may use, by name or with `*`; empty: all."
    )
    weight: Weight = Field(
        default=1.0, description="The share of the queue that a key gets while others wait too."
    )

    def applied(self) -> AppliedLimits:
        """The limits of a user's key for which nothing was set."""
        return AppliedLimits(**{name: getattr(self, name) for name in type(self).model_fields})


class UsageSettings(Section):
    keep_days: Annotated[int, Field(ge=0, le=36_500)] = Field(
        default=400, description="Days that the usage of keys is kept; 0: for ever."
    )
