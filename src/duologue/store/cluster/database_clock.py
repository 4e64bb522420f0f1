"""The clock that several gateways share: the database's own.

Used wherever a lease or a window of time is compared between machines, whose own clocks differ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import BigInteger, literal_column

if TYPE_CHECKING:
    from duologue.store.database import Database

_POSTGRESQL = "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)"
_SQLITE = "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"


def database_now(database: Database) -> Any:
    """An expression for the milliseconds since 1970 by the clock of the database, while a statement runs."""
    return literal_column(_POSTGRESQL if database.is_postgresql else _SQLITE, BigInteger)
