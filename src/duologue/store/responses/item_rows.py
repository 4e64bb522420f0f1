"""The items of responses and conversations: written and read in their order, always by owner.

Used by the two stores beside it, within their transactions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import Select, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from duologue.store.responses.response_record import StoredItem
from duologue.store.schema.response_tables import response_item_blobs, response_items
from duologue.store.schema.rows import json
from duologue.threads import LARGE, in_thread

_object = msgspec.json.Decoder(dict[str, Any]).decode


async def add_items(
    connection: AsyncConnection,
    user: str,
    items: Sequence[StoredItem],
    *,
    response: str | None = None,
    conversation: str | None = None,
) -> int:
    """Store items behind those that are there. Returns their bytes."""
    size = 0
    for item in items:
        text = json(item.item)
        size += len(text)
        place = {"response": response, "conversation": conversation, "user": user}
        row = insert(response_items).values(**place, id=item.id, side=item.side, item=text)
        position = (await connection.execute(row)).inserted_primary_key
        assert position is not None
        files = [{"item": position[0], "hash": hash} for hash in dict.fromkeys(item.files)]
        if files:
            await connection.execute(insert(response_item_blobs), files)
    return size


def items_of(
    user: str, *, response: str | None = None, conversation: str | None = None
) -> Select[tuple[str, str, str]]:
    """The items of one response or conversation, in order, as `read_items` takes them."""
    these = select(response_items.c.id, response_items.c.item, response_items.c.side)
    these = these.where(response_items.c.user == user).order_by(response_items.c.position)
    if response is not None:
        return these.where(response_items.c.response == response)
    return these.where(response_items.c.conversation == conversation)


async def read_items(connection: AsyncConnection, these: Select[tuple[str, str, str]]) -> list[StoredItem]:
    """A long chain has megabytes, which a thread reads: the connection bounds how many do."""
    rows: Sequence[Any] = (await connection.execute(these)).all()
    if sum(len(row[1]) for row in rows) < LARGE:
        return _items(rows)
    return await in_thread(_items, rows)


def _items(rows: Sequence[Any]) -> list[StoredItem]:
    return [StoredItem(row[0], _object(row[1]), "output" if row[2] == "output" else "input") for row in rows]
