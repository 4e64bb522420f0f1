"""The runs of this server: started, stopped, steered, answered and followed by their ids.

Owns the rule that a conversation has one run at a time. A run belongs to the server, not to a request. One run is `run.py`.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Literal, Self

import anyio
import anyio.abc
import msgspec

from duologue.config.settings import RunSettings
from duologue.conversations.agent.approvals import ApprovalReply, check_reply
from duologue.conversations.agent.dependencies import RunDependencies
from duologue.conversations.history.generation_options import inherited
from duologue.conversations.history.title_rules import first_words
from duologue.conversations.runs.chosen_model import chosen_model
from duologue.conversations.runs.commands import (
    NewMessage,
    RunCommand,
    Send,
    new_message,
)
from duologue.conversations.runs.conversation_lock import ConversationLock
from duologue.conversations.runs.elsewhere import RunsElsewhere
from duologue.conversations.runs.owned_runs import OwnedRuns, pass_on
from duologue.conversations.runs.plan import plan_run
from duologue.conversations.runs.recovery import AbandonedRuns
from duologue.conversations.runs.repository import RunRepository, find_approval
from duologue.conversations.runs.run import ActiveRun
from duologue.conversations.runs.run_lookup import RunLookup
from duologue.conversations.runs.saving.autosave import INTERVAL, RETRY
from duologue.conversations.runs.sent_messages import (
    check_content,
    check_room,
    first_queued,
    stored_content,
)
from duologue.errors import AccessRevoked, Busy, NotFound, Problem, Unavailable
from duologue.store.cluster.cluster_link import ClusterLink, alone
from duologue.store.cluster.run_claims import MessageTaken, RunTaken
from duologue.values.conversations import (
    Conversation,
    GenerationOptions,
    PendingMessage,
    StoredMessage,
)
from duologue.values.model_choice import ModelChoice
from duologue.values.requests import ModelCard
from duologue.values.runs import ListChanged, ListRun, Logged, Outcome, Run

if TYPE_CHECKING:
    from duologue.store.approvals import StoredApproval
    from duologue.store.stores import Stores

log = logging.getLogger(__name__)

STOPPING_S = 5.0
"""Seconds that a stop, and the shutdown of the server, wait for a run to be stored."""


class RunService:
    """Runs live inside `async with runs.serving()`. Every method takes the user; the runs, conversations and questions of other
    users do not exist for it."""

    def __init__(
        self,
        stores: Stores,
        dependencies: RunDependencies,
        settings: RunSettings,
        *,
        cluster: ClusterLink | None = None,
        interval: float = INTERVAL,
        retry: float = RETRY,
    ) -> None:
        """`cluster`: what is known of other gateways over the same database."""
        self._stores = stores
        self._cluster = cluster or alone()
        self._elsewhere = RunsElsewhere(stores, self._cluster)
        self._abandoned = AbandonedRuns(stores.durable, self._cluster, dependencies.now, self._publish_end)
        self._dependencies = dependencies
        self._settings = settings
        self._interval = interval
        self._retry = retry
        self._tasks: anyio.abc.TaskGroup | None = None
        self._locks: dict[str, ConversationLock] = {}
        self._runs: dict[str, ActiveRun] = {}
        self.lookup = RunLookup(stores, self._runs)
        self._repositories = {
            True: RunRepository(stores.durable, self._cluster),
            False: RunRepository(stores.temporary),
        }
        """By whether what they store is durable. All runs share them, and so the transactions of their saves."""
        self._closing = False

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[Self]:
        """Recover interrupted runs, then serve. At the end every run is interrupted, with its text stored."""
        await self._abandoned.recover()
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            OwnedRuns(self._stores, self._cluster, self._runs, tasks)
            tasks.start_soon(self._abandoned.end_them)
            try:
                yield self
            finally:
                with anyio.CancelScope(shield=True):
                    await self.close()
                tasks.cancel_scope.cancel()

    async def close(self) -> None:
        """Interrupt every run and wait until it is stored. No run can start after this."""
        self._closing = True
        for run in self._runs.values():
            run.interrupt()
        with anyio.move_on_after(STOPPING_S):
            for run in tuple(self._runs.values()):
                await run.ended.wait()

    # ---- starting

    async def start(self, user: str, conversation: str, command: RunCommand) -> Run | PendingMessage:
        """Start a run, or return the one that this command started, or that has answered its message. A message sent during a reply
        becomes pending instead, if its `busy` allows it. A command whose run has ended is to be looked up with `find` first.

        Raises NotFound, BadRequest, Unsupported, what resolving the model raises, and Busy(code="run_in_progress")."""
        try:
            return await self._start(user, conversation, command)
        except RunTaken:
            # Another gateway was faster. Now its run is seen, and the message may wait for it.
            return await self._start(user, conversation, command)

    async def _start(self, user: str, conversation: str, command: RunCommand) -> Run | PendingMessage:
        stored = await self._stores.of(conversation).conversations.get(user, conversation)
        while (lock := self._locks.get(stored.id)) is not None:
            if lock.run_id == command.run:
                await lock.started.wait()
                if lock.run is not None:
                    return lock.run.view
            elif lock.run is not None and lock.run.over:
                await lock.wait_for_release(STOPPING_S)
            else:
                return await self._start_while_busy(user, stored, lock, command)
        other = await self._running_elsewhere(user, stored)
        if other is not None:
            return (
                other
                if other.id == command.run
                else await self._start_while_busy(user, stored, other, command)
            )
        return await self._begin(user, stored, command)

    async def _running_elsewhere(self, user: str, conversation: Conversation) -> Run | None:
        """The run that another gateway writes in this conversation, after those were ended whose gateway is gone."""
        other = await self._elsewhere.running(user, conversation.running)
        if other is None or other.id in self._runs:
            return None
        await self._abandoned.end()
        return await self._elsewhere.running(user, other.id)

    async def _begin(
        self,
        user: str,
        conversation: Conversation,
        command: RunCommand,
        queued: PendingMessage | None = None,
    ) -> Run:
        """Lock the conversation and start the run. `queued`: the user's message, if it was pending."""
        if self._closing or self._tasks is None:
            raise Unavailable("The server is shutting down. Try again in a moment.", code="server_stopping")
        lock = self._locks[conversation.id] = ConversationLock(command.run)
        try:
            # Checked under the lock: the same command, sent twice, may have started and ended the run just now.
            if (known := await self.lookup.known(user, command.run)) is not None:
                self._release(conversation.id, lock)
                return known
            run = await self._start_run(user, conversation, command, lock, queued)
        except (RunTaken, MessageTaken) as problem:
            # Another gateway was faster; with this very command or message, if the client sent it to both.
            self._release(conversation.id, lock)
            sent_by = problem.run if isinstance(problem, MessageTaken) else command.run
            known = await self.lookup.known(user, sent_by) if queued is None else None
            if known is None:
                raise
            return known
        except BaseException:
            self._release(conversation.id, lock)
            raise
        return run.view

    async def _start_run(
        self,
        user: str,
        conversation: Conversation,
        command: RunCommand,
        lock: ConversationLock,
        queued: PendingMessage | None,
    ) -> ActiveRun:
        store = self._stores.of(conversation.id)
        defaults = await self._dependencies.defaults(user)
        options = inherited(command.options, conversation.options, defaults)
        choice, card = await self._model(user, conversation, command.options, defaults)
        options = msgspec.structs.replace(options, model=card.name)
        message = new_message(command)
        content = (
            queued.content
            if queued is not None
            else await stored_content(
                self._dependencies, user, conversation.id, message.content if message else (), card
            )
        )
        if message is not None:
            check_content(self._dependencies, conversation.id, content, card)
        view = Run(command.run, conversation.id, self._dependencies.now())
        repository = self._repositories[store is self._stores.durable]
        # A run that is in the store must also run, even if the client disconnects at this moment.
        with anyio.CancelScope(shield=True):
            plan = await repository.begin(
                view,
                user,
                msgspec.json.encode(command),
                partial(plan_run, command, card=card, content=content, new_id=self._dependencies.new_id),
                sends=command.message.id if isinstance(command, Send) else "",
                queued=queued,
                title="" if message is None else first_words(content),
            )
        run = ActiveRun(
            view,
            user,
            plan,
            options,
            choice=choice,
            repository=repository,
            permissions=self._stores.durable.approvals.permissions,
            dependencies=self._dependencies,
            settings=self._settings,
            interval=self._interval,
            retry=self._retry,
        )
        assert self._tasks is not None
        lock.run = self._runs[view.id] = run
        self._tasks.start_soon(self._supervise, lock, run)
        lock.started.set()
        self._dependencies.publish(user, ListChanged(conversation.id))
        return run

    async def _supervise(self, lock: ConversationLock, run: ActiveRun) -> None:
        """The task of one run: run it, release its conversation, send what is pending."""
        try:
            with self._dependencies.watched(run.user, lambda: run.fail(AccessRevoked())):
                await run.run()
        finally:
            del self._runs[run.view.id]
            self._release(run.view.conversation, lock)
        if run.lost:
            # The gateway that ended it has also sent the events.
            return
        try:
            await self._after_end(run.user, run.view)
        except Problem as problem:
            log.warning("the pending message of %s was not sent: %s", run.view.conversation, problem.message)
        except Exception:
            log.exception("the end of run %s broke", run.view.id)

    def _release(self, conversation: str, lock: ConversationLock) -> None:
        if self._locks.get(conversation) is lock:
            del self._locks[conversation]
        lock.started.set()
        lock.released.set()

    async def _after_end(self, user: str, run: Run) -> None:
        """Publish that a run has ended. What is pending is sent if it ended well; else it waits for the user, who has stopped
        the reply, or should know that it failed."""
        pending = self._stores.of(run.conversation).pending
        if run.outcome == "done":
            self._publish_end(user, run)
            await pending.change_all(run.conversation, "queue", only="steer")
            return await self.send_pending(user, run.conversation)
        try:
            await pending.change_all(run.conversation, "hold")
        finally:
            self._publish_end(user, run)

    async def send_pending(self, user: str, conversation: str) -> None:
        """Send the first queued message, unless a reply runs. When it cannot be sent, all wait, and this raises as `start` does."""
        store = self._stores.of(conversation)
        first = await first_queued(store, conversation)
        if first is None or self._closing:
            return
        try:
            stored = await store.conversations.get(user, conversation)
        except NotFound:
            return
        if conversation in self._locks or await self._running_elsewhere(user, stored) is not None:
            return
        command = Send(self._dependencies.new_id(), NewMessage(first.id, ()), options=first.options)
        try:
            await self._begin(user, stored, command, first)
        except RunTaken:
            # It is sent when that run ends.
            return
        except MessageTaken as taken:
            if taken.run:
                # It is answered already: the client has sent it again.
                await store.pending.remove(conversation, first.id)
                self._dependencies.publish(user, ListChanged(conversation))
            await self.send_pending(user, conversation)
        except Problem:
            await store.pending.change_all(conversation, "hold")
            self._dependencies.publish(user, ListChanged(conversation))
            raise

    def _publish_end(self, user: str, run: Run) -> None:
        self._dependencies.publish(user, ListRun(run.conversation, run.id, outcome=run.outcome))
        self._dependencies.publish(user, ListChanged(run.conversation))
        self._dependencies.on_end(user, run)

    # ---- during a run

    async def stop(self, user: str, run: str) -> Run:
        """Stop a run. When this returns, it has ended with its text stored. No effect on one that has ended."""
        active = self.lookup.active(user, run)
        if active is None:
            view = await self.lookup.get(user, run)
            is_elsewhere = await self._elsewhere.running(user, run) is not None
            return await self._elsewhere.stop(user, view) if is_elsewhere else view
        active.stop()
        with anyio.move_on_after(STOPPING_S):
            await active.ended.wait()
        return active.view

    @property
    def active(self) -> tuple[ActiveRun, ...]:
        """The runs that are under way."""
        return tuple(self._runs.values())

    async def steer(self, user: str, run: str, message: PendingMessage) -> PendingMessage:
        """Add a message to a run at its next step. Idempotent by the message's id. Raises NotFound, and
        Busy(code="run_ended") for a run that has ended: the message must be sent instead."""
        active = self.lookup.active(user, run)
        view = active.view if active is not None else await self.lookup.get(user, run)
        if await self.lookup.is_sent(view.conversation, message.id):
            return msgspec.structs.replace(message, how="steer")
        run_here = active if active is not None and not active.over else None
        target = run_here or await self._elsewhere.running(user, run)
        if target is None or (active is not None and run_here is None):
            raise Busy(
                "This reply has ended. Send the message instead.", code="run_ended", status=409, param="run"
            )
        return await self._add_pending(user, target, msgspec.structs.replace(message, how="steer"))

    async def pending_changed(self, user: str, message: PendingMessage, *, is_queued: bool) -> None:
        """A pending message was changed: steer the run that is under way, or, if it was queued just now and none is, send it."""
        run = self.live(message.conversation)
        if run is not None:
            if message.how == "steer":
                run.steer()
            return
        stored = await self._stores.of(message.conversation).conversations.get(user, message.conversation)
        other = await self._running_elsewhere(user, stored)
        if other is not None and message.how == "steer":
            self._elsewhere.steer(other.id)
        elif other is None and is_queued:
            await self.send_pending(user, message.conversation)

    async def answer(
        self, user: str, id: str, reply: ApprovalReply, values: dict[str, object] | None = None
    ) -> StoredApproval:
        """Answer a question from any device. The first answer counts; returns the question as it is stored. `tool` and
        `server` are remembered, and also answer the other open questions they cover. Raises NotFound, BadRequest for a reply
        of the wrong kind."""
        store, stored = await find_approval(self._stores, user, id)
        approval = stored.approval
        check_reply(approval, reply)
        if stored.answered:
            return stored
        stored = await store.approvals.answer(id, reply, values)
        if stored.decision != reply:
            return stored
        if reply in ("tool", "server"):
            tool = approval.tool if reply == "tool" else "*"
            await self._stores.durable.approvals.allow(user, approval.server, tool)
        if (run := self._runs.get(approval.run)) is not None:
            await pass_on(store, run, stored)
        else:
            self._elsewhere.answered(approval.run, id)
        return stored

    async def viewer(self, user: str, run: str, after: int = 0) -> AsyncIterator[Logged]:
        """The events of a run beyond number `after`, to its end: from memory while it runs here, else from the store. Raises
        NotFound before the first event."""
        active = self.lookup.active(user, run)
        if active is not None:
            async for logged in active.viewer(after):
                yield logged
            return
        async for logged in self._elsewhere.viewer(user, run, after):
            yield logged

    def live(self, conversation: str) -> ActiveRun | None:
        """The active run of a conversation."""
        lock = self._locks.get(conversation)
        return lock.run if lock is not None else None

    def rows(self, conversation: str) -> dict[str, StoredMessage]:
        """The rows of the active run of a conversation by id, ahead of the store."""
        run = self.live(conversation)
        return {row.id: row for row in run.rows} if run is not None else {}

    # ---- a busy conversation

    async def _start_while_busy(
        self, user: str, conversation: Conversation, busy: ConversationLock | Run, command: RunCommand
    ) -> Run | PendingMessage:
        if not isinstance(command, Send) or command.busy == "refuse":
            raise Busy(
                "A reply is being written in this conversation. Stop it, or wait until it is done.",
                code="run_in_progress",
                status=409,
            )
        if isinstance(busy, Run):
            run: ActiveRun | Run | None = busy
        else:
            await busy.started.wait()
            run = busy.run
        if run is None:
            return await self.start(user, conversation.id, command)
        try:
            row = await self._stores.of(conversation.id).messages.get(conversation.id, command.message.id)
        except NotFound:
            return await self._queue(user, conversation, run, command)
        # Sent before, and taken by a run since.
        return await self.lookup.get(user, row.run)

    async def _queue(
        self, user: str, conversation: Conversation, run: ActiveRun | Run, command: Send
    ) -> PendingMessage:
        defaults = await self._dependencies.defaults(user)
        _, card = await self._model(user, conversation, command.options, defaults)
        content = await stored_content(
            self._dependencies, user, conversation.id, command.message.content, card
        )
        check_content(self._dependencies, conversation.id, content, card)
        how: Literal["queue", "steer"] = "steer" if command.busy == "steer" else "queue"
        message = PendingMessage(command.message.id, conversation.id, content, how, command.options)
        return await self._add_pending(user, run, message)

    async def _add_pending(self, user: str, run: ActiveRun | Run, message: PendingMessage) -> PendingMessage:
        """Store a message until the run takes it or has ended."""
        store = self._stores.of(message.conversation)
        await check_room(store, message, self._settings.pending)
        message = await store.pending.add(user, message)
        self._dependencies.publish(user, ListChanged(message.conversation))
        outcome = (
            await self._outcome_elsewhere(user, run, message)
            if isinstance(run, Run)
            else await self._outcome_here(run, message)
        )
        # The run may have ended during the writes above, and then nobody else would send the message.
        if outcome is None:
            return message
        if message.how == "steer":
            # The end of the run has changed those that steer before this one was there.
            with suppress(NotFound):
                message = await store.pending.change(message.conversation, message.id, {"how": "queue"})
        if outcome != "done":
            await store.pending.change_all(message.conversation, "hold", only="queue")
        elif message.conversation not in self._locks:
            await self.send_pending(user, message.conversation)
        return message

    async def _outcome_here(self, run: ActiveRun, message: PendingMessage) -> Outcome | None:
        """Tell a run of the message that was stored; the run's outcome if it has ended."""
        if message.how == "steer":
            run.steer()
        if run.over and (lock := self._locks.get(message.conversation)) is not None:
            await lock.wait_for_release(STOPPING_S)
        return (run.view.outcome or "failed") if run.over else None

    async def _outcome_elsewhere(self, user: str, run: Run, message: PendingMessage) -> Outcome | None:
        if message.how == "steer":
            self._elsewhere.steer(run.id)
        return (await self.lookup.get(user, run.id)).outcome

    async def _model(
        self, user: str, conversation: Conversation, options: GenerationOptions, defaults: GenerationOptions
    ) -> tuple[ModelChoice, ModelCard]:
        own = options.model or conversation.options.model
        return await chosen_model(self._dependencies, user, own, defaults.model)
