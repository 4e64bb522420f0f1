"""The settings of the audit log: how long it is kept, and how much of it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from duologue.config.section import Section


class AuditSettings(Section):
    keep_days: Annotated[float, Field(gt=0, allow_inf_nan=False)] = Field(
        default=365, description="Days until a row of the audit log is deleted."
    )
    rows: Annotated[int, Field(ge=1000)] = Field(
        default=200_000, description="Most rows of the audit log; beyond them the oldest are deleted."
    )
