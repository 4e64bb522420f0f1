"""The settings of connections: how much of a request is read, and how long anyone may take with it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from duologue.config.section import Section

Positive = Annotated[int, Field(ge=1)]
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class ConnectionSettings(Section):
    request_line_kb: Positive = Field(default=16, description="Longest address in a request, in kilobytes.")
    header_kb: Positive = Field(
        default=64, description="Most bytes of all headers of a request, in kilobytes."
    )
    headers: Positive = Field(default=100, description="Most headers of a request.")
    first_byte_s: Seconds = Field(
        default=30, description="Seconds until a new connection that sends nothing is closed."
    )
    header_s: Seconds = Field(
        default=20, description="Seconds the headers of a request may take from their first byte."
    )
    handshake_s: Seconds = Field(default=10, description="Seconds a TLS handshake may take.")
    keep_alive_s: Positive = Field(
        default=30, description="Seconds until a connection that is idle between requests is closed."
    )
    body_s: Seconds = Field(default=7200, description="Seconds the body of a request may take in all.")
    body_rate_kb: Annotated[float, Field(ge=0, allow_inf_nan=False)] = Field(
        default=1,
        description="Slowest rate at which a body or socket message may arrive, in kilobytes a second.",
    )
    body_window_s: Seconds = Field(
        default=60, description="Seconds over which this rate is measured: an upload may pause this long."
    )
    unread_s: Seconds = Field(
        default=60, description="Seconds until a client that takes nothing of its answer is disconnected."
    )
    per_address: Positive = Field(
        default=256,
        description="Open connections of one address (IPv6: of one /64); this machine and `proxies` are not counted.",
    )
    total: Positive | None = Field(
        default=None,
        description="Open connections in all; empty: as many as the limit on open files allows, up to 8,192.",
    )
