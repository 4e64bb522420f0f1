"""The conversations of a user, as lists show them. Their messages are in `messages.py`.

Every method takes the user; the conversations of other users do not exist for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy import Row, Update, delete, func, insert, select, tuple_, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from duologue.errors import BadRequest, NotFound
from duologue.store.database import Database
from duologue.store.schema.locking import held, inserted
from duologue.store.schema.repeating import repeated
from duologue.store.schema.rows import json
from duologue.store.schema.tables import conversations, drafts, folders, messages
from duologue.store.search.tokenizer import folded
from duologue.values.conversations import Conversation, GenerationOptions

MOST_PINNED = 1000
PURGE_BATCH = 20
"""Conversations purged in one transaction. Few, because writers wait for it."""
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

    @repeated
    async def create(
        self, user: str, conversation: Conversation, *, within: AsyncConnection | None = None
    ) -> Conversation:
        """Store a new conversation; times of 0 become the present time. Idempotent by id. Raises BadRequest `id_taken` when
        the id is another user's, `unknown_folder`."""
        now = self._now()
        new = msgspec.structs.replace(
            conversation, created=conversation.created or now, updated=conversation.updated or now
        )
        async with self._database.writing(within) as connection:
            row = (await connection.execute(_one(new.id, deleted=True))).first()
            if row is None:
                await _check_folder(connection, user, new.folder)
                values = _values(new) | {"user": user}
                if (await connection.execute(inserted(connection, conversations, values))).rowcount:
                    return new
                # Another gateway has just stored it.
                row = (await connection.execute(_one(new.id, deleted=True))).one()
            if row.user != user:
                raise _id_taken()
            return _conversation(row)

    async def create_all(
        self, user: str, new: Sequence[Conversation], *, within: AsyncConnection | None = None
    ) -> None:
        """Store new conversations at once, in this order; times of 0 become the present time. The folders are the user's. Raises
        BadRequest `id_taken` when one exists; then none is stored."""
        if not new:
            return
        now = self._now()
        values = [
            _values(one) | {"user": user, "created": one.created or now, "updated": one.updated or now}
            for one in new
        ]
        async with self._database.writing(within) as connection:
            ids = [one.id for one in new]
            there = select(conversations.c.id).where(conversations.c.id.in_(ids)).limit(1)
            if len(set(ids)) < len(ids) or await connection.scalar(there) is not None:
                raise _id_taken()
            try:
                await connection.execute(insert(conversations), values)
            except IntegrityError:
                # Another gateway has just stored one, or deleted a folder. The transaction is undone; stored one by one, each says which.
                raise _id_taken() from None

    async def get(
        self, user: str, id: str, *, deleted: bool = False, within: AsyncConnection | None = None
    ) -> Conversation:
        """Raises NotFound, also for a deleted conversation unless `deleted` is true."""
        async with self._database.reading(within) as connection:
            return _conversation(await _owned(connection, user, id, deleted=deleted))

    async def hold(
        self, user: str, id: str, *, deleted: bool = False, within: AsyncConnection
    ) -> Conversation:
        """As `get`, and let no other gateway change the conversation or its tree until the transaction ends. Called before anything
        is read that the transaction then changes, or on which its changes depend."""
        return _conversation(await _owned(within, user, id, deleted=deleted, locked=True))

    async def owner(self, id: str) -> str | None:
        """The user of a conversation, also of a deleted one; None when it does not exist."""
        async with self._database.reading() as connection:
            return await connection.scalar(select(conversations.c.user).where(conversations.c.id == id))

    async def existing(self, ids: Sequence[str]) -> dict[str, tuple[str, bool]]:
        """Which of a few hundred ids at most are taken, each with its user and whether it is deleted."""
        c = conversations.c
        these = select(c.id, c.user, c.deleted).where(c.id.in_(ids))
        async with self._database.reading() as connection:
            return {row.id: (row.user, row.deleted > 0) for row in await connection.execute(these)}

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
        """The conversations, newest change first. Without `before`: all pinned ones, then `limit` of the others. `before`:
        (updated, id) of the last unpinned one of the page before, for the `limit` after it."""
        c = conversations.c
        these = select(*_COLUMNS).where(c.user == user, c.archived.is_(archived), c.deleted == 0)
        if folder is not None:
            these = these.where(c.folder == folder)
        if tag is not None:
            position = func.strpos if self._database.is_postgresql else func.instr
            # Quotes inside a tag are escaped in the JSON, so the quoted tag matches whole tags only.
            these = these.where(position(c.tags, json(tag)) > 0)
        these = these.order_by(c.updated.desc(), c.id.desc())
        others = these.where(c.pinned.is_(False)).limit(limit)
        async with self._database.reading() as connection:
            if before is not None:
                others = others.where(tuple_(c.updated, c.id) < tuple_(*before))
                return [_conversation(row) for row in await connection.execute(others)]
            pinned = await connection.execute(these.where(c.pinned.is_(True)).limit(MOST_PINNED))
            return [_conversation(row) for rows in (pinned, await connection.execute(others)) for row in rows]

    @repeated
    async def change(
        self, user: str, id: str, changes: Mapping[str, object], *, within: AsyncConnection | None = None
    ) -> Conversation:
        """Change some of CHANGEABLE; the position in the list stays. Raises NotFound, BadRequest `unknown_message` (a leaf)
        or `unknown_folder`, ValueError for another name."""
        if unknown := set(changes) - CHANGEABLE:
            raise ValueError(f"cannot be changed: {sorted(unknown)}")
        async with self._database.writing(within) as connection:
            old = _conversation(await _owned(connection, user, id, locked=True))
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

    @repeated
    async def delete(self, user: str, id: str) -> None:
        """Remove a conversation from every list; it can be restored until it is purged. Idempotent. Raises NotFound."""
        async with self._database.writing() as connection:
            row = await _owned(connection, user, id, deleted=True, locked=True)
            if not row.deleted:
                await connection.execute(_change(id).values(deleted=self._now()))

    @repeated
    async def restore(self, user: str, id: str) -> Conversation:
        """Restore a deleted conversation. Raises NotFound when it was purged."""
        async with self._database.writing() as connection:
            row = await _owned(connection, user, id, deleted=True, locked=True)
            await connection.execute(_change(id).values(deleted=0))
        return msgspec.structs.replace(_conversation(row), deleted=0)

    @repeated
    async def purge(self, older_than_ms: int) -> list[str]:
        """Delete permanently, with everything in them, a batch of the conversations deleted longer ago than that. Returns their
        ids; repeat until there are none."""
        c = conversations.c
        due = select(c.id).where(c.deleted > 0, c.deleted <= self._now() - older_than_ms).limit(PURGE_BATCH)
        async with self._database.writing() as connection:
            # One that another gateway restores at this moment is not due any more once the lock is there.
            ids = list((await connection.scalars(due.with_for_update())).all())
            await self.forget(ids, within=connection)
        return ids

    async def forget(self, ids: list[str], *, within: AsyncConnection | None = None) -> None:
        """Delete conversations permanently, with their messages, runs, approvals, pending messages and drafts."""
        if ids:
            async with self._database.writing(within) as connection:
                await connection.execute(delete(conversations).where(conversations.c.id.in_(ids)))
                await connection.execute(delete(drafts).where(drafts.c.conversation.in_(ids)))

    async def set_running(self, id: str, run: str | None, *, within: AsyncConnection | None = None) -> None:
        """Set the active run. `Runs.begin` and `Runs.end` do this themselves."""
        async with self._database.writing(within) as connection:
            await connection.execute(_change(id).values(running=run))

    async def titles(self, user: str, stem: str) -> frozenset[str]:
        """The titles of a user's conversations that begin with `stem`."""
        c = conversations.c
        these = select(c.title).where(
            c.user == user, c.deleted == 0, func.substr(c.title, 1, len(stem)) == stem
        )
        async with self._database.reading() as connection:
            return frozenset(await connection.scalars(these))

    async def tags(self, user: str) -> dict[str, int]:
        """Every tag of a user, with the number of conversations that have it."""
        c = conversations.c
        counts: dict[str, int] = {}
        async with self._database.reading() as connection:
            statement = select(c.tags).where(c.user == user, c.deleted == 0, c.tags != "[]")
            for tags in await connection.scalars(statement):
                for tag in _tags(tags):
                    counts[tag] = counts.get(tag, 0) + 1
        return dict(sorted(counts.items()))


