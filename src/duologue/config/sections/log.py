"""The settings of the log."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from duologue.config.section import Section


class Log(Section):
    level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="The lowest level to log."
    )
    format: Literal["text", "json"] = Field(
        default="text", description="Readable lines (`text`), or one JSON object per line (`json`)."
    )
