"""What a user has set in the page: one JSON object a user. Knows no setting's name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from duologue.store.database import Database
from duologue.store.json_table import Documents
from duologue.store.schema.tables import user_settings


class UserSettings:
    """Raises Unavailable as the database does."""

    def __init__(self, database: Database, now: Callable[[], int]) -> None:
        self._database = database
        self._documents = Documents(database, user_settings, now)

    async def get(self, user: str) -> dict[str, Any]:
        return await self._documents.get(user=user) or {}

    async def merge(self, user: str, patch: Mapping[str, Any]) -> dict[str, Any]:
        """Write a merge patch (RFC 7396): objects are merged, null removes, anything else replaces. Gives them all."""
        async with self._database.writing() as connection:
            old = await self._documents.get(user=user, within=connection) or {}
            new = merged(old, patch)
            await self._documents.put(new, user=user, within=connection)
        return new


def merged(old: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """`old` with a merge patch applied."""
    new = dict(old)
    for name, value in patch.items():
        if value is None:
            new.pop(name, None)
        elif isinstance(value, Mapping):
            inner = new.get(name)
            new[name] = merged(inner if isinstance(inner, Mapping) else {}, value)
        else:
            new[name] = value
    return new
