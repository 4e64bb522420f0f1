"""The messages (rows) of conversations. Each method is one transaction and raises Unavailable as the database does.

With a row, its words for search and the files it names are written. Callers check the owner first, with `Conversations.get`, or with
`Conversations.hold` where they read the tree to change it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

import msgspec
from sqlalchemy import bindparam, delete, insert, literal, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from duologue.errors import BadRequest, NotFound
from duologue.store.conversations import check_leaf
from duologue.store.database import Database
from duologue.store.schema import rows
from duologue.store.schema.locking import held
from duologue.store.schema.repeating import repeated
from duologue.store.schema.tables import conversations, message_blobs, messages
from duologue.store.search import index
from duologue.store.search.tokenizer import folded
from duologue.values.conversations import StoredMessage

BATCH = 500
"""Most ids in one statement."""
_SELECT = select(*rows.COLUMNS)
_INSERT = insert(messages)
_SAVE = update(messages).where(messages.c.sequence == bindparam("at"))
_HELD = held(
    select(messages.c.conversation, messages.c.id, messages.c.sequence)
    .where(
        messages.c.conversation.in_(bindparam("of", expanding=True)),
        messages.c.id.in_(bindparam("ids", expanding=True)),
    )
    .order_by(messages.c.sequence)
)
_MOVE = (
    update(messages)
    .where(messages.c.conversation == bindparam("in_conversation"), messages.c.id == bindparam("with_id"))
    .values(parent=bindparam("new_parent"))
)


class Messages:
    """`now` gives milliseconds since 1970 (UTC)."""

    def __init__(self, database: Database, now: Callable[[], int]) -> None:
        self._database = database
        self._now = now

    @repeated
    async def add(
        self,
        new: Sequence[StoredMessage],
        *,
        leaf: str | None = None,
        touch: bool = True,
        within: AsyncConnection | None = None,
    ) -> tuple[StoredMessage, ...]:
        """Store new rows of one conversation, parents before children. Returns them with their sequence, and with `created` set
        where it was 0. Idempotent by id. The conversation's leaf becomes `leaf` unless that is None, and its `updated` the
        present time unless `touch` is false. Raises NotFound (the conversation), BadRequest
        `unknown_parent`, `id_taken` (there already, under another parent), `unknown_message` (the leaf)."""
        if not new:
            return ()
        conversation = new[0].conversation
        assert all(row.conversation == conversation for row in new), "rows of one conversation"
        async with self._database.writing(within) as connection:
            user = await _owner(connection, conversation, locked=True)
            there = await _by_id(connection, conversation, {row.id for row in new})
            fresh = await _fresh(connection, conversation, new, there, self._now())
            if fresh:
                kept = await _insert(connection, user, fresh)
                there |= {row.id: row for row in kept}
            await check_leaf(connection, conversation, leaf)
            changes: dict[str, object] = {"leaf": leaf} if leaf is not None else {}
            if touch and fresh:
                changes["updated"] = self._now()
            if changes:
                await connection.execute(
                    update(conversations).where(conversations.c.id == conversation).values(changes)
                )
        return tuple(there[row.id] for row in new)

    async def copy(
        self,
        new: Sequence[StoredMessage],
        *,
        leaf: str | None = None,
        within: AsyncConnection | None = None,
    ) -> tuple[StoredMessage, ...]:
        """As `add`, for rows copied from elsewhere: the conversation keeps its position in the list."""
        return await self.add(new, leaf=leaf, touch=False, within=within)

    async def copy_all(
        self, user: str, new: Sequence[StoredMessage], *, within: AsyncConnection | None = None
    ) -> None:
        """As `copy`, for all rows of several new conversations of one user, in this order."""
        if not new:
            return
        by_conversation = _by_conversation(new)
        async with self._database.writing(within) as connection:
            now = self._now()
            fresh = [row for _, some in by_conversation for row in _without_known(some, {}, {}, now)]
            await _insert(connection, user, fresh)

    @repeated
    async def save(self, *changed: StoredMessage, within: AsyncConnection | None = None) -> None:
        """Update existing rows, except for parent, sequence and `created`. A running row is not indexed for search yet. Raises
        NotFound when one no longer exists; then none is written."""
        if not changed:
            return
        async with self._database.writing(within) as connection:
            there = await _held_sequences(connection, changed)
            kept = [msgspec.structs.replace(row, sequence=there[row.conversation, row.id]) for row in changed]
            await connection.execute(_SAVE, [rows.columns(row) | {"at": row.sequence} for row in kept])
            for conversation, ended in _by_conversation(row for row in kept if row.status != "running"):
                sequences = [row.sequence for row in ended]
                await connection.execute(delete(message_blobs).where(message_blobs.c.message.in_(sequences)))
                await _attach(connection, await _owner(connection, conversation), ended)

    async def get(
        self, conversation: str, id: str, *, within: AsyncConnection | None = None
    ) -> StoredMessage:
        """Raises NotFound."""
        one = _SELECT.where(messages.c.conversation == conversation, messages.c.id == id)
        async with self._database.reading(within) as connection:
            row = (await connection.execute(one)).first()
        if row is None:
            raise NotFound("There is no such message.")
        return rows.message(row)

    async def all(
        self, conversation: str, *, within: AsyncConnection | None = None
    ) -> tuple[StoredMessage, ...]:
        """The whole tree, by sequence."""
        these = _SELECT.where(messages.c.conversation == conversation).order_by(messages.c.sequence)
        async with self._database.reading(within) as connection:
            results = (await connection.execute(these)).all()
        return tuple(map(rows.message, results))

    async def path(
        self, conversation: str, leaf: str, *, within: AsyncConnection | None = None
    ) -> tuple[StoredMessage, ...]:
        """From the row without a parent down to `leaf`. Raises NotFound."""
        async with self._database.reading(within) as connection:
            results = (await connection.execute(_PATH, {"conversation": conversation, "leaf": leaf})).all()
        if not results:
            raise NotFound("There is no such message.")
        return tuple(map(rows.message, results))

    async def unfinished(
        self, run: str | None = None, *, within: AsyncConnection | None = None
    ) -> tuple[StoredMessage, ...]:
        """Every running row, or those of a run, by sequence."""
        these = _SELECT.where(messages.c.status == literal("running", literal_execute=True))
        if run is not None:
            these = these.where(messages.c.run == run)
        async with self._database.reading(within) as connection:
            results = (await connection.execute(these.order_by(messages.c.sequence))).all()
        return tuple(map(rows.message, results))

    async def delete(
        self, conversation: str, ids: Collection[str], *, within: AsyncConnection | None = None
    ) -> tuple[str, ...]:
        """Delete rows with everything that belongs to them; unknown ids are ignored. A deleted leaf moves up to the nearest row
        that stays. Returns the deleted ids. Raises BadRequest `has_children` when a remaining row would lose its parent."""
        async with self._database.writing(within) as connection:
            parents = await _parents(connection, conversation)
            gone = [id for id in ids if id in parents]
            leaving = set(gone)
            if any(parent in leaving and id not in leaving for id, parent in parents.items()):
                raise BadRequest(
                    "Other messages follow this one. Delete them with it, or move them.", code="has_children"
                )
            for some in _batches(gone):
                of_these = (messages.c.conversation == conversation) & messages.c.id.in_(some)
                await connection.execute(delete(messages).where(of_these))
            if gone:
                await _raise_leaf(connection, conversation, parents, leaving)
        return tuple(gone)

    async def move(
        self, conversation: str, ids: Collection[str], to: str, *, within: AsyncConnection | None = None
    ) -> None:
        """Move rows to another conversation of the same user, with their files and their words for search. Each row's parent
        moves with it or is there already, and no row may stay behind without its parent."""
        async with self._database.writing(within) as connection:
            for some in _batches(ids):
                of_these = (messages.c.conversation == conversation) & messages.c.id.in_(some)
                await connection.execute(update(messages).where(of_these).values(conversation=to))

    async def reparent(
        self, conversation: str, parents: Mapping[str, str | None], *, within: AsyncConnection | None = None
    ) -> None:
        """Move rows to other parents, each with everything below it. Raises NotFound (a row), BadRequest `unknown_parent`, `cycle`."""
        async with self._database.writing(within) as connection:
            tree = await _parents(connection, conversation)
            if not parents.keys() <= tree.keys():
                raise NotFound("There is no such message.")
            tree |= parents
            for id, parent in parents.items():
                if parent is not None and parent not in tree:
                    raise _unknown_parent()
                seen = {id}
                while parent is not None:
                    if parent in seen:
                        raise BadRequest("A message cannot come below itself.", code="cycle")
                    seen.add(parent)
                    parent = tree[parent]
            moves = [
                {"in_conversation": conversation, "with_id": id, "new_parent": parent}
                for id, parent in parents.items()
            ]
            if moves:
                await connection.execute(_MOVE, moves)


_up = (
    select(
        messages.c.sequence.label("sequence"), messages.c.parent.label("parent"), literal(0).label("height")
    )
    .where(messages.c.conversation == bindparam("conversation"), messages.c.id == bindparam("leaf"))
    .cte("up", recursive=True)
)
_up = _up.union_all(
    select(messages.c.sequence, messages.c.parent, _up.c.height + 1).join(
        _up, (messages.c.conversation == bindparam("conversation")) & (messages.c.id == _up.c.parent)
    )
)
_PATH = _SELECT.join(_up, _up.c.sequence == messages.c.sequence).order_by(_up.c.height.desc())


def _unknown_parent() -> BadRequest:
    return BadRequest(
        "The message this one follows is not in this conversation.", code="unknown_parent", param="parent"
    )


async def _owner(connection: AsyncConnection, conversation: str, *, locked: bool = False) -> str:
    owner = select(conversations.c.user).where(conversations.c.id == conversation)
    if (user := await connection.scalar(held(owner) if locked else owner)) is None:
        raise NotFound("There is no such conversation.")
    return str(user)


async def _by_id(
    connection: AsyncConnection, conversation: str, ids: Iterable[str]
) -> dict[str, StoredMessage]:
    by_id: dict[str, StoredMessage] = {}
    for some in _batches(ids):
        these = _SELECT.where(messages.c.conversation == conversation, messages.c.id.in_(some))
        by_id |= {row.id: rows.message(row) for row in await connection.execute(these)}
    return by_id


async def _sequences(connection: AsyncConnection, conversation: str, ids: Iterable[str]) -> dict[str, int]:
    sequences: dict[str, int] = {}
    for some in _batches(ids):
        these = select(messages.c.id, messages.c.sequence).where(
            messages.c.conversation == conversation, messages.c.id.in_(some)
        )
        sequences |= {row.id: row.sequence for row in await connection.execute(these)}
    return sequences


async def _held_sequences(
    connection: AsyncConnection, changed: Sequence[StoredMessage]
) -> dict[tuple[str, str], int]:
    """The sequences of rows by conversation and id, kept until the transaction ends. Raises NotFound when one no longer exists."""
    keys = sorted({(row.conversation, row.id) for row in changed})
    there: dict[tuple[str, str], int] = {}
    for start in range(0, len(keys), BATCH):
        some = keys[start : start + BATCH]
        # By lists and not by pairs: SQLite reads the whole table for pairs.
        named = {"of": sorted({conversation for conversation, _ in some}), "ids": [id for _, id in some]}
        for row in await connection.execute(_HELD, named):
            there[row.conversation, row.id] = row.sequence
    if not there.keys() >= set(keys):
        raise NotFound("The message is there no more.", code="message_gone")
    return there


async def _parents(connection: AsyncConnection, conversation: str) -> dict[str, str | None]:
    tree = select(messages.c.id, messages.c.parent).where(messages.c.conversation == conversation)
    return {row.id: row.parent for row in await connection.execute(tree)}


async def _fresh(
    connection: AsyncConnection,
    conversation: str,
    new: Sequence[StoredMessage],
    there: Mapping[str, StoredMessage],
    now: int,
) -> list[StoredMessage]:
    """Those of `new` that do not exist yet, with `created` set. Raises as `Messages.add`."""
    known = set(there)
    parents = {row.parent for row in new if row.parent is not None} - known - {row.id for row in new}
    known |= set(await _sequences(connection, conversation, parents))
    return _without_known(new, there, known, now)


def _without_known(
    new: Sequence[StoredMessage], there: Mapping[str, StoredMessage], known: Collection[str], now: int
) -> list[StoredMessage]:
    """Those of `new` that are not `there`, with `created` set. `known`: the rows that may be parents."""
    known = set(known)
    fresh: dict[str, StoredMessage] = {}
    for row in new:
        if (kept := there.get(row.id) or fresh.get(row.id)) is not None:
            if kept.parent != row.parent:
                raise BadRequest(
                    "A message with this id exists already. Choose another id.", code="id_taken", param="id"
                )
            continue
        if row.parent is not None and row.parent not in known:
            raise _unknown_parent()
        known.add(row.id)
        fresh[row.id] = msgspec.structs.replace(row, created=row.created or now)
    return list(fresh.values())


async def _insert(
    connection: AsyncConnection, user: str, fresh: Sequence[StoredMessage]
) -> list[StoredMessage]:
    """Write new rows. Returns them with their sequences."""
    values = [
        rows.columns(row)
        | {"conversation": row.conversation, "id": row.id, "parent": row.parent, "created": row.created}
        for row in fresh
    ]
    await connection.execute(_INSERT, values)
    of = {row.conversation for row in fresh}
    if len(of) == 1:
        found = await _sequences(connection, fresh[0].conversation, [row.id for row in fresh])
        sequences = {(fresh[0].conversation, id): sequence for id, sequence in found.items()}
    else:
        # Of new conversations, so these are all of their rows.
        these = select(messages.c.conversation, messages.c.id, messages.c.sequence)
        sequences = {
            (conversation, id): sequence
            for conversation, id, sequence in await connection.execute(
                these.where(messages.c.conversation.in_(of))
            )
        }
    kept = [msgspec.structs.replace(row, sequence=sequences[row.conversation, row.id]) for row in fresh]
    await _attach(connection, user, kept)
    return kept


async def _attach(connection: AsyncConnection, user: str, kept: Iterable[StoredMessage]) -> None:
    """Write the search words and the files of rows. A running row gets its words when it has ended."""
    words: list[tuple[int, str]] = []
    named: list[dict[str, object]] = []
    for row in kept:
        if row.status != "running" and row.role != "tool":
            words.append((row.sequence, folded(rows.searched(row))))
        named += [{"message": row.sequence, "hash": hash} for hash in sorted(rows.files(row.content))]
    await index.index(connection, user, words)
    if named:
        await connection.execute(insert(message_blobs), named)


async def _raise_leaf(
    connection: AsyncConnection, conversation: str, parents: Mapping[str, str | None], gone: Collection[str]
) -> None:
    kept = select(conversations.c.leaf).where(conversations.c.id == conversation)
    leaf = old = await connection.scalar(kept)
    while leaf is not None and leaf in gone:
        leaf = parents[leaf]
    if leaf != old:
        await connection.execute(
            update(conversations).where(conversations.c.id == conversation).values(leaf=leaf)
        )


def _by_conversation(changed: Iterable[StoredMessage]) -> Iterable[tuple[str, list[StoredMessage]]]:
    by_conversation: dict[str, list[StoredMessage]] = {}
    for row in changed:
        by_conversation.setdefault(row.conversation, []).append(row)
    return by_conversation.items()


def _batches(ids: Iterable[str]) -> Iterator[list[str]]:
    every = list(ids)
    return (every[start : start + BATCH] for start in range(0, len(every), BATCH))
