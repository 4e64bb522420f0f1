"""The items of responses and conversations: written and read in their order, always by owner.

Used by the two stores beside it, within their transactions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import Select, func, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from duologue.errors import TooLarge
from duologue.store.responses.response_record import ItemBounds, ItemPage, ItemSide, StoredItem
from duologue.store.schema.response_tables import response_item_blobs, response_items
from duologue.store.schema.rows import json
from duologue.threads import LARGE, in_thread

MEGABYTE = 2**20
ItemsQuery = Select[tuple[str, str, str]]
"""Ids, items as JSON, and sides."""

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


def items_of(user: str, *, response: str | None = None, conversation: str | None = None) -> ItemsQuery:
    """The items of one response or conversation, in order, as `read_items` takes them."""
    these = select(response_items.c.id, response_items.c.item, response_items.c.side)
    these = these.where(response_items.c.user == user).order_by(response_items.c.position)
    if response is not None:
        return these.where(response_items.c.response == response)
    return these.where(response_items.c.conversation == conversation)


async def read_items(
    connection: AsyncConnection, these: ItemsQuery, most: ItemBounds | None = None
) -> list[StoredItem]:
    """A long chain has megabytes, which a thread reads: the connection bounds how many do. Raises TooLarge, before anything is read, for
    more than `most`."""
    if most is not None:
        await _check(connection, these, most)
    rows: Sequence[Any] = (await connection.execute(these)).all()
    if sum(len(row[1]) for row in rows) < LARGE:
        return _items(rows)
    return await in_thread(_items, rows)


async def read_page(
    connection: AsyncConnection, these: ItemsQuery, page: ItemPage, most: ItemBounds
) -> tuple[list[StoredItem], bool]:
    """A page of items, and whether there are more. Raises TooLarge for one of more bytes than `most`."""
    position = response_items.c.position
    these = these.order_by(None).order_by(position.asc() if page.ascending else position.desc())
    if page.after is not None:
        after = these.with_only_columns(position).where(response_items.c.id == page.after).limit(1)
        if (start := await connection.scalar(after)) is not None:
            these = these.where(position > start if page.ascending else position < start)
    ids = (await connection.execute(these.with_only_columns(position).limit(page.limit + 1))).scalars().all()
    found = await read_items(connection, these.limit(page.limit), ItemBounds(page.limit, most.size))
    return found, len(ids) > page.limit


def on_side(these: ItemsQuery, side: ItemSide) -> ItemsQuery:
    """Those of one side."""
    return these.where(response_items.c.side == side)


async def _check(connection: AsyncConnection, these: ItemsQuery, most: ItemBounds) -> None:
    rows = these.subquery()
    size = func.coalesce(func.sum(func.length(rows.c.item)), 0)
    count, characters = (await connection.execute(select(func.count(), size).select_from(rows))).one()
    if count > most.items:
        raise TooLarge(
            f"The turns before this one have more than {most.items:,} items (setting limits.messages). Begin anew with those that "
            "matter."
        )
    if characters > most.size:
        raise TooLarge(
            f"The stored items have more than {most.size / MEGABYTE:g} MB together (setting limits.body_mb). Begin anew with those "
            "that matter, or list fewer of them at a time."
        )


def _items(rows: Sequence[Any]) -> list[StoredItem]:
    return [
        StoredItem(row[0], _object(row[1]), "output" if row[2] == "output" else "input", size=len(row[1]))
        for row in rows
    ]
