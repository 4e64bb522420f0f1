"""The settings of models that come and go while the server runs: who may have one loaded by a request, and how one is drained."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field

from duologue.config.field_types import Positive, Seconds
from duologue.config.section import Section

OFF, ADMINS, EVERYONE = "off", "admins", "everyone"


def _names(value: object) -> object:
    """One word may stand without a list, and YAML reads `off` as false."""
    if value is False:
        return (OFF,)
    return (value,) if isinstance(value, str) else value


class LoadingSettings(Section):
    by_request: Annotated[tuple[str, ...], BeforeValidator(_names)] = Field(
        default=(ADMINS,),
        description="Whose requests may load an installed model by naming it: `off`, `admins`, `everyone`, or names of users.",
    )
    waiting: Positive = Field(
        default=64, description="Requests that may wait for such loads at the same time; more are refused."
    )
    room_s: Seconds = Field(
        default=60,
        description="Seconds such a load waits for memory, until models that requests had loaded are idle.",
    )
    drain_s: Seconds = Field(
        default=30, description="Seconds that running replies have to finish when their model is unloaded."
    )
    idle_unload_s: Annotated[float, Field(ge=0, allow_inf_nan=False)] = Field(
        default=0,
        description="Seconds without a request after which a model is unloaded until the next one; 0: it stays loaded.",
    )
    answer_s: Seconds = Field(
        default=20,
        description="Seconds that an answer without a stream, as about tokens, waits for a model that is loading before it says so.",
    )
