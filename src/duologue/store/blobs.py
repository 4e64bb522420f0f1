"""The metadata of files: their type and size, their owners, and the messages that name them.

Used by `conversations/files/blobs.py`, which stores the bytes. A file belongs to the users who uploaded it; `Messages` records
which messages name it.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from sqlalchemy import delete, exists, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from duologue.errors import NotFound
from duologue.store.database import Database
from duologue.store.schema.locking import inserted
from duologue.store.schema.response_tables import response_item_blobs
from duologue.store.schema.tables import (
    blob_owners,
    blobs,
    conversations,
    drafts,
    message_blobs,
    messages,
    pending,
)
from duologue.values.conversations import Blob

_COLUMNS = (blobs.c.hash, blobs.c.mime, blobs.c.size, blobs.c.width, blobs.c.height, blobs.c.duration)
_HASH = re.compile(r"[0-9a-f]{64}")
_BATCH = 500


class BlobRows:
    """`now` gives milliseconds since 1970 (UTC). Every method raises Unavailable as the database does."""

    def __init__(self, database: Database, now: Callable[[], int]) -> None:
        self._database = database
        self._now = now

    async def put(self, user: str, blob: Blob, *, within: AsyncConnection | None = None) -> Blob:
        """Store the metadata of a file that this user has uploaded. Uploading it again renews its age and, unless empty, its
        name; its type and size stay."""
        now = self._now()
        async with self._database.writing(within) as connection:
            # Locked: another gateway may just be dropping the row, or adding the same.
            known_row = select(*_COLUMNS).where(blobs.c.hash == blob.hash).with_for_update()
            row = (await connection.execute(known_row)).first()
            if row is None:
                values = {column.name: getattr(blob, column.name) for column in _COLUMNS}
                await connection.execute(inserted(connection, blobs, values))
            mine = (blob_owners.c.hash == blob.hash) & (blob_owners.c.user == user)
            name = await connection.scalar(select(blob_owners.c.name).where(mine))
            if name is None:
                owner = {"hash": blob.hash, "user": user, "name": blob.name, "created": now}
                await connection.execute(inserted(connection, blob_owners, owner))
            else:
                changed = update(blob_owners).where(mine).values(name=blob.name or name, created=now)
                await connection.execute(changed)
        known = dict(zip((column.name for column in _COLUMNS), row, strict=True)) if row else {}
        return msgspec.structs.replace(blob, **known, name=blob.name or name or "", created=now)

    async def get(self, user: str, hash: str) -> Blob:
        """A file that this user has uploaded, or that a message of this user names. Raises NotFound for any other."""
        uploaded = (
            select(*_COLUMNS, blob_owners.c.name, blob_owners.c.created)
            .join(blob_owners, blob_owners.c.hash == blobs.c.hash)
            .where(blobs.c.hash == hash, blob_owners.c.user == user)
        )
        named = (
            select(*_COLUMNS)
            .where(blobs.c.hash == hash)
            .where(
                exists()
                .where(message_blobs.c.hash == hash)
                .where(messages.c.sequence == message_blobs.c.message)
                .where(conversations.c.id == messages.c.conversation)
                .where(conversations.c.user == user)
            )
        )
        async with self._database.reading() as connection:
            row: Any = (await connection.execute(uploaded)).first()
            row = row or (await connection.execute(named)).first()
        if row is None:
            raise NotFound("There is no such file.")
        return Blob(**row._mapping)

    async def usage(self, user: str, *, without: str = "") -> int:
        """The bytes of all files that this user has stored; `without` leaves one out."""
        total = (
            select(func.coalesce(func.sum(blobs.c.size), 0))
            .join(blob_owners, blob_owners.c.hash == blobs.c.hash)
            .where(blob_owners.c.user == user, blob_owners.c.hash != without)
        )
        async with self._database.reading() as connection:
            return int(await connection.scalar(total) or 0)

    async def of(self, message: int) -> list[str]:
        """The files that a message names, by the sequence of the message."""
        these = select(message_blobs.c.hash).where(message_blobs.c.message == message)
        async with self._database.reading() as connection:
            return sorted((await connection.scalars(these)).all())

    async def unreferenced(self, older_than_ms: int) -> list[str]:
        """Files that no message, item of a response, pending message or draft names, and that were uploaded longer ago than that."""
        async with self._database.reading() as connection:
            hashes = list((await connection.scalars(self._unnamed(older_than_ms))).all())
            if not hashes:
                return hashes
            held: set[str] = set()
            for column in (pending.c.content, drafts.c.value):
                for text in await connection.scalars(select(column)):
                    held.update(_HASH.findall(text))
        return [one for one in hashes if one not in held]

    async def drop(self, hash: str, older_than_ms: int = 0) -> bool:
        """Delete the metadata of a file if it is still unreferenced; then its bytes may be removed."""
        async with self.dropping(hash, older_than_ms) as is_dropped:
            return is_dropped

    @asynccontextmanager
    async def dropping(self, hash: str, older_than_ms: int) -> AsyncIterator[bool]:
        """The same, for where other gateways share the files: the bytes are removed within the block, and whoever adds the same file
        meanwhile waits for its end."""
        async with self._database.writing() as connection:
            # Locked before it is looked at: another gateway may just be adding an owner or a message.
            await connection.execute(select(blobs.c.hash).where(blobs.c.hash == hash).with_for_update())
            is_dropped = await connection.scalar(self._unused(older_than_ms, hash)) is not None
            if is_dropped:
                await connection.execute(delete(blobs).where(blobs.c.hash == hash))
            yield is_dropped

    async def known(self, hashes: Iterable[str]) -> set[str]:
        """Which of these files exist."""
        every = list(hashes)
        existing: set[str] = set()
        async with self._database.reading() as connection:
            for start in range(0, len(every), _BATCH):
                these = select(blobs.c.hash).where(blobs.c.hash.in_(every[start : start + _BATCH]))
                existing.update((await connection.scalars(these)).all())
        return existing

    def _unnamed(self, older_than_ms: int) -> Any:
        """Those that no message and no item names, and that were uploaded longer ago than that."""
        newest = (
            select(func.coalesce(func.max(blob_owners.c.created), 0))
            .where(blob_owners.c.hash == blobs.c.hash)
            .scalar_subquery()
        )
        return select(blobs.c.hash).where(
            ~exists().where(message_blobs.c.hash == blobs.c.hash),
            ~exists().where(response_item_blobs.c.hash == blobs.c.hash),
            newest <= self._now() - older_than_ms,
        )

    def _unused(self, older_than_ms: int, hash: str) -> Any:
        """One of those, if nothing else names it. One statement, which sees one moment: a message that is sent leaves those that wait and
        comes into the conversation in one transaction of another gateway, and between two statements it would be in neither."""
        return self._unnamed(older_than_ms).where(
            blobs.c.hash == hash,
            ~exists().where(pending.c.content.contains(hash)),
            ~exists().where(drafts.c.value.contains(hash)),
        )
