"""Every test of the store runs on each kind of database."""

from tests.support.store_fixtures import both, clock, database, memory, store

__all__ = ["both", "clock", "database", "memory", "store"]
