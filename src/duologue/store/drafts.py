"""Drafts: what a user has typed and not sent, one JSON object per conversation. The page owns its fields."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from duologue.store.database import Database
from duologue.store.json_table import JsonTable
from duologue.store.schema.tables import drafts


class Drafts:
    """`conversation`: an id, or "new" for one that does not exist yet. Methods raise Unavailable as the database does."""

    def __init__(self, database: Database, now: Callable[[], int]) -> None:
        self._database = database
        self._now = now
        self._documents = JsonTable(database, drafts, now)

    async def get(self, user: str, conversation: str) -> dict[str, Any] | None:
        return await self._documents.get(user=user, conversation=conversation)

    async def put(self, user: str, conversation: str, draft: dict[str, Any]) -> dict[str, Any]:
        """Store a draft with the server's time in it (`updated`, ms), because the clocks of a user's devices may differ. An
        unchanged draft keeps its time."""
        key = {"user": user, "conversation": conversation}
        async with self._database.writing() as connection:
            old = await self._documents.get(within=connection, **key)
            if old is not None and draft | {"updated": old.get("updated")} == old:
                return old
            stored = draft | {"updated": self._now()}
            await self._documents.put(stored, within=connection, **key)
        return stored

    async def delete(self, user: str, conversation: str) -> bool:
        """Delete a draft. Whether there was one."""
        return await self._documents.delete(user=user, conversation=conversation)
