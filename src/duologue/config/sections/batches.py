"""The settings of files that clients of the API store, and of batches: how much each user may have, and how much runs at a time."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from duologue.config.section import Section

Count = Annotated[int, Field(ge=1)]
Gigabytes = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class FileSettings(Section):
    user_gb: Gigabytes = Field(
        default=10,
        description="Largest total of a user's files in `/v1/files`, results of batches included, in gigabytes.",
    )
    per_user: Count = Field(default=10_000, description="Files that one user may store with `/v1/files`.")
    batch_days: Annotated[float, Field(gt=0, allow_inf_nan=False)] = Field(
        default=30,
        description="Days until the input and the results of a batch are deleted; other files are kept.",
    )


class BatchSettings(Section):
    requests: Count = Field(
        default=16, description="Requests of all batches that run or wait for a slot at the same time."
    )
    lines: Count = Field(default=50_000, description="Requests in one batch.")
    line_mb: Annotated[int, Field(ge=1, le=64)] = Field(
        default=8, description="Largest request in a batch, in megabytes."
    )
    per_user: Count = Field(default=100, description="Unfinished batches that one user may have.")
