"""Changes to a conversation's tree without a model: edits in place, the system message, deletions, forks, branches.

Used by the API. Each is one transaction and idempotent. Rows of a running reply cannot be changed.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from duologue.conversations.history.title_rules import title_stem, untaken
from duologue.conversations.history.tree import RowCounts, Tree
from duologue.errors import BadRequest, Busy, NotFound
from duologue.store.schema.repeating import repeated
from duologue.values.conversations import Content, Conversation, StoredMessage, TextContent
from duologue.values.runs import ListChanged, ListEvent

if TYPE_CHECKING:
    from duologue.store.stores import Store, Stores

COPIES = uuid.UUID("5f6b1a0e-3a0b-4c57-9f0a-4a2c8f7d6b11")
"""The namespace for the ids of a fork's rows. They are derived from the fork's id and the original ids, so that a repeated fork
gives the same rows."""


BINS = uuid.UUID("0c0b2c3e-6f53-4d0e-8a43-6f0d9a3e51b7")
"""The namespace for the ids of bins. A bin is a deleted conversation that holds the rows of one deletion, so that they can be
restored as long as a deleted conversation can, with their files, and are removed with it."""


class Deleted(Struct, frozen=True):
    """The ids of the deleted rows, and the conversation's leaf now."""

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
        """Create a conversation, with a system message if `system` has text. Returns it, and whether it is new; idempotent by
        id. Raises BadRequest(code="id_taken"), and BadRequest for an unknown folder."""
        known = await self._stores.of(new.id).conversations.owner(new.id) is not None
        kept = await self._stores.create(user, new)
        if system and kept.leaf is None and not kept.deleted:
            await self.put_system(user, new.id, None, system)
            kept = await self._stores.of(new.id).conversations.get(user, new.id)
        if not known:
            self._publish(user, ListChanged(new.id))
        return kept, not known

    @repeated
    async def edit(
        self, user: str, conversation: str, message: str, content: Sequence[Content]
    ) -> StoredMessage:
        """Replace the content of a row, and set its `edited`. The rows below it stay.

        Raises NotFound, BadRequest for a tool's row, Busy for a row of the running reply.
        """
        store = self._stores.of(conversation)
        async with store.writing() as connection:
            kept = await store.conversations.hold(user, conversation, within=connection)
            row = await store.messages.get(conversation, message, within=connection)
            if row.role == "tool":
                raise BadRequest("The result of a tool cannot be edited.", code="not_editable")
            _check_not_running(kept, [row] if row.role != "user" else [])
            if row.content == tuple(content):
                return row
            row = msgspec.structs.replace(row, content=tuple(content), edited=self._now())
            await store.messages.save(row, within=connection)
        self._publish(user, ListChanged(conversation))
        return row

    @repeated
    async def put_system(
        self, user: str, conversation: str, id: str | None, text: str
    ) -> StoredMessage | None:
        """Set the system message, above all other rows; an empty text removes it. Returns its row.

        Raises NotFound, and Busy while a reply is running: its turns would have different instructions.
        """
        store = self._stores.of(conversation)
        async with store.writing() as connection:
            kept = await store.conversations.hold(user, conversation, within=connection)
            rows = await store.messages.all(conversation, within=connection)
            row = next((row for row in rows if _is_system(row)), None)
            if text == (row.text if row is not None else ""):
                return row
            _check_not_running(kept, rows)
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
                await _remove_row(store, rows, row, connection)
                row = None
        self._publish(user, ListChanged(conversation))
        return row

    async def first_parent(self, conversation: str) -> str | None:
        """The parent of first messages: the id of the system message; None without one."""
        rows = await self._stores.of(conversation).messages.all(conversation)
        return next((row.id for row in rows if _is_system(row)), None)

    async def count_deletion(self, user: str, conversation: str, message: str) -> RowCounts:
        """The number of rows that deleting this row would delete, itself included. Raises NotFound."""
        store = self._stores.of(conversation)
        async with store.reading() as connection:
            await store.conversations.get(user, conversation, within=connection)
            await store.messages.get(conversation, message, within=connection)
            rows = await store.messages.all(conversation, within=connection)
        return Tree(rows).counts(row.id for row in _deleted_rows(rows, message))

    @repeated
    async def delete(self, user: str, conversation: str, message: str) -> Deleted:
        """Delete a row and everything below it; `restore` undoes that for a while. A summary and the system message are deleted
        alone and for good, and the rows below move up. The conversation's leaf becomes the newest row nearby. Idempotent.

        Raises NotFound (the conversation), Busy for rows of the running reply.
        """
        store = self._stores.of(conversation)
        async with store.writing() as connection:
            kept = await store.conversations.hold(user, conversation, within=connection)
            rows = await store.messages.all(conversation, within=connection)
            row = next((row for row in rows if row.id == message), None)
            if row is None:
                return Deleted((), kept.leaf)
            doomed = _deleted_rows(rows, message)
            _check_not_running(kept, rows if _is_system(row) else doomed)
            leaf = kept.leaf
            if _is_removed_alone(row):
                leaf = row.parent if leaf == row.id else leaf
                await _remove_row(store, rows, row, connection)
            else:
                ids = [row.id for row in doomed]
                leaf = Tree(rows).leaf_without(message) if leaf in ids else leaf
                await self._put_into_bin(store, user, kept, row, ids, connection)
            changed = await store.conversations.change(user, conversation, {"leaf": leaf}, within=connection)
        self._publish(user, ListChanged(conversation))
        return Deleted(tuple(row.id for row in doomed), changed.leaf)

    async def _put_into_bin(
        self,
        store: Store,
        user: str,
        kept: Conversation,
        root: StoredMessage,
        ids: Sequence[str],
        within: Any,
    ) -> None:
        """Move a branch out of its conversation. The bin's leaf is the conversation's, if that was on the branch."""
        id = _bin_id(kept.id, root.id)
        leaf = kept.leaf if kept.leaf in ids else None
        await store.conversations.forget([id], within=within)
        bin = Conversation(id, leaf=leaf, forked_from=kept.id, temporary=kept.temporary, deleted=self._now())
        await store.conversations.create(user, bin, within=within)
        if root.parent is not None:
            # Stands for the row that the branch was below, as a parent is always in the same conversation.
            stand_in = StoredMessage(root.parent, id, None, "system")
            await store.messages.add([stand_in], touch=False, within=within)
        await store.messages.move(kept.id, ids, id, within=within)

    @repeated
    async def restore(self, user: str, conversation: str, message: str) -> Conversation:
        """Undo the deletion of a row and of everything below it, and show that branch if it was shown. Idempotent.

        Raises NotFound: the conversation; or `message_gone` when too much time has passed, or when the row above is gone."""
        store = self._stores.of(conversation)
        bin_id = _bin_id(conversation, message)
        async with store.writing() as connection:
            kept = await store.conversations.hold(user, conversation, within=connection)
            present = {row.id for row in await store.messages.all(conversation, within=connection)}
            if message in present:
                return kept
            rows = {row.id: row for row in await store.messages.all(bin_id, within=connection)}
            root = rows.get(message)
            if root is None or (root.parent is not None and root.parent not in present):
                raise NotFound("The message can no longer be restored.", code="message_gone")
            bin = await store.conversations.hold(user, bin_id, deleted=True, within=connection)
            ids = [id for id in rows if id != root.parent]
            await store.messages.move(bin_id, ids, conversation, within=connection)
            await store.conversations.forget([bin_id], within=connection)
            if bin.leaf is not None and kept.running is None:
                kept = await store.conversations.change(
                    user, conversation, {"leaf": bin.leaf}, within=connection
                )
        self._publish(user, ListChanged(conversation))
        return kept

    async def fork(
        self, user: str, conversation: str, id: str, message: str, title: str = ""
    ) -> Conversation:
        """A new conversation `id` with a copy of the path up to `message`: new ids, shared files. Idempotent by `id`. Without a
        `title` it has the original's, with a number. The fork of a temporary conversation is temporary.

        Raises NotFound, Busy when a running reply is on the path, BadRequest(code="id_taken").
        """
        store = self._stores.of(conversation)
        source = await store.conversations.get(user, conversation)
        path = await store.messages.path(conversation, message)
        _check_not_running(source, [row for row in path if row.status == "running"])
        taken = await store.conversations.titles(user, title_stem(source.title))
        fork = await self._stores.create(
            user,
            Conversation(
                id,
                title or untaken(source.title, taken),
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
        if fork.leaf is None:  # also when an earlier attempt was interrupted here
            copies = _copies(path, id)
            await self._stores.of(id).messages.copy(copies, leaf=copies[-1].id)
            fork = await self._stores.of(id).conversations.get(user, id)
        self._publish(user, ListChanged(id))
        return fork

    @repeated
    async def change(self, user: str, conversation: str, changes: Mapping[str, object]) -> Conversation:
        """Change the properties of a conversation. A `leaf` switches the branch, to the newest leaf at or below it, also while a
        reply is running. Raises NotFound, BadRequest."""
        store = self._stores.of(conversation)
        changes = dict(changes)
        if "title" in changes:
            changes["title_source"] = "user"
        async with store.writing() as connection:
            if isinstance(leaf := changes.get("leaf"), str):
                await store.conversations.hold(user, conversation, within=connection)
                tree = Tree(await store.messages.all(conversation, within=connection))
                if leaf in tree:  # otherwise the store raises
                    changes["leaf"] = tree.newest_leaf(leaf)
            kept = await store.conversations.change(user, conversation, changes, within=connection)
        self._publish(user, ListChanged(conversation))
        return kept


def _check_not_running(conversation: Conversation, rows: Iterable[StoredMessage]) -> None:
    """Raises Busy when one of these rows belongs to the running reply."""
    running = conversation.running
    if any(row.status == "running" or (running is not None and row.run == running) for row in rows):
        raise Busy(
            "A reply is being written here. Stop it, or wait until it is done.",
            code="run_in_progress",
            status=409,
        )


async def _remove_row(store: Store, rows: Iterable[StoredMessage], row: StoredMessage, within: Any) -> None:
    """Delete a single row, in the transaction `within`. The rows below it move up."""
    children = [other.id for other in rows if other.parent == row.id]
    await store.messages.reparent(row.conversation, dict.fromkeys(children, row.parent), within=within)
    await store.messages.delete(row.conversation, [row.id], within=within)


def _bin_id(conversation: str, message: str) -> str:
    return uuid.uuid5(BINS, f"{conversation} {message}").hex


def _is_system(row: StoredMessage) -> bool:
    return row.role == "system" and row.parent is None and row.kind == "message"


def _is_removed_alone(row: StoredMessage) -> bool:
    """Whether the rows below a deleted row stay."""
    return row.kind == "summary" or _is_system(row)


def _deleted_rows(rows: Sequence[StoredMessage], message: str) -> list[StoredMessage]:
    by_id = {row.id: row for row in rows}
    if _is_removed_alone(by_id[message]):
        return [by_id[message]]
    return [by_id[message], *(by_id[node.id] for node in Tree(rows).descendants(message))]


def _copies(path: Sequence[StoredMessage], conversation: str) -> list[StoredMessage]:
    """Copies of the rows of a path for another conversation, without the runs that wrote them."""
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
