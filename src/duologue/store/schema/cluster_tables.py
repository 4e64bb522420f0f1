"""The table of the gateways that share this database."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Integer, Table, Text

from duologue.store.schema.metadata import metadata

# Times are milliseconds of the database's own clock: the clocks of several machines differ.
gateways = Table(
    "gateways",
    metadata,
    Column("id", Text, primary_key=True),
    Column("instance", Text, nullable=False),
    Column("address", Text, nullable=False),
    Column("version", Text, nullable=False),
    Column("protocol", Integer, nullable=False),
    Column("started", BigInteger, nullable=False),
    Column("lease_until", BigInteger, nullable=False, index=True),
)
