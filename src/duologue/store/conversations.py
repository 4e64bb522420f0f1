"""The conversations of a user, as lists show them. Their rows are in `messages`.

Every question names the user, and another user's conversation is one that does not exist.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from sqlalchemy import Row, Update, delete, func, insert, select, tuple_, update
from sqlalchemy.ext.asyncio import AsyncConnection

from duologue.errors import BadRequest, NotFound
from duologue.store.database import Database
from duologue.store.schema.rows import json
from duologue.store.schema.tables import conversations, drafts, folders, messages
from duologue.store.search.tokenizer import folded
from duologue.values.conversations import Conversation, GenerationOptions

MOST_PINNED = 1000
PURGED = 20
"""Conversations that are forgotten in one transaction: nobody can write meanwhile."""
CHANGEABLE = frozenset(("title", "title_source", "leaf", "folder", "pinned", "archived", "tags", "options"))
_COLUMNS = tuple(conversations.c[name] for name in Conversation.__struct_fields__)
_tags = msgspec.json.Decoder(tuple[str, ...]).decode
_options = msgspec.json.Decoder(GenerationOptions).decode
_NO_OPTIONS = json(GenerationOptions())


class Conversations:
    """`now` gives milliseconds since 1970 (UTC). Every method raises Unavailable as the database does."""

    def __init__(self, database: Database, now: Callable[[], int]) -> None:
        self._database = database
        self._now = now

    async def create(
        self, user: str, conversation: Conversation, *, within: AsyncConnection | None = None
    ) -> Conversation:
        """Keep a new conversation; times that are 0 are now. One of this user with the same id is given back as it is
        kept. Raises BadRequest `id_taken` when the id is another's, `unknown_folder`."""
        now = self._now()
        new = msgspec.structs.replace(
            conversation, created=conversation.created or now, updated=conversation.updated or now
        )
        async with self._database.writing(within) as connection:
            there = (await connection.execute(_one(new.id, deleted=True))).first()
            if there is not None:
                if there.user != user:
                    raise BadRequest(
                        "A conversation with this id exists already. Choose another id.",
                        code="id_taken",
                        param="id",
                    )
                return _conversation(there)
            await _check_folder(connection, user, new.folder)
            await connection.execute(insert(conversations).values(_values(new) | {"user": user}))
        return new

    async def get(
        self, user: str, id: str, *, deleted: bool = False, within: AsyncConnection | None = None
    ) -> Conversation:
        """Raises NotFound; also for a deleted one, unless `deleted` ones are asked for too."""
        async with self._database.reading(within) as connection:
            return _conversation(await _owned(connection, user, id, deleted=deleted))

    async def owner(self, id: str) -> str | None:
        """The user of a conversation, deleted ones too; None when there is none."""
        async with self._database.reading() as connection:
            return await connection.scalar(select(conversations.c.user).where(conversations.c.id == id))

    async def listed(
        self,
        user: str,
        *,
        archived: bool = False,
        folder: str | None = None,
        tag: str | None = None,
        limit: int = 50,
        before: tuple[int, str] | None = None,
    ) -> list[Conversation]:
        """Newest change first. Without `before` the pinned ones come first, all of them; then `limit` of the others.
        `before` is (updated, id) of the last one that was not pinned, and gives the `limit` after it."""
        c = conversations.c
        these = select(*_COLUMNS).where(c.user == user, c.archived.is_(archived), c.deleted == 0)
        if folder is not None:
            these = these.where(c.folder == folder)
        if tag is not None:
            position = func.strpos if self._database.is_postgresql else func.instr
            # Quotes in a tag are escaped, so the quoted tag is found as a whole one only.
            these = these.where(position(c.tags, json(tag)) > 0)
        these = these.order_by(c.updated.desc(), c.id.desc())
        others = these.where(c.pinned.is_(False)).limit(limit)
        async with self._database.reading() as connection:
            if before is not None:
                others = others.where(tuple_(c.updated, c.id) < tuple_(*before))
                return [_conversation(row) for row in await connection.execute(others)]
            pinned = await connection.execute(these.where(c.pinned.is_(True)).limit(MOST_PINNED))
            return [_conversation(row) for rows in (pinned, await connection.execute(others)) for row in rows]

    async def change(
        self, user: str, id: str, changes: Mapping[str, object], *, within: AsyncConnection | None = None
    ) -> Conversation:
        """Change some of CHANGEABLE; the place in the list stays. Raises NotFound, BadRequest `unknown_message` (a leaf)
        or `unknown_folder`, ValueError for another name."""
        if unknown := set(changes) - CHANGEABLE:
            raise ValueError(f"not to be changed: {sorted(unknown)}")
        async with self._database.writing(within) as connection:
            old = _conversation(await _owned(connection, user, id))
            new = msgspec.structs.replace(old, **changes)
            if new.leaf != old.leaf:
                await check_leaf(connection, id, new.leaf)
            if new.folder != old.folder:
                await _check_folder(connection, user, new.folder)
            if new != old:
                values = _values(new)
                names = {*changes, *(("title_words",) if "title" in changes else ())}
                await connection.execute(_change(id).values({name: values[name] for name in names}))
        return new

    async def delete(self, user: str, id: str) -> None:
        """Take it out of every list; `restore` brings it back until `purge`. Again: nothing. Raises NotFound."""
        async with self._database.writing() as connection:
            row = await _owned(connection, user, id, deleted=True)
            if not row.deleted:
                await connection.execute(_change(id).values(deleted=self._now()))

    async def restore(self, user: str, id: str) -> Conversation:
        """Bring a deleted one back. Raises NotFound when there is none any more."""
        async with self._database.writing() as connection:
            row = await _owned(connection, user, id, deleted=True)
            await connection.execute(_change(id).values(deleted=0))
        return msgspec.structs.replace(_conversation(row), deleted=0)

    async def purge(self, older_than_ms: int) -> list[str]:
        """Forget for good, with everything in them, some of those deleted longer ago than that. Gives their ids; ask
        again until there are none."""
        c = conversations.c
        gone = select(c.id).where(c.deleted > 0, c.deleted <= self._now() - older_than_ms).limit(PURGED)
        async with self._database.writing() as connection:
            ids = list((await connection.scalars(gone)).all())
            await forget(connection, ids)
        return ids

    async def set_running(self, id: str, run: str | None, *, within: AsyncConnection | None = None) -> None:
        """Which run writes in it. `Runs.begin` and `Runs.end` do so themselves."""
        async with self._database.writing(within) as connection:
            await connection.execute(_change(id).values(running=run))

    async def tags(self, user: str) -> dict[str, int]:
        """Every tag of a user and how many conversations carry it."""
        c = conversations.c
        counts: dict[str, int] = {}
        async with self._database.reading() as connection:
            tagged = select(c.tags).where(c.user == user, c.deleted == 0, c.tags != "[]")
            for tags in await connection.scalars(tagged):
                for tag in _tags(tags):
                    counts[tag] = counts.get(tag, 0) + 1
        return dict(sorted(counts.items()))


