"""The settings of stored responses and conversations of OpenAI's API."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from duologue.config.section import Section


class ResponseSettings(Section):
    keep_days: Annotated[float, Field(gt=0, allow_inf_nan=False)] = Field(
        default=30,
        description="Days until a response that nothing continued, or a conversation of the API that was not used, is deleted.",
    )
    user_mb: Annotated[int, Field(ge=1)] = Field(
        default=256,
        description="Largest total of a user's stored responses, and of their conversations of the API, in megabytes; the oldest "
        "responses are deleted.",
    )
    background: Annotated[int, Field(ge=1, le=1000)] = Field(
        default=8, description="Responses of one user that may run in the background at a time."
    )
    hosted_tools: Literal["refuse", "ignore"] = Field(
        default="ignore",
        description="A tool in a request that runs at OpenAI, such as web_search: the request goes on without it and names it in "
        "`ignored`, or (`refuse`) is refused. Agents such as Codex always offer one.",
    )

    @property
    def keep_ms(self) -> int:
        return round(self.keep_days * 24 * 3_600_000)
