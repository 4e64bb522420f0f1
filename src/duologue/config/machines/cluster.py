"""The settings of several gateways over one PostgreSQL."""

from __future__ import annotations

from pydantic import Field

from duologue.config.field_types import HttpUrl, Seconds
from duologue.config.section import Section


class ClusterSettings(Section):
    address: HttpUrl = Field(
        default="",
        description="The address at which the other gateways of the same database reach this one, with its base_path; empty: they cannot.",
    )
    lease_s: Seconds = Field(
        default=6,
        description="Seconds without a sign of life after which another gateway ends the replies of this one.",
    )
