"""Pending messages: what users sent during a reply, in order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import msgspec
from sqlalchemy import Row, delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from duologue.errors import NotFound
from duologue.store.cluster.run_claims import MessageTaken
from duologue.store.database import Database
from duologue.store.schema.locking import inserted
from duologue.store.schema.repeating import repeated
from duologue.store.schema.rows import json, one_of_its_kind
from duologue.store.schema.tables import pending
from duologue.values.conversations import Content, GenerationOptions, PendingMessage

CHANGEABLE = frozenset(("content", "how", "options"))
_COLUMNS = tuple(pending.c[name] for name in PendingMessage.__struct_fields__)
_content = msgspec.json.Decoder(tuple[Content, ...]).decode
_options = msgspec.json.Decoder(GenerationOptions).decode


class Pending:
    """`now` gives milliseconds since 1970 (UTC). Every method raises Unavailable as the database does."""

    def __init__(self, database: Database, now: Callable[[], int]) -> None:
        self._database = database
        self._now = now

    @repeated
    async def add(
        self, user: str, message: PendingMessage, *, within: AsyncConnection | None = None
    ) -> PendingMessage:
        """Store a message after the others; a `created` of 0 becomes the present time. Idempotent by id."""
        new = msgspec.structs.replace(message, created=message.created or self._now())
        async with self._database.writing(within) as connection:
            await connection.execute(inserted(connection, pending, _values(new) | {"user": user}))
            return _found((await connection.execute(_one(new.conversation, new.id))).first())

    async def of(self, conversation: str, *, within: AsyncConnection | None = None) -> list[PendingMessage]:
        """The pending messages of a conversation, in order."""
        these = select(*_COLUMNS).where(pending.c.conversation == conversation).order_by(pending.c.position)
        async with self._database.reading(within) as connection:
            return [_message(row) for row in await connection.execute(these)]

    async def count(self, conversation: str, *, within: AsyncConnection | None = None) -> int:
        these = select(func.count()).select_from(pending).where(pending.c.conversation == conversation)
        async with self._database.reading(within) as connection:
            return await connection.scalar(these) or 0

    async def take(self, message: PendingMessage, *, within: AsyncConnection) -> None:
        """Remove a message that is sent in the same transaction. Raises MessageTaken when it is not there as it was read."""
        one = _one(message.conversation, message.id).with_for_update()
        row = (await within.execute(one)).first()
        if row is None or _message(row) != message:
            raise MessageTaken
        await self.remove(message.conversation, message.id, within=within)

    async def get(self, conversation: str, id: str) -> PendingMessage:
        """Raises NotFound."""
        async with self._database.reading() as connection:
            return _found((await connection.execute(_one(conversation, id))).first())

    @repeated
    async def change(self, conversation: str, id: str, changes: Mapping[str, object]) -> PendingMessage:
        """Change some of CHANGEABLE; its position stays. Raises NotFound, ValueError for another name."""
        if unknown := set(changes) - CHANGEABLE:
            raise ValueError(f"cannot be changed: {sorted(unknown)}")
        async with self._database.writing() as connection:
            # Held: what another gateway makes of it meanwhile, above all how it waits, is not written over.
            one = _one(conversation, id).with_for_update()
            old = _found((await connection.execute(one)).first())
            new = msgspec.structs.replace(old, **changes)
            await connection.execute(
                update(pending)
                .where(pending.c.conversation == conversation, pending.c.id == id)
                .values(_values(new))
            )
        return new

    async def change_all(
        self,
        conversation: str,
        how: Literal["queue", "hold"],
        *,
        only: Literal["queue", "steer"] | None = None,
        within: AsyncConnection | None = None,
    ) -> bool:
        """Change how every pending message of a conversation waits, or those that wait as `only` says. Whether there were any."""
        these = update(pending).where(pending.c.conversation == conversation, pending.c.how != how)
        if only is not None:
            these = these.where(pending.c.how == only)
        async with self._database.writing(within) as connection:
            return (await connection.execute(these.values(how=how))).rowcount > 0

    async def remove(self, conversation: str, id: str, *, within: AsyncConnection | None = None) -> bool:
        """Remove a message. Whether it was there."""
        this = delete(pending).where(pending.c.conversation == conversation, pending.c.id == id)
        async with self._database.writing(within) as connection:
            return (await connection.execute(this)).rowcount > 0


def _one(conversation: str, id: str) -> Any:
    return select(*_COLUMNS).where(pending.c.conversation == conversation, pending.c.id == id)


def _found(row: Row[Any] | None) -> PendingMessage:
    if row is None:
        raise NotFound("There is no such waiting message.")
    return _message(row)


def _values(message: PendingMessage) -> dict[str, object]:
    values: dict[str, object] = {name: getattr(message, name) for name in PendingMessage.__struct_fields__}
    return values | {"content": json(message.content), "options": json(message.options)}


def _message(row: Row[Any]) -> PendingMessage:
    values = dict(zip(PendingMessage.__struct_fields__, row, strict=False))
    values["content"] = _content(values["content"])
    values["options"] = _options(values["options"])
    values["how"] = one_of_its_kind(values["how"])
    return PendingMessage(**values)
