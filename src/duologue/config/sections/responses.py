"""The settings of stored responses and conversations of OpenAI's API."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from duologue.config.section import Section


class ResponseSettings(Section):
    keep_days: Annotated[float, Field(gt=0, allow_inf_nan=False)] = Field(
        default=30,
        description="Days until unused stored responses and `/v1/conversations` are deleted.",
    )
    user_mb: Annotated[int, Field(ge=1)] = Field(
        default=256,
        description="Largest total of a user's stored responses, and of their `/v1/conversations`, in megabytes; the oldest "
        "responses are deleted.",
    )
    background: Annotated[int, Field(ge=1, le=1000)] = Field(
        default=8, description="Background responses that one user may have running."
    )
    hosted_tools: Literal["refuse", "ignore"] = Field(
        default="ignore",
        description="What to do with tools that run at OpenAI, such as web_search: leave them out and name them in `ignored`, or "
        "refuse the request. Agents such as Codex always offer one.",
    )

    @property
    def keep_ms(self) -> int:
        return round(self.keep_days * 24 * 3_600_000)
