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
    rows = (await connection.execute(these)).mappings()
    return [
        StoredItem(row["id"], _object(row["item"]), "output" if row["side"] == "output" else "input")
        for row in rows
    ]
