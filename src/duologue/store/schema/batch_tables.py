"""The tables of files that clients of the API store, and of their batches. `tables` imports them into the schema."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Index, Table, Text

from duologue.store.schema.metadata import Plain, metadata

# `expires` is 0 for a file without an end. The bytes are in the data folder, under the id.
stored_files = Table(
    "stored_files",
    metadata,
    Column("id", Text, primary_key=True),
    Column("user", Text, nullable=False),
    Column("purpose", Text, nullable=False),
    Column("name", Plain, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("created", BigInteger, nullable=False),
    Column("expires", BigInteger, nullable=False),
    Index("stored_files_as_listed", "user", "created", "id"),
)

# `output_file` and `error_file` are ids of stored files, which may be deleted before the batch.
batches = Table(
    "batches",
    metadata,
    Column("id", Text, primary_key=True),
    Column("user", Text, nullable=False),
    Column("endpoint", Text, nullable=False),
    Column("input_file", Text, nullable=False),
    Column("created", BigInteger, nullable=False),
    Column("expires", BigInteger, nullable=False),
    Column("status", Text, nullable=False),
    Column("times", Text, nullable=False),
    Column("counts", Text, nullable=False),
    Column("usage", Text, nullable=False),
    Column("model", Plain, nullable=False),
    Column("errors", Plain, nullable=False),
    Column("metadata", Plain, nullable=False),
    Column("keep_seconds", BigInteger, nullable=False),
    Column("output_file", Text, nullable=False),
    Column("error_file", Text, nullable=False),
    Column("key", Text, nullable=True),
    Index("batches_as_listed", "user", "created", "id"),
)
