"""The conversations of OpenAI's API and their items, always by owner. Used by `gateway.responses`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from sqlalchemy import delete, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from duologue.errors import NotFound, TooLarge
from duologue.store.database import Database
from duologue.store.responses.item_rows import add_items, items_of, read_items, read_page
from duologue.store.responses.response_record import ApiConversation, ItemBounds, ItemPage, StoredItem
from duologue.store.schema.locking import held
from duologue.store.schema.response_tables import response_conversations, response_items
from duologue.store.schema.rows import json

MEGABYTE = 2**20
ROW_BYTES = 256
"""What a conversation without items counts for."""
_metadata = msgspec.json.Decoder(dict[str, str]).decode


class ApiConversationRows:
    """`now` gives milliseconds since 1970 (UTC). Every method raises Unavailable as the database does."""

    def __init__(self, database: Database, now: Callable[[], int]) -> None:
        self._database = database
        self._now = now

    async def create(
        self, conversation: ApiConversation, items: Sequence[StoredItem], most_bytes: int
    ) -> ApiConversation:
        """Store a conversation with its first items. Raises TooLarge when this user's conversations have more bytes."""
        now = self._now()
        metadata = json(conversation.metadata)
        values = {
            "id": conversation.id,
            "user": conversation.user,
            "metadata": metadata,
            "size": ROW_BYTES + len(metadata),
            "created": now,
            "touched": now,
        }
        async with self._database.writing() as connection:
            await connection.execute(insert(response_conversations).values(values))
            await self._add(connection, conversation.user, conversation.id, items, most_bytes)
        return msgspec.structs.replace(conversation, created=now)

    async def get(self, user: str, id: str) -> ApiConversation:
        """Raises NotFound, also for another user's."""
        async with self._database.reading() as connection:
            return await self._get(connection, user, id)

    async def update(self, user: str, id: str, metadata: dict[str, str], most_bytes: int) -> ApiConversation:
        """Replace its metadata. Raises NotFound, and TooLarge as `create` does."""
        async with self._database.writing() as connection:
            found = await self._get(connection, user, id, locked=True)
            new, grows = json(metadata), len(json(metadata)) - len(json(found.metadata))
            size = response_conversations.c.size + grows
            await self._touch(connection, id, metadata=new, size=size)
            if grows > 0:
                await _check_room(connection, user, most_bytes)
        return msgspec.structs.replace(found, metadata=metadata)

    async def delete(self, user: str, id: str) -> None:
        """Delete it with its items. Raises NotFound."""
        table = response_conversations
        async with self._database.writing() as connection:
            these = delete(table).where(table.c.id == id, table.c.user == user)
            if (await connection.execute(these)).rowcount == 0:
                raise _missing(id)

    async def add_items(self, user: str, id: str, items: Sequence[StoredItem], most_bytes: int) -> None:
        """Append items. Raises NotFound, and TooLarge as `create` does."""
        async with self._database.writing() as connection:
            # Held before its items are written: those of another gateway come before or after them, never in between.
            await self._get(connection, user, id, locked=True)
            await self._add(connection, user, id, items, most_bytes)

    async def check_room(self, user: str, most_bytes: int) -> None:
        """Raises TooLarge when this user's conversations have more bytes."""
        async with self._database.reading() as connection:
            await _check_room(connection, user, most_bytes)

    async def items(self, user: str, id: str, most: ItemBounds | None = None) -> list[StoredItem]:
        """Its items, in order. Raises NotFound, TooLarge without reading them where there are more than `most`."""
        async with self._database.reading() as connection:
            await self._get(connection, user, id)
            return await read_items(connection, items_of(user, conversation=id), most)

    async def page(
        self, user: str, id: str, page: ItemPage, most: ItemBounds
    ) -> tuple[list[StoredItem], bool]:
        """A page of its items, and whether there are more. Raises NotFound, TooLarge."""
        async with self._database.reading() as connection:
            await self._get(connection, user, id)
            return await read_page(connection, items_of(user, conversation=id), page, most)

    async def item(self, user: str, id: str, item: str) -> StoredItem:
        """One of its items. Raises NotFound for either."""
        async with self._database.reading() as connection:
            await self._get(connection, user, id)
            these = items_of(user, conversation=id).where(response_items.c.id == item).limit(1)
            found = await read_items(connection, these)
        if not found:
            raise _missing_item(item)
        return found[0]

    async def delete_item(self, user: str, id: str, item: str) -> ApiConversation:
        """Remove an item. Raises NotFound for either."""
        async with self._database.writing() as connection:
            found = await self._get(connection, user, id, locked=True)
            this = (response_items.c.conversation == id) & (response_items.c.id == item)
            size = await connection.scalar(select(func.sum(func.length(response_items.c.item))).where(this))
            if size is None:
                raise _missing_item(item)
            await connection.execute(delete(response_items).where(this))
            await self._touch(connection, id, size=response_conversations.c.size - int(size))
        return found

    async def _get(
        self, connection: AsyncConnection, user: str, id: str, *, locked: bool = False
    ) -> ApiConversation:
        table = response_conversations
        these = select(table.c.metadata, table.c.created).where(table.c.id == id, table.c.user == user)
        row = (await connection.execute(held(these) if locked else these)).first()
        if row is None:
            raise _missing(id)
        return ApiConversation(id, user, _metadata(row[0]), row[1])

    async def _add(
        self,
        connection: AsyncConnection,
        user: str,
        id: str,
        items: Sequence[StoredItem],
        most_bytes: int,
    ) -> None:
        table = response_conversations
        size = await add_items(connection, user, items, conversation=id)
        await self._touch(connection, id, size=table.c.size + size)
        await _check_room(connection, user, most_bytes)

    async def _touch(self, connection: AsyncConnection, id: str, **values: Any) -> None:
        these = update(response_conversations).where(response_conversations.c.id == id)
        await connection.execute(these.values(touched=self._now(), **values))


async def _check_room(connection: AsyncConnection, user: str, most_bytes: int) -> None:
    table = response_conversations
    used = select(func.sum(table.c.size)).where(table.c.user == user)
    if int(await connection.scalar(used) or 0) > most_bytes:
        raise TooLarge(
            f"Your conversations have more than {most_bytes // MEGABYTE} MB (setting responses.user_mb). Delete some.",
            code="responses_full",
        )


def _missing_item(id: str) -> NotFound:
    return NotFound(f"There is no item {id[:80]!r} in this conversation.", code="item_not_found")


def _missing(id: str) -> NotFound:
    return NotFound(
        f"There is no conversation {id[:80]!r}.", code="conversation_not_found", param="conversation"
    )
