"""The settings of the daily backups."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from duologue.config.section import Section


class BackupSettings(Section):
    keep: int = Field(
        default=7,
        ge=0,
        le=1000,
        description="Daily backups of the SQLite database that are kept; 0: none are made. PostgreSQL has none: use "
        "`duologue backup` or its own tools.",
    )
    hours: Annotated[float, Field(ge=1, le=8760)] = Field(
        default=24, description="Hours between two backups."
    )
