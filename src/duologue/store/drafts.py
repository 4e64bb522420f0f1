"""What a user has typed and not sent, by conversation: a JSON object the page understands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from duologue.store.database import Database
from duologue.store.json_table import Documents
from duologue.store.schema.tables import drafts


class Drafts:
    """`conversation` is an id, or "new" for the one that is not begun. Raises Unavailable as the database does."""

    def __init__(self, database: Database, now: Callable[[], int]) -> None:
        self._database = database
        self._now = now
        self._documents = Documents(database, drafts, now)

    async def get(self, user: str, conversation: str) -> dict[str, Any] | None:
        return await self._documents.get(user=user, conversation=conversation)

    async def put(self, user: str, conversation: str, draft: dict[str, Any]) -> dict[str, Any]:
        """Keep it, and say in it when (`updated`, ms): the devices of a user need not agree about the time. One that is
        kept already stays as it was."""
        key = {"user": user, "conversation": conversation}
        async with self._database.writing() as connection:
            old = await self._documents.get(within=connection, **key)
            if old is not None and draft | {"updated": old.get("updated")} == old:
                return old
            kept = draft | {"updated": self._now()}
            await self._documents.put(kept, within=connection, **key)
        return kept

    async def delete(self, user: str, conversation: str) -> bool:
        """Whether there was one."""
        return await self._documents.delete(user=user, conversation=conversation)
