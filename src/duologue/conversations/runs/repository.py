"""The store as runs use it: begin, add rows, save, end, each in one transaction.

Used by `service.py`, `run.py` and `record.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import msgspec

from duologue.conversations.runs.event_log import LogEntry
from duologue.conversations.runs.plan import RunPlan
from duologue.conversations.runs.saving.group_commit import GroupCommit
from duologue.conversations.runs.saving.save_queue import RunSave
from duologue.errors import NotFound
from duologue.store.cluster.cluster_link import ClusterLink
from duologue.store.cluster.run_claims import MessageTaken
from duologue.store.schema.repeating import repeated
from duologue.values.cluster.notices import RunSaved
from duologue.values.conversations import Approval, Conversation, PendingMessage, StoredMessage
from duologue.values.runs import Run

if TYPE_CHECKING:
    from duologue.store.approvals import StoredApproval
    from duologue.store.database import Transaction
    from duologue.store.stores import Store, Stores

Planner = Callable[[Conversation, Sequence[StoredMessage]], RunPlan]
"""What a run does, by the conversation and its tree; pure."""


class RunRepository:
    """One store as all runs use it. Every method raises Unavailable as the database does, and RunLost when another gateway has ended the
    run."""

    def __init__(self, store: Store, cluster: ClusterLink | None = None) -> None:
        """`cluster`: where other gateways may have the same database."""
        self.store = store
        self._cluster = cluster if cluster is not None and cluster.shared else None
        self._saves = GroupCommit(self._save_all)

    @repeated
    async def begin(
        self,
        run: Run,
        user: str,
        request: bytes,
        plan: Planner,
        *,
        sends: str = "",
        queued: PendingMessage | None = None,
        title: str = "",
    ) -> RunPlan:
        """Store a run with what `plan` makes of the conversation and its tree, which nobody changes meanwhile. `sends`: the id of a new
        message of the user, where the tree is not needed. `queued`: that message, where it was pending. `title`: for a conversation
        without one. Returns the plan with the added rows as they are stored.

        Raises as `plan` and the message and run stores do, NotFound when the conversation was deleted meanwhile, RunTaken, and
        MessageTaken; then nothing is stored."""
        gateway = "" if self._cluster is None else self._cluster.gateway
        async with self.store.writing() as connection:
            conversation = await self.store.conversations.hold(user, run.conversation, within=connection)
            if gateway:
                await self.store.runs.claim(run, within=connection)
            if queued is not None:
                await self.store.pending.take(queued, within=connection)
            tree: tuple[StoredMessage, ...] = ()
            if sends:
                await self._check_not_sent(run, sends, connection)
            else:
                tree = await self.store.messages.all(run.conversation, within=connection)
            planned = plan(conversation, tree)
            added = await self._write_plan(user, conversation, planned, title, connection)
            await self.store.runs.begin(run, user, request, gateway=gateway, within=connection)
        return msgspec.structs.replace(planned, added=added)

    async def _check_not_sent(self, run: Run, message: str, within: Transaction) -> None:
        try:
            row = await self.store.messages.get(run.conversation, message, within=within)
        except NotFound:
            return
        if row.run and row.run != run.id:
            raise MessageTaken(row.run)

    async def _write_plan(
        self, user: str, conversation: Conversation, plan: RunPlan, title: str, within: Transaction
    ) -> tuple[StoredMessage, ...]:
        """The added rows, as they are stored."""
        added = await self.store.messages.add(plan.added, leaf=plan.leaf, within=within)
        if plan.continued is not None:
            await self.store.messages.save(plan.continued, within=within)
        changes: dict[str, object] = {} if added else {"leaf": plan.leaf}
        if title and not conversation.title:
            changes |= {"title": title, "title_source": "first"}
        if changes:
            await self.store.conversations.change(user, conversation.id, changes, within=within)
        for row in added:
            await self.store.pending.remove(conversation.id, row.id, within=within)
        return added

    @repeated
    async def add(self, run: str, rows: Sequence[StoredMessage]) -> tuple[StoredMessage, ...]:
        """Store rows, the last as the new leaf. Pending messages of the same ids are no longer pending."""
        async with self.store.writing() as connection:
            await self._hold(run, within=connection)
            for row in rows:
                if row.role == "user":
                    await self.store.pending.remove(row.conversation, row.id, within=connection)
            stored = await self.store.messages.add(rows, leaf=rows[-1].id, within=connection)
        return stored

    async def save(self, run: str, rows: Sequence[StoredMessage], entries: Sequence[LogEntry]) -> None:
        """Store rows and log entries together, in one transaction with those of other runs that are saved now. Raises NotFound when a
        row no longer exists."""
        await self._saves.save(RunSave(run, rows, entries))

    @repeated
    async def _save_all(self, saves: Sequence[RunSave]) -> None:
        async with self.store.writing() as connection:
            await self._hold(*(save.run for save in saves), within=connection)
            await self.store.messages.save(*(row for save in saves for row in save.rows), within=connection)
            await self.store.runs.append_all({save.run: save.entries for save in saves}, within=connection)

    @repeated
    async def end(self, run: Run, rows: Sequence[StoredMessage], entries: Sequence[LogEntry]) -> None:
        """As `save`, and mark the run as ended."""
        async with self.store.writing() as connection:
            await self._hold(run.id, within=connection)
            await self.store.messages.save(*rows, within=connection)
            await self.store.runs.append(run.id, entries, within=connection)
            await self.store.runs.end(run, within=connection)
            if self._cluster is not None:
                await self._cluster.notices.publish(RunSaved(run.id, ended=True), within=connection)

    def tell_saved(self, run: str) -> None:
        """Tell the other gateways that more of a run is stored."""
        if self._cluster is not None:
            self._cluster.notices.post(RunSaved(run))

    async def _hold(self, *runs: str, within: Transaction) -> None:
        if self._cluster is not None:
            await self.store.runs.hold(*runs, gateway=self._cluster.gateway, within=within)


class StoredApprovals:
    """The stored questions of one user: the `ApprovalStore` of a run."""

    def __init__(self, repository: RunRepository, user: str) -> None:
        self._repository = repository
        self._user = user

    async def add(self, approval: Approval) -> None:
        await self._repository.store.approvals.ask(self._user, approval)

    async def close(self, id: str) -> None:
        await self._repository.store.approvals.answer(id, None)


async def find_approval(stores: Stores, user: str, id: str) -> tuple[Store, StoredApproval]:
    """A question to this user and the store it is in. Raises NotFound."""
    try:
        return stores.durable, await stores.durable.approvals.get(user, id)
    except NotFound:
        return stores.temporary, await stores.temporary.approvals.get(user, id)
