"""The settings of users, of which the page owns the fields, and of the whole server: one JSON object per user or name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from duologue.store.database import Database
from duologue.store.json_table import JsonTable
from duologue.store.schema.tables import server_settings, user_settings


class UserSettings:
    """Every method raises Unavailable as the database does."""

    def __init__(self, database: Database, now: Callable[[], int]) -> None:
        self._documents = JsonTable(database, user_settings, now)

    async def get(self, user: str) -> dict[str, Any]:
        return await self._documents.get(user=user) or {}

    async def merge(self, user: str, patch: Mapping[str, Any]) -> dict[str, Any]:
        """Apply a merge patch (RFC 7396): objects are merged, null removes, anything else replaces. Returns all settings."""
        return await self._documents.change(lambda old: merge(old, patch), user=user)


class ServerSettings:
    """What admins change while the server runs. Every method raises Unavailable as the database does."""

    def __init__(self, database: Database, now: Callable[[], int]) -> None:
        self._documents = JsonTable(database, server_settings, now)

    async def get(self, name: str) -> dict[str, Any]:
        """The object of this name; an empty one where none was stored."""
        return await self._documents.get(name=name) or {}

    async def change(self, name: str, change: Callable[[dict[str, Any]], dict[str, Any]]) -> dict[str, Any]:
        """Replace the object of this name by what `change` makes of it; no other change comes in between. Returns it."""
        return await self._documents.change(change, name=name)


def merge(old: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """`old` with a merge patch applied."""
    new = dict(old)
    for name, value in patch.items():
        if value is None:
            new.pop(name, None)
        elif isinstance(value, Mapping):
            inner = new.get(name)
            new[name] = merge(inner if isinstance(inner, Mapping) else {}, value)
        else:
            new[name] = value
    return new
