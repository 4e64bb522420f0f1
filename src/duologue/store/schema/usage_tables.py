"""The table of what was used with each key, by day."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Index, Table, Text

from duologue.store.schema.metadata import Plain, metadata

# No foreign keys: usage stays when a key or a user is gone, with the name and the beginning of the key.
usage = Table(
    "usage",
    metadata,
    Column("day", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("model", Plain, primary_key=True),
    Column("kind", Text, primary_key=True),
    Column("user", Text, nullable=False),
    Column("name", Plain, nullable=False),
    Column("prefix", Text, nullable=False),
    Column("requests", BigInteger, nullable=False),
    Column("errors", BigInteger, nullable=False),
    Column("prompt", BigInteger, nullable=False),
    Column("cached", BigInteger, nullable=False),
    Column("completion", BigInteger, nullable=False),
    Column("heard_ms", BigInteger, nullable=False),
    Column("spoken_ms", BigInteger, nullable=False),
    Index("usage_by_user_day", "user", "day"),
)
