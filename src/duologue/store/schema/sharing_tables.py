"""The tables of what several gateways over one database share besides runs. `tables` imports them into the schema."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Index, LargeBinary, Table, Text

from duologue.store.schema.metadata import Plain, metadata

# `parts` is JSON: what each gateway holds of the limits of a key.
limit_parts = Table(
    "limit_parts",
    metadata,
    Column("key", Text, primary_key=True),
    Column("parts", Text, nullable=False),
)

# What one gateway does or has, for as long as its own lease in `gateways` lasts; `until` is 0 except for work that is done at intervals, where it is
# when the next round is due, in ms of the database's clock.
claims = Table(
    "claims",
    metadata,
    Column("name", Text, primary_key=True),
    Column("gateway", Text, nullable=False),
    Column("until", BigInteger, nullable=False),
    Index("claims_by_gateway", "gateway"),
)

# The results of batches that run, where several gateways may carry them out: one for each request, whoever answered it.
batch_results = Table(
    "batch_results",
    metadata,
    Column("batch", Text, primary_key=True),
    Column("line", LargeBinary, primary_key=True),
    Column("number", BigInteger, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("data", Plain, nullable=False),
    Index("batch_results_in_order", "batch", "number"),
)