async def check_leaf(connection: AsyncConnection, conversation: str, leaf: str | None) -> None:
    """Raises BadRequest `unknown_message` when `leaf` is no row of the conversation."""
    if leaf is None:
        return
    there = select(messages.c.sequence).where(messages.c.conversation == conversation, messages.c.id == leaf)
    if await connection.scalar(there) is None:
        raise BadRequest(
            "There is no such message in this conversation.", code="unknown_message", param="leaf"
        )


async def forget(connection: AsyncConnection, ids: list[str]) -> None:
    """Delete conversations for good; rows, runs, approvals and what waits go with them."""
    if ids:
        await connection.execute(delete(conversations).where(conversations.c.id.in_(ids)))
        await connection.execute(delete(drafts).where(drafts.c.conversation.in_(ids)))


async def _check_folder(connection: AsyncConnection, user: str, folder: str | None) -> None:
    if folder is None:
        return
    there = select(folders.c.id).where(folders.c.id == folder, folders.c.user == user)
    if await connection.scalar(there) is None:
        raise BadRequest("There is no such folder.", code="unknown_folder", param="folder")


async def _owned(connection: AsyncConnection, user: str, id: str, *, deleted: bool = False) -> Row[Any]:
    row = (await connection.execute(_one(id, deleted=deleted))).first()
    if row is None or row.user != user:
        raise NotFound("There is no such conversation.")
    return row


def _one(id: str, *, deleted: bool) -> Any:
    found = select(*_COLUMNS, conversations.c.user).where(conversations.c.id == id)
    return found if deleted else found.where(conversations.c.deleted == 0)


def _change(id: str) -> Update:
    return update(conversations).where(conversations.c.id == id)


def _values(conversation: Conversation) -> dict[str, object]:
    values: dict[str, object] = {name: getattr(conversation, name) for name in Conversation.__struct_fields__}
    words = folded(conversation.title)
    return values | {
        "tags": json(conversation.tags),
        "options": json(conversation.options),
        "title_words": f" {words} " if words else "",
    }


def _conversation(row: Row[Any]) -> Conversation:
    values = dict(zip(Conversation.__struct_fields__, row, strict=False))
    options = values["options"]
    values["tags"] = () if values["tags"] == "[]" else _tags(values["tags"])
    values["options"] = GenerationOptions() if options == _NO_OPTIONS else _options(options)
    return Conversation(**values)
