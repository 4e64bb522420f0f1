"""The settings of how the server and its workers come and go: what a stop waits for, when an engine hangs, when workers are added."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from duologue.config.field_types import Positive, Seconds
from duologue.config.section import Section

Grace = Annotated[float, Field(ge=0, le=86400, allow_inf_nan=False)]


class LifecycleSettings(Section):
    drain_s: Grace = Field(
        default=25,
        description="Seconds that running work has to finish when the server stops or a worker is replaced; 0: it ends at once.",
    )
    engine_stall_s: Seconds = Field(
        default=300,
        description="Seconds an engine may make no progress on its replies before they end and its worker is replaced.",
    )
    scale_wait_s: Seconds = Field(
        default=15,
        description="Expected wait in the queue, in seconds, from which on a model gets another worker (`models.<name>.workers`).",
    )
    scale_idle_s: Seconds = Field(
        default=300, description="Seconds a worker must not have been needed before it is removed again."
    )


class ModelWorkers(Section):
    min: Positive = Field(default=1, description="Workers of the model that are always there.")
    max: Positive = Field(default=1, description="Workers it gets at most, while requests wait for it.")

    @model_validator(mode="after")
    def _in_order(self) -> ModelWorkers:
        if self.max < self.min:
            raise ValueError("max must be at least min")
        return self
