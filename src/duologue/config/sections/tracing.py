"""The settings of traces."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from duologue.config.field_types import HttpUrl
from duologue.config.section import Section


class TracingSettings(Section):
    enabled: bool = Field(
        default=False, description="Send traces to an OpenTelemetry collector; needs the extra `tracing`."
    )
    endpoint: HttpUrl = Field(
        default="",
        description="The collector's address for OTLP over HTTP, such as http://127.0.0.1:4318; empty: that of OTEL_EXPORTER_OTLP_*.",
    )
    ratio: Annotated[float, Field(ge=0, le=1)] | None = Field(
        default=None,
        description="The share of requests that is traced, from 0 to 1; empty: as OTEL_TRACES_SAMPLER says, or all.",
    )
    service_name: str = Field(
        default="", description="The service's name in traces; empty: that of OTEL_SERVICE_NAME, or duologue."
    )
    trust_clients: bool = Field(
        default=False,
        description="Continue the traces of clients that send `traceparent`, and trace where they say so.",
    )
