"""Every test of the store runs on each kind of database."""

from tests.support.store_fixtures import clock, database, memory, store

__all__ = ["clock", "database", "memory", "store"]
