"""Changes of a conversation's tree that need no model: edits in place, the system message, deleting, forks, branches.

Each is one transaction, and the same again changes nothing more. What a running reply is writing is left alone. Knows
no wire and no run.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from duologue.conversations.history.tree import RowCounts, Tree
from duologue.errors import BadRequest, Busy
from duologue.values.conversations import Content, Conversation, StoredMessage, TextContent
from duologue.values.runs import ListChanged, ListEvent

if TYPE_CHECKING:
    from duologue.store.stores import Store, Stores

COPIES = uuid.UUID("5f6b1a0e-3a0b-4c57-9f0a-4a2c8f7d6b11")
"""Ids of a fork's rows are made from this, the fork's id and the rows': the same fork again is the same rows."""


class Deleted(Struct, frozen=True):
    """The rows that went, and where the conversation stands now."""

    deleted: tuple[str, ...]
    leaf: str | None


class Editing:
    """`now` gives milliseconds since 1970 (UTC)."""

    def __init__(
        self,
        stores: Stores,
        *,
        now: Callable[[], int],
        publish: Callable[[str, ListEvent], None] = lambda *_: None,
    ) -> None:
        self._stores = stores
        self._now = now
        self._publish = publish

    async def begin(self, user: str, new: Conversation, system: str = "") -> tuple[Conversation, bool]:
        """A new conversation, with a system message where there is text for one, and whether it is new: the same id
        again is the one that is there. Raises BadRequest(code="id_taken"), and for an unknown folder."""
        known = await self._stores.of(new.id).conversations.owner(new.id) is not None
        kept = await self._stores.create(user, new)
        if system and kept.leaf is None and not kept.deleted:
            await self.put_system(user, new.id, None, system)
            kept = await self._stores.of(new.id).conversations.get(user, new.id)
        if not known:
            self._publish(user, ListChanged(new.id))
        return kept, not known

    async def edit(
        self, user: str, conversation: str, message: str, content: Sequence[Content]
    ) -> StoredMessage:
        """Another content in the same row; what follows it stays. Its `edited` tells when.

        Raises NotFound, BadRequest for a tool's row, Busy for a row of the running reply.
        """
        store = self._stores.of(conversation)
        async with store.writing() as connection:
            kept = await store.conversations.get(user, conversation, within=connection)
            row = await store.messages.get(conversation, message, within=connection)
            if row.role == "tool":
                raise BadRequest("What a tool answered cannot be edited.", code="not_editable")
            _free(kept, [row] if row.role != "user" else [])
            if row.content == tuple(content):
                return row
            row = msgspec.structs.replace(row, content=tuple(content), edited=self._now())
            await store.messages.save(row, within=connection)
        self._publish(user, ListChanged(conversation))
        return row

    async def put_system(
        self, user: str, conversation: str, id: str | None, text: str
    ) -> StoredMessage | None:
        """The system message, above everything else; without text there is none. Gives its row.

        Raises NotFound, Busy while a reply is running: it would be of two minds.
        """
        store = self._stores.of(conversation)
        async with store.writing() as connection:
            kept = await store.conversations.get(user, conversation, within=connection)
            rows = await store.messages.all(conversation, within=connection)
            row = next((row for row in rows if _is_system(row)), None)
            if text == (row.text if row is not None else ""):
                return row
            _free(kept, rows)
            content = (TextContent(text),)
            if row is None:
                new = StoredMessage(id or uuid.uuid4().hex, conversation, None, "system", content)
                first = [other.id for other in rows if other.parent is None]
                (row,) = await store.messages.add(
                    [new], leaf=None if kept.leaf else new.id, touch=False, within=connection
                )
                await store.messages.reparent(conversation, dict.fromkeys(first, row.id), within=connection)
            elif text:
                row = msgspec.structs.replace(row, content=content, edited=self._now())
                await store.messages.save(row, within=connection)
            else:
                await _take_out(store, rows, row, connection)
                row = None
        self._publish(user, ListChanged(conversation))
        return row

    async def beginning(self, conversation: str) -> str | None:
        """The row that first messages are below: the system message; None where there is none."""
        rows = await self._stores.of(conversation).messages.all(conversation)
        return next((row.id for row in rows if _is_system(row)), None)

    async def deletion(self, user: str, conversation: str, message: str) -> RowCounts:
        """What deleting the row would take along, itself among it. Raises NotFound."""
        store = self._stores.of(conversation)
        async with store.reading() as connection:
            await store.conversations.get(user, conversation, within=connection)
            await store.messages.get(conversation, message, within=connection)
            rows = await store.messages.all(conversation, within=connection)
        return Tree(rows).counts(row.id for row in _going(rows, message))

    async def delete(self, user: str, conversation: str, message: str) -> Deleted:
        """The row and all below it go; of a summary and of the system message only the row itself, and what is below
        moves up. The conversation then stands at the newest row near it. A row that is gone already is no error.

        Raises NotFound (the conversation), Busy for rows of the running reply.
        """
        store = self._stores.of(conversation)
        async with store.writing() as connection:
            kept = await store.conversations.get(user, conversation, within=connection)
            rows = await store.messages.all(conversation, within=connection)
            row = next((row for row in rows if row.id == message), None)
            if row is None:
                return Deleted((), kept.leaf)
            going = _going(rows, message)
            _free(kept, rows if _is_system(row) else going)
            leaf = kept.leaf
            if _stands_alone(row):
                leaf = row.parent if leaf == row.id else leaf
                await _take_out(store, rows, row, connection)
            else:
                ids = [gone.id for gone in going]
                leaf = Tree(rows).left_by(message) if leaf in ids else leaf
                await store.messages.delete(conversation, ids, within=connection)
            changed = await store.conversations.change(user, conversation, {"leaf": leaf}, within=connection)
        self._publish(user, ListChanged(conversation))
        return Deleted(tuple(gone.id for gone in going), changed.leaf)

    async def fork(
        self, user: str, conversation: str, id: str, message: str, title: str = ""
    ) -> Conversation:
        """A new conversation `id` with a copy of the path up to `message`: rows under new ids, files shared. The same
        fork again is the one that is there. A temporary conversation's fork is temporary.

        Raises NotFound, Busy where the running reply is on the path, BadRequest(code="id_taken").
        """
        store = self._stores.of(conversation)
        source = await store.conversations.get(user, conversation)
        path = await store.messages.path(conversation, message)
        _free(source, [row for row in path if row.status == "running"])
        fork = await self._stores.create(
            user,
            Conversation(
                id,
                title or source.title,
                "user" if title else source.title_source,
                folder=source.folder,
                temporary=source.temporary,
                tags=source.tags,
                forked_from=conversation,
                options=source.options,
            ),
        )
        if fork.forked_from != conversation:
            raise BadRequest(
                "A conversation with this id exists already. Choose another id.", code="id_taken", param="id"
            )
        if fork.leaf is None:  # also of a fork that was broken off here
            copies = _copies(path, id)
            await self._stores.of(id).messages.copy(copies, leaf=copies[-1].id)
            fork = await self._stores.of(id).conversations.get(user, id)
        self._publish(user, ListChanged(id))
        return fork

    async def change(self, user: str, conversation: str, changes: Mapping[str, object]) -> Conversation:
        """Change what is said of a conversation. A `leaf` switches the branch, to the newest row at or below it; also
        while a reply is running. Raises NotFound, BadRequest."""
        store = self._stores.of(conversation)
        changes = dict(changes)
        if "title" in changes:
            changes["title_source"] = "user"
        async with store.writing() as connection:
            if isinstance(leaf := changes.get("leaf"), str):
                await store.conversations.get(user, conversation, within=connection)
                tree = Tree(await store.messages.all(conversation, within=connection))
                if leaf in tree:  # else the store says that it is not there
                    changes["leaf"] = tree.newest_leaf(leaf)
            kept = await store.conversations.change(user, conversation, changes, within=connection)
        self._publish(user, ListChanged(conversation))
        return kept