def _id_taken() -> BadRequest:
    return BadRequest(
        "A conversation with this id exists already. Choose another id.", code="id_taken", param="id"
    )


async def check_leaf(connection: AsyncConnection, conversation: str, leaf: str | None) -> None:
    """Raises BadRequest `unknown_message` when `leaf` is not a row of the conversation."""
    if leaf is None:
        return
    statement = select(messages.c.sequence).where(
        messages.c.conversation == conversation, messages.c.id == leaf
    )
    if await connection.scalar(statement) is None:
        raise BadRequest(
            "There is no such message in this conversation.", code="unknown_message", param="leaf"
        )


async def _check_folder(connection: AsyncConnection, user: str, folder: str | None) -> None:
    if folder is None:
        return
    statement = select(folders.c.id).where(folders.c.id == folder, folders.c.user == user)
    # Kept until the transaction ends: another gateway may just be deleting it.
    statement = statement.with_for_update(read=True, key_share=True)
    if await connection.scalar(statement) is None:
        raise BadRequest("There is no such folder.", code="unknown_folder", param="folder")


async def _owned(
    connection: AsyncConnection, user: str, id: str, *, deleted: bool = False, locked: bool = False
) -> Row[Any]:
    one = _one(id, deleted=deleted)
    row = (await connection.execute(held(one) if locked else one)).first()
    if row is None or row.user != user:
        raise NotFound("There is no such conversation.")
    return row


def _one(id: str, *, deleted: bool) -> Any:
    statement = select(*_COLUMNS, conversations.c.user).where(conversations.c.id == id)
    return statement if deleted else statement.where(conversations.c.deleted == 0)


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
