"""The running replies of this server: begun, stopped, steered, answered and watched by their ids.

Owns which conversation is being written in: one run at a time in each, any number of them beside each other. A run
belongs to the server and not to who began it. Knows no HTTP; how one run goes is `running`'s.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Literal, Self

import anyio
import anyio.abc
import msgspec

from duologue.config.settings import RunSettings as RunSettings
from duologue.conversations.agent.approvals import ApprovalReply
from duologue.conversations.agent.dependencies import RunDependencies
from duologue.conversations.history.generation_options import inherited
from duologue.conversations.history.title_rules import first_words
from duologue.conversations.runs.autosave import EVERY, RETRY
from duologue.conversations.runs.commands import Edit, FileContent, GivenContent, NewMessage, Send, Verb
from duologue.conversations.runs.event_log import RunLog
from duologue.conversations.runs.plan import RunPlanner
from duologue.conversations.runs.recovery import recover
from duologue.conversations.runs.repository import RunRepository, question_of
from duologue.conversations.runs.run import ActiveRun
from duologue.errors import BadRequest, Busy, NotFound, Problem, Unavailable
from duologue.values.conversations import Content, Conversation, PendingMessage, StoredMessage
from duologue.values.requests import ModelCard
from duologue.values.runs import ListChanged, ListRun, Logged, Run, RunDone

if TYPE_CHECKING:
    from duologue.store.approvals import StoredApproval
    from duologue.store.stores import Stores

log = logging.getLogger(__name__)

STOPPING_S = 5.0
"""Seconds a stop, and the end of the server, wait for a run to be kept."""


class _Place:
    """The place in a conversation that one run has; taken before anything is awaited for it."""

    def __init__(self, run: str, user: str) -> None:
        self.run = run
        self.user = user
        self.opened = anyio.Event()
        self.gone = anyio.Event()
        self.running: ActiveRun | None = None


class RunService:
    """`async with runs.serving()` keeps them going. Every method names the user, and another user's run, conversation
    or question is one that does not exist."""

    def __init__(
        self,
        stores: Stores,
        provisions: RunDependencies,
        settings: RunSettings,
        *,
        every: float = EVERY,
        retry: float = RETRY,
    ) -> None:
        self._stores = stores
        self._provisions = provisions
        self._settings = settings
        self._every = every
        self._retry = retry
        self._tasks: anyio.abc.TaskGroup | None = None
        self._places: dict[str, _Place] = {}
        self._running: dict[str, ActiveRun] = {}
        self._closing = False

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[Self]:
        """Recover what was cut off, then serve; at the end every run is interrupted with its text kept."""
        await self.recover()
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            try:
                yield self
            finally:
                with anyio.CancelScope(shield=True):
                    await self.close()
                tasks.cancel_scope.cancel()

    async def recover(self) -> None:
        """End the runs that the last process left. For the start, before any run."""
        for user, run in await recover(self._stores.durable, self._provisions.now()):
            self._tell_ended(user, run)

    async def close(self) -> None:
        """Interrupt every run and wait until it is kept; from now on none begins."""
        self._closing = True
        for running in self._running.values():
            running.interrupt()
        with anyio.move_on_after(STOPPING_S):
            for running in tuple(self._running.values()):
                await running.ended.wait()

    # ---- verbs

    async def start(self, user: str, conversation: str, verb: Verb) -> Run | PendingMessage:
        """Begin a run; the same `verb.run` again is the same run. A message sent while a reply is running waits instead
        when its `busy` says so.

        Raises NotFound, BadRequest, Unsupported, what naming the model raises, and Busy(code="run_in_progress")."""
        if (known := await self._known(user, verb.run)) is not None:
            return known
        kept = await self._stores.of(conversation).conversations.get(user, conversation)
        while (place := self._places.get(kept.id)) is not None:
            if place.run == verb.run:
                await place.opened.wait()
                if place.running is not None:
                    return place.running.view
            elif place.running is not None and place.running.over:
                await self._let_end(place)
            else:
                return await self._while_busy(user, kept, place, verb)
        return await self._begin(user, kept, verb)

    async def _begin(
        self, user: str, conversation: Conversation, verb: Verb, content: tuple[Content, ...] | None = None
    ) -> Run:
        """Take the place and begin. `content`: what the user wrote, where it was kept before."""
        if self._closing or self._tasks is None:
            raise Unavailable("The server is shutting down. Try again in a moment.", code="server_stopping")
        place = self._places[conversation.id] = _Place(verb.run, user)
        try:
            if (known := await self._known(user, verb.run)) is not None:
                self._leave(conversation.id, place)
                return known
            running = await self._opened(user, conversation, verb, place, content)
        except BaseException:
            self._leave(conversation.id, place)
            raise
        return running.view

    async def _opened(
        self,
        user: str,
        conversation: Conversation,
        verb: Verb,
        place: _Place,
        content: tuple[Content, ...] | None,
    ) -> ActiveRun:
        store = self._stores.of(conversation.id)
        defaults = await self._provisions.defaults(user)
        options = inherited(verb.options, conversation.options, defaults)
        card = self._provisions.resolve(options.model)
        options = msgspec.structs.replace(options, model=card.name)
        message = _message(verb)
        if content is None:
            content = await self._content(user, conversation.id, message.content if message else (), card)
        if message is not None:
            self._check(conversation.id, content, card)
        rows = () if isinstance(verb, Send) else await store.messages.all(conversation.id)
        opening = RunPlanner(
            conversation, rows, card=card, content=content, new_id=self._provisions.new_id
        ).opening(verb)
        run = Run(verb.run, conversation.id, self._provisions.now())
        title = "" if conversation.title or message is None else first_words(content)
        keeping = RunRepository(store)
        # What was begun in the store must run, even if who asked has gone meanwhile.
        with anyio.CancelScope(shield=True):
            added = await keeping.begin(
                run,
                user,
                msgspec.json.encode(verb),
                added=opening.added,
                leaf=opening.leaf,
                saved=opening.goes_on,
                title=title,
            )
        running = ActiveRun(
            run,
            user,
            msgspec.structs.replace(opening, added=added),
            options,
            keeping=keeping,
            permissions=self._stores.durable.approvals.permissions,
            provisions=self._provisions,
            settings=self._settings,
            every=self._every,
            retry=self._retry,
        )
        assert self._tasks is not None
        place.running = self._running[run.id] = running
        self._tasks.start_soon(self._live, place, running)
        place.opened.set()
        self._provisions.feed(user, ListChanged(conversation.id))
        return running

    async def _live(self, place: _Place, running: ActiveRun) -> None:
        try:
            await running.run()
        finally:
            del self._running[running.view.id]
            self._leave(running.view.conversation, place)
        try:
            await self._after(running.user, running.view)
        except Problem as problem:
            log.warning("what waits in %s was not sent: %s", running.view.conversation, problem.message)
        except Exception:
            log.exception("the end of run %s broke", running.view.id)

    def _leave(self, conversation: str, place: _Place) -> None:
        if self._places.get(conversation) is place:
            del self._places[conversation]
        place.opened.set()
        place.gone.set()

    async def _after(self, user: str, run: Run) -> None:
        """Tell that a run has ended, and send what waits when it ended well."""
        self._tell_ended(user, run)
        store = self._stores.of(run.conversation)
        for waiting in await store.pending.of(run.conversation):
            if waiting.how == "steer":
                await store.pending.change(run.conversation, waiting.id, {"how": "queue"})
        if run.outcome == "done":
            await self._advance(user, run.conversation)

    async def _advance(self, user: str, conversation: str) -> None:
        """Send the first message that waits, unless a reply is running. One that cannot be sent stays and is shown."""
        store = self._stores.of(conversation)
        waiting = await store.pending.of(conversation)
        if not waiting or self._closing:
            return
        first = waiting[0]
        try:
            kept = await store.conversations.get(user, conversation)
            if conversation in self._places:
                return
            verb = Send(self._provisions.new_id(), NewMessage(first.id, ()), options=first.options)
            await self._begin(user, kept, verb, first.content)
        except NotFound:
            return

    def _tell_ended(self, user: str, run: Run) -> None:
        self._provisions.feed(user, ListRun(run.conversation, run.id, outcome=run.outcome))
        self._provisions.feed(user, ListChanged(run.conversation))
        self._provisions.ended(user, run)

    # ---- while a run goes on

    async def stop(self, user: str, run: str) -> Run:
        """Stop a run: its text is kept and it has ended when this returns. One that has ended stays as it is."""
        running = self._running.get(run)
        if running is None or running.user != user:
            return await self.get(user, run)
        running.stop()
        with anyio.move_on_after(STOPPING_S):
            await running.ended.wait()
        return running.view

    async def steer(self, user: str, run: str, message: PendingMessage) -> PendingMessage:
        """Have a message go into a run at its next step; one that was taken is not taken again. Raises NotFound,
        Busy(code="run_ended") for one that has ended: the message is to be sent then."""
        running = self._running.get(run)
        if running is not None and running.user != user:
            running = None
        known = running.view if running is not None else await self.get(user, run)
        if await self._is_sent(known.conversation, message.id):
            return msgspec.structs.replace(message, how="steer")
        if running is None or running.over:
            raise Busy(
                "This reply has ended. Send the message instead.", code="run_ended", status=409, param="run"
            )
        return await self._wait(user, running, msgspec.structs.replace(message, how="steer"))

    async def answer(
        self, user: str, id: str, reply: ApprovalReply, values: dict[str, object] | None = None
    ) -> StoredApproval:
        """Answer a question, from whatever device. The first answer counts; gives the question as it is kept. `tool` and
        `server` are remembered and answer the other open questions they cover. Raises NotFound, BadRequest for a reply of
        the other kind."""
        store, asked = await question_of(self._stores, user, id)
        approval = asked.approval
        if (reply in ("accept", "decline", "cancel")) == (approval.kind == "tool"):
            raise BadRequest(
                "A tool is answered with a decision, a form or a link with an action.",
                param="decision" if approval.kind == "tool" else "action",
            )
        if asked.answered:
            return asked
        asked = await store.approvals.answer(id, reply, values)
        if asked.decision != reply:
            return asked
        covered = []
        running = self._running.get(approval.run)
        if reply in ("tool", "server"):
            tool = approval.tool if reply == "tool" else "*"
            await self._stores.durable.approvals.allow(user, approval.server, tool)
            covered = running.asked_of(approval.server, tool) if running is not None else []
        if running is not None:
            running.answer(id, reply, values or {})
            for other in covered:
                if other != id:
                    await store.approvals.answer(other, "once")
                    running.answer(other, "once", {})
        return asked

    async def get(self, user: str, run: str) -> Run:
        """A run as it stands. Raises NotFound."""
        if (known := await self._known(user, run)) is None:
            raise NotFound("There is no such run.")
        return known

    async def viewer(self, user: str, run: str, after: int = 0) -> AsyncIterator[Logged]:
        """The events of a run beyond number `after`, to its end: from memory while it goes on, else from the store. Raises
        NotFound, before the first of them."""
        running = self._running.get(run)
        if running is not None and running.user == user:
            async for logged in running.viewer(after):
                yield logged
            return
        store, found = await self._stores.find_run(user, run)
        last = after
        for logged in RunLog(await store.runs.log(run, after)).after(after):
            last = logged.seq
            yield logged
            if isinstance(logged.event, RunDone):
                return
        # The log was forgotten, or never had an end: the run itself is remembered.
        yield Logged(last + 1, RunDone(found.outcome or "interrupted", found.error, found.turns))

    def live(self, conversation: str) -> ActiveRun | None:
        """The run that is writing in a conversation now."""
        place = self._places.get(conversation)
        return place.running if place is not None else None

    def rows(self, conversation: str) -> dict[str, StoredMessage]:
        """Rows that are being written in a conversation, ahead of the store, by id."""
        running = self.live(conversation)
        return {row.id: row for row in running.rows} if running is not None else {}

    # ---- what verbs need

    async def _known(self, user: str, run: str) -> Run | None:
        running = self._running.get(run)
        if running is not None and running.user == user:
            return running.view
        try:
            return (await self._stores.find_run(user, run))[1]
        except NotFound:
            return None

    async def _let_end(self, place: _Place) -> None:
        """A run that has said its end leaves its place in a moment. Raises Unavailable when it cannot be kept."""
        with anyio.move_on_after(STOPPING_S):
            await place.gone.wait()
        if not place.gone.is_set():
            raise Unavailable(
                "The last reply could not be saved yet; it is tried again. Send this in a moment.",
                code="storage_unavailable",
            )

    async def _while_busy(
        self, user: str, conversation: Conversation, place: _Place, verb: Verb
    ) -> Run | PendingMessage:
        if not isinstance(verb, Send) or verb.busy == "refuse":
            raise Busy(
                "A reply is being written in this conversation. Stop it, or wait until it is done.",
                code="run_in_progress",
                status=409,
            )
        await place.opened.wait()
        if place.running is None:
            return await self.start(user, conversation.id, verb)
        try:
            row = await self._stores.of(conversation.id).messages.get(conversation.id, verb.message.id)
        except NotFound:
            options = inherited(verb.options, conversation.options, await self._provisions.defaults(user))
            card = self._provisions.resolve(options.model)
            content = await self._content(user, conversation.id, verb.message.content, card)
            self._check(conversation.id, content, card)
            how: Literal["queue", "steer"] = "steer" if verb.busy == "steer" else "queue"
            message = PendingMessage(verb.message.id, conversation.id, content, how, verb.options)
            return await self._wait(user, place.running, message)
        # Sent before, and taken by a run since.
        return await self.get(user, row.run)

    async def _is_sent(self, conversation: str, message: str) -> bool:
        try:
            await self._stores.of(conversation).messages.get(conversation, message)
        except NotFound:
            return False
        return True

    async def _wait(self, user: str, running: ActiveRun, message: PendingMessage) -> PendingMessage:
        """Keep a message until the run takes it, or has ended."""
        store = self._stores.of(message.conversation)
        waiting = await store.pending.of(message.conversation)
        known = {other.id for other in waiting}
        if len(waiting) >= self._settings.pending and message.id not in known:
            raise Busy(
                f"{len(waiting)} messages wait in this conversation already, as many as `runs.pending` allows.",
                code="too_many_pending",
                status=409,
            )
        message = await store.pending.add(user, message)
        self._provisions.feed(user, ListChanged(message.conversation))
        if message.how == "steer":
            running.steer()
        if running.over and (place := self._places.get(message.conversation)) is not None:
            await self._let_end(place)
        if running.view.outcome == "done" and message.conversation not in self._places:
            await self._advance(user, message.conversation)
        return message

    async def _content(
        self, user: str, conversation: str, given: Sequence[GivenContent], card: ModelCard
    ) -> tuple[Content, ...]:
        """What was sent, as it is kept: files become what a model can take."""
        attachments = self._provisions.attachments(conversation)
        content: list[Content] = []
        for part in given:
            if isinstance(part, FileContent):
                content.append(
                    await attachments.content(
                        user, part.blob, name=part.name, mime=part.mime, given=part.given, card=card
                    )
                )
            else:
                content.append(part)
        return tuple(content)

    def _check(self, conversation: str, content: tuple[Content, ...], card: ModelCard) -> None:
        if not any(getattr(part, "text", "x").strip() or getattr(part, "blob", "") for part in content):
            raise BadRequest("The message is empty. Write something, or add a file.", param="message")
        self._provisions.attachments(conversation).check(content, card)


def _message(verb: Verb) -> NewMessage | None:
    match verb:
        case Send(message=message):
            return message
        case Edit(new=new):
            return new
    return None