def _free(conversation: Conversation, rows: Iterable[StoredMessage]) -> None:
    """Raises Busy when the running reply writes in these rows."""
    running = conversation.running
    if any(row.status == "running" or (running is not None and row.run == running) for row in rows):
        raise Busy(
            "A reply is being written here. Stop it, or wait until it is done.",
            code="run_in_progress",
            status=409,
        )


async def _take_out(store: Store, rows: Iterable[StoredMessage], row: StoredMessage, within: Any) -> None:
    """Delete a row alone, in the transaction `within`; what is below it moves up."""
    children = [other.id for other in rows if other.parent == row.id]
    await store.messages.reparent(row.conversation, dict.fromkeys(children, row.parent), within=within)
    await store.messages.delete(row.conversation, [row.id], within=within)


def _is_system(row: StoredMessage) -> bool:
    return row.role == "system" and row.parent is None and row.kind == "message"


def _stands_alone(row: StoredMessage) -> bool:
    """Whether a row goes without what is below it."""
    return row.kind == "summary" or _is_system(row)


def _going(rows: Sequence[StoredMessage], message: str) -> list[StoredMessage]:
    by_id = {row.id: row for row in rows}
    if _stands_alone(by_id[message]):
        return [by_id[message]]
    return [by_id[message], *(by_id[node.id] for node in Tree(rows).descendants(message))]


def _copies(path: Sequence[StoredMessage], conversation: str) -> list[StoredMessage]:
    """The rows of a path once more, in another conversation; of the runs that wrote them they know nothing."""
    ids = {row.id: uuid.uuid5(COPIES, f"{conversation} {row.id}").hex for row in path}
    return [
        msgspec.structs.replace(
            row,
            id=ids[row.id],
            conversation=conversation,
            parent=ids[row.parent] if row.parent else None,
            sequence=0,
            run="",
        )
        for row in path
    ]
