"""A gateway among those of its database."""

from __future__ import annotations

from msgspec import Struct


class GatewayEntry(Struct, frozen=True):
    """A gateway as its row says. `instance` is its data folder, which outlives the process. Times are milliseconds of the database's
    clock; `living` is whether its lease had not ended when the row was read."""

    id: str
    instance: str
    address: str
    version: str
    protocol: int
    started: int
    lease_until: int
    living: bool = True
