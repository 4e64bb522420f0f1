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
        description="Seconds that a joined worker may be out of reach before its replies end and its place is given up.",
    )
    workers: Annotated[int, Field(ge=1, le=10_000)] = Field(
        default=64, description="Workers on other machines that may have joined at a time."
    )
    address: HttpUrl = Field(
        default="",
        description="The address at which workers reach this server, where it is not the one they were given.",
    )


class RaySettings(Section):
    address: str = Field(
        default="",
        description="The Ray cluster that places workers, such as 10.0.0.5:6379; empty: a local one, which the server starts.",
    )
    token_file: UserPath | None = Field(
        default=None, description="A file that contains the token of that cluster; empty: Ray's own search."
    )
    lost_s: Seconds = Field(
        default=5,
        description="Seconds without a sign of life after which a node of a local cluster counts as lost.",
    )
    card_gb: Annotated[float, Field(ge=0, allow_inf_nan=False)] = Field(
        default=0,
        description="Gigabytes of each graphics card of the cluster, by which models share cards or take several; 0: a whole card for each.",
    )
