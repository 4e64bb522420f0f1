"""The settings of recordings: whether people may make them, and how much is kept for how long."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from duologue.config.section import Section

Gigabytes = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class RecordingSettings(Section):
    enabled: bool = Field(
        default=True,
        description="Whether people may record their own calls and spoken chats; nothing is recorded unless they ask for it.",
    )
    keep_days: Annotated[float, Field(gt=0, allow_inf_nan=False)] = Field(
        default=30, description="Days until a recording is deleted."
    )
    user_gb: Gigabytes = Field(
        default=2,
        description="Largest total of a user's recordings, in gigabytes; at the limit a recording ends.",
    )
    total_gb: Gigabytes = Field(
        default=20, description="Largest total of everybody's recordings, in gigabytes."
    )
