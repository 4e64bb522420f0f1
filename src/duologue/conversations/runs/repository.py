"""What a run needs of the store, each in one transaction: begin, add rows, save, end.

Knows the store's nouns and no loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from duologue.conversations.runs.event_log import LogEntry
from duologue.errors import NotFound
from duologue.values.conversations import Approval, StoredMessage
from duologue.values.runs import Run

if TYPE_CHECKING:
    from duologue.store.approvals import StoredApproval
    from duologue.store.stores import Store, Stores


class RunRepository:
    """One database as runs use it. Every method raises Unavailable as the database does."""

    def __init__(self, store: Store) -> None:
        self.store = store

    async def begin(
        self,
        run: Run,
        user: str,
        request: bytes,
        *,
        added: Sequence[StoredMessage],
        leaf: str,
        saved: StoredMessage | None = None,
        title: str = "",
    ) -> tuple[StoredMessage, ...]:
        """Keep a run with the rows it begins with, and the row it goes on with. Gives the added rows as they are kept.
        Raises as `Messages.add` and `Runs.begin`; then nothing is kept."""
        async with self.store.writing() as connection:
            rows = await self.store.messages.add(added, leaf=leaf, within=connection) if added else ()
            if saved is not None:
                await self.store.messages.save(saved, within=connection)
            changes: dict[str, object] = {} if added else {"leaf": leaf}
            if title:
                changes |= {"title": title, "title_source": "first"}
            if changes:
                await self.store.conversations.change(user, run.conversation, changes, within=connection)
            for row in added:
                await self.store.pending.remove(run.conversation, row.id, within=connection)
            await self.store.runs.begin(run, user, request, within=connection)
        return rows

    async def add(self, rows: Sequence[StoredMessage]) -> tuple[StoredMessage, ...]:
        """Keep rows, the last of them the new leaf; what waited under their ids waits no more."""
        async with self.store.writing() as connection:
            for row in rows:
                if row.role == "user":
                    await self.store.pending.remove(row.conversation, row.id, within=connection)
            kept = await self.store.messages.add(rows, leaf=rows[-1].id, within=connection)
        return kept

    async def save(self, run: str, rows: Sequence[StoredMessage], entries: Sequence[LogEntry]) -> None:
        """Keep how rows stand, and what the log says, together. Raises NotFound when a row is there no more."""
        async with self.store.writing() as connection:
            await self.store.messages.save(*rows, within=connection)
            await self.store.runs.append(run, entries, within=connection)

    async def end(self, run: Run, rows: Sequence[StoredMessage], entries: Sequence[LogEntry]) -> None:
        """As `save`, and the run has ended."""
        async with self.store.writing() as connection:
            await self.store.messages.save(*rows, within=connection)
            await self.store.runs.append(run.id, entries, within=connection)
            await self.store.runs.end(run, within=connection)


class StoredApprovals:
    """The questions of one user, for `questions.Questions`."""

    def __init__(self, keeping: RunRepository, user: str) -> None:
        self._keeping = keeping
        self._user = user

    async def ask(self, approval: Approval) -> None:
        await self._keeping.store.approvals.ask(self._user, approval)

    async def close(self, id: str) -> None:
        await self._keeping.store.approvals.answer(id, None)


async def question_of(stores: Stores, user: str, id: str) -> tuple[Store, StoredApproval]:
    """A question to this user, and where it is. Raises NotFound."""
    try:
        return stores.durable, await stores.durable.approvals.get(user, id)
    except NotFound:
        return stores.temporary, await stores.temporary.approvals.get(user, id)
