"""The responses of OpenAI's API: stored with their items, read by owner, and the chain of those that continue each other.

Used by `gateway.responses`, and by retention. A response that another one continues is as young as the youngest of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec
from sqlalchemy import CTE, delete, func, insert, literal, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from duologue.errors import NotFound
from duologue.store.database import Database
from duologue.store.responses.item_rows import add_items, items_of, on_side, read_items, read_page
from duologue.store.responses.response_record import ItemBounds, ItemPage, StoredItem, StoredResponse
from duologue.store.schema.locking import held
from duologue.store.schema.repeating import repeated
from duologue.store.schema.response_tables import response_conversations, response_items, responses
from duologue.store.schema.rows import json

MOST_TURNS = 10_000
"""Responses of one chain."""
BATCH = 200
UNFINISHED = ("queued", "in_progress")

_object = msgspec.json.Decoder(dict[str, Any]).decode
_COLUMNS = tuple(responses.c[name] for name in StoredResponse.__struct_fields__)


class ResponseRows:
    """`now` gives milliseconds since 1970 (UTC). Every method raises Unavailable as the database does."""

    def __init__(self, database: Database, now: Callable[[], int]) -> None:
        self._database = database
        self._now = now

    @repeated
    async def add(self, response: StoredResponse, items: Sequence[StoredItem]) -> None:
        """Store a response with its items, and append them to its conversation if it has ended. Those it continues are renewed."""
        now = self._now()
        values = {name: getattr(response, name) for name in StoredResponse.__struct_fields__}
        values |= {"response": json(response.response), "created": now, "touched": now, "size": 0}
        async with self._database.writing() as connection:
            await connection.execute(insert(responses).values(values))
            size = await add_items(connection, response.user, items, response=response.id)
            await self._grow(connection, response.id, size + len(values["response"]))
            if response.previous is not None:
                chain = _chain(response.user, response.previous)
                these = responses.c.id.in_(select(chain.c.id))
                await connection.execute(update(responses).where(these).values(touched=now))
            if response.status not in UNFINISHED:
                await self._append(connection, response, items)

    async def save(self, response: StoredResponse) -> None:
        """Store how far a running response is; without effect if it has ended or was deleted."""
        async with self._database.writing() as connection:
            await connection.execute(_saved(response))

    @repeated
    async def finish(
        self, response: StoredResponse, given: Sequence[StoredItem], output: Sequence[StoredItem]
    ) -> None:
        """Store how a running response ended; without effect if that is stored or it was deleted. `given`: the items that `add` stored."""
        async with self._database.writing() as connection:
            if (await connection.execute(_saved(response))).rowcount == 0:
                return
            size = await add_items(connection, response.user, output, response=response.id)
            await self._grow(connection, response.id, size)
            await self._append(connection, response, [*given, *output])

    async def get(self, user: str, id: str) -> StoredResponse:
        """Raises NotFound, also for another user's."""
        these = select(*_COLUMNS).where(responses.c.id == id, responses.c.user == user)
        async with self._database.reading() as connection:
            row = (await connection.execute(these)).mappings().first()
        if row is None:
            raise _missing(id)
        return StoredResponse(**{**row, "response": _object(row["response"])})

    async def items(self, user: str, id: str) -> list[StoredItem]:
        """What the response was given and what it gave, in order."""
        async with self._database.reading() as connection:
            return await read_items(connection, items_of(user, response=id))

    async def inputs(
        self, user: str, id: str, page: ItemPage, most: ItemBounds
    ) -> tuple[list[StoredItem], bool]:
        """A page of what the response was given, and whether there is more. Raises TooLarge."""
        async with self._database.reading() as connection:
            return await read_page(connection, on_side(items_of(user, response=id), "input"), page, most)

    async def chain(self, user: str, id: str, most: ItemBounds | None = None) -> list[StoredItem]:
        """The items of a response and of all that it continues, the oldest first. Raises NotFound when one of them is gone, TooLarge
        without reading them where there are more than `most`."""
        chain = _chain(user, id)
        these = (
            select(response_items.c.id, response_items.c.item, response_items.c.side)
            .join(chain, chain.c.id == response_items.c.response)
            .order_by(chain.c.depth.desc(), response_items.c.position)
        )
        async with self._database.reading() as connection:
            first = select(chain.c.previous).order_by(chain.c.depth.desc()).limit(1)
            row = (await connection.execute(first)).first()
            if row is None:
                raise _missing(id, "previous_response_id")
            if row[0] is not None:
                raise NotFound(
                    f"The response {id!r} continues one that was deleted, so that it cannot be continued. Send its turns as input.",
                    code="response_not_found",
                    param="previous_response_id",
                )
            return await read_items(connection, these, most)

    async def items_by_id(
        self, user: str, ids: Iterable[str], most: ItemBounds | None = None
    ) -> dict[str, dict[str, Any]]:
        """The items with these ids that are stored for this user. Raises TooLarge for more than `most`."""
        wanted = list(dict.fromkeys(ids))
        found: dict[str, dict[str, Any]] = {}
        left = most
        async with self._database.reading() as connection:
            for start in range(0, len(wanted), BATCH):
                these = select(response_items.c.id, response_items.c.item, response_items.c.side).where(
                    response_items.c.user == user, response_items.c.id.in_(wanted[start : start + BATCH])
                )
                # The newest of those that have the same id: a conversation has copies.
                newest = select(func.max(response_items.c.position)).where(
                    response_items.c.user == user, response_items.c.id.in_(wanted[start : start + BATCH])
                )
                these = these.where(response_items.c.position.in_(newest.group_by(response_items.c.id)))
                items = await read_items(connection, these, left)
                found |= {stored.id: stored.item for stored in items}
                if left is not None:
                    left = ItemBounds(left.items, left.size - sum(stored.size for stored in items))
        return found

    async def delete(self, user: str, id: str) -> None:
        """Raises NotFound, also for another user's."""
        async with self._database.writing() as connection:
            these = delete(responses).where(responses.c.id == id, responses.c.user == user)
            if (await connection.execute(these)).rowcount == 0:
                raise _missing(id)

    async def unfinished(self) -> list[StoredResponse]:
        """Those that were running when the server ended, of every user."""
        these = select(*_COLUMNS).where(responses.c.status.in_(UNFINISHED))
        async with self._database.reading() as connection:
            rows = (await connection.execute(these)).mappings().all()
        return [StoredResponse(**{**row, "response": _object(row["response"])}) for row in rows]

    @repeated
    async def make_room(self, user: str, most_bytes: int) -> int:
        """Delete a user's oldest responses until the rest has at most so many bytes. Returns how many."""
        removed = 0
        async with self._database.writing() as connection:
            total = select(func.coalesce(func.sum(responses.c.size), 0)).where(responses.c.user == user)
            left = int(await connection.scalar(total) or 0)
            oldest = select(responses.c.id, responses.c.size).where(
                responses.c.user == user, responses.c.status.not_in(UNFINISHED)
            )
            oldest = oldest.order_by(responses.c.touched).limit(BATCH)
            while left > most_bytes:
                rows = (await connection.execute(oldest)).all()
                ids: list[str] = []
                for id, size in rows:
                    if left > most_bytes:
                        ids.append(id)
                        left -= size
                if not ids:
                    break
                await connection.execute(delete(responses).where(responses.c.id.in_(ids)))
                removed += len(ids)
        return removed

    @repeated
    async def forget(self, older_than_ms: int) -> int:
        """Delete the responses that nobody continued and the conversations that nobody used for that long. Returns how many."""
        before = self._now() - older_than_ms
        async with self._database.writing() as connection:
            old = delete(responses).where(responses.c.touched < before, responses.c.status.not_in(UNFINISHED))
            unused = delete(response_conversations).where(response_conversations.c.touched < before)
            return (await connection.execute(old)).rowcount + (await connection.execute(unused)).rowcount

    async def _grow(self, connection: AsyncConnection, id: str, size: int) -> None:
        grown = update(responses).where(responses.c.id == id)
        await connection.execute(grown.values(size=responses.c.size + size))

    async def _append(
        self, connection: AsyncConnection, response: StoredResponse, items: Sequence[StoredItem]
    ) -> None:
        """Add the items of a response to its conversation, if that still exists."""
        if response.conversation is None:
            return
        table = response_conversations
        known = select(table.c.id).where(table.c.id == response.conversation, table.c.user == response.user)
        # Held: another gateway may just be deleting it, or adding to it, and the items of one response stay together.
        if await connection.scalar(held(known)) is None:
            return
        size = await add_items(connection, response.user, items, conversation=response.conversation)
        grown = update(table).where(table.c.id == response.conversation)
        await connection.execute(grown.values(size=table.c.size + size, touched=self._now()))


def _saved(response: StoredResponse) -> Any:
    """What changes a response that has not ended: its end is stored once."""
    values = {"status": response.status, "response": json(response.response)}
    this = update(responses).where(responses.c.id == response.id, responses.c.status.in_(UNFINISHED))
    return this.values(values)


def _chain(user: str, id: str) -> CTE:
    """A response and those it continues, with their distance from it."""
    chain = (
        select(responses.c.id, responses.c.previous, literal(0).label("depth"))
        .where(responses.c.id == id, responses.c.user == user)
        .cte("chain", recursive=True)
    )
    return chain.union_all(
        select(responses.c.id, responses.c.previous, chain.c.depth + 1)
        .join(chain, responses.c.id == chain.c.previous)
        .where(responses.c.user == user, chain.c.depth < MOST_TURNS)
    )


def _missing(id: str, param: str | None = None) -> NotFound:
    return NotFound(f"There is no response {id[:80]!r}.", code="response_not_found", param=param)
