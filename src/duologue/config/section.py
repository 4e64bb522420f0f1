"""The base class of every section of the settings."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """Immutable; rejects unknown names; keeps rejected values out of error messages, since they may be keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)
