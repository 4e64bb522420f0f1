"""The settings of workers on other machines: those that join by hand, and those that Ray places."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from duologue.config.field_types import HttpUrl, Seconds, UserPath
from duologue.config.section import Section


class MachineSettings(Section):
    join: bool = Field(
        default=False,
        description="Let workers on other machines join, with a key of the role `worker`.",
    )
    lease_s: Seconds = Field(
        default=20,
        description="Seconds that a joined worker may be out of reach before its replies end and its name is released.",
    )
    workers: Annotated[int, Field(ge=1, le=10_000)] = Field(
        default=64,
        description="Maximum number of workers on other machines that are joined at the same time.",
    )
    address: HttpUrl = Field(
        default="",
        description="The address at which workers reach this server, if it differs from the one they were given.",
    )


class RaySettings(Section):
    address: str = Field(
        default="",
        description="The Ray cluster that places workers, such as 10.0.0.5:6379; empty: a local one, which the server starts.",
    )
    token_file: UserPath | None = Field(
        default=None,
        description="A file that contains the token of that cluster; empty: where Ray itself looks.",
    )
    lost_s: Seconds = Field(
        default=5,
        description="Seconds without a sign of life after which a node of a local cluster counts as lost.",
    )
    card_gb: Annotated[float, Field(ge=0, allow_inf_nan=False)] = Field(
        default=0,
        description="Memory of each graphics card of the cluster, in gigabytes, so that models can share cards or take several; 0: each gets a whole card.",
    )
