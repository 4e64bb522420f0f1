"""The turns of a call in a stored conversation: the prompt for its replies, and the rows of what was said.

Used by `gateway/calls/history.py`. Owns the rows that a call adds, and notices changes of the conversation from elsewhere. The
row of a reply has exactly the text that the caller has heard.
"""

from __future__ import annotations

import uuid
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Literal

import msgspec

from duologue.conversations.agent.call_agent import CallContext, client_tools
from duologue.conversations.agent.dependencies import ToolDependencies
from duologue.conversations.history.generation_options import inherited, turn_request
from duologue.conversations.history.title_rules import first_words
from duologue.errors import NotFound, Unavailable
from duologue.tools.values import Offer
from duologue.values.call_events import Ending
from duologue.values.conversations import Content, Conversation, GenerationOptions, StoredMessage, TextContent
from duologue.values.messages import Tool
from duologue.values.requests import ChatRequest, ModelCard
from duologue.values.runs import ListChanged, ListRemoved, ListReset

if TYPE_CHECKING:
    from duologue.conversations.service import Service

TOOLS_SHARE = 3
"""Tool definitions may take a third of the context."""
READ_ATTEMPTS = 3
OWN_EVENTS = 64
"""How many of the list events that this call published itself are remembered, to ignore them."""
Change = Literal["changed", "deleted"]


class CallTurns:
    """The turns of one call in one conversation. Call `read` first, or use `open_call_turns`.

    Each method that writes is one transaction and raises Unavailable as the database does, NotFound when the conversation was
    deleted. Not for concurrent calls.
    """

    def __init__(
        self, service: Service, user: str, conversation: str, *, model: str = "", tools: Sequence[Tool] = ()
    ) -> None:
        self._service, self._user, self._conversation = service, user, conversation
        self._call_options = GenerationOptions(model=model, thinking=False)
        self._tools = tuple(tools)
        self._inherited: GenerationOptions | None = None
        self._options = GenerationOptions()
        self._card = ModelCard("", "", 0)
        self._offer = Offer()
        self._digests: list[object] = []
        self._seen = service.feed.number
        self._own_events: deque[int] = deque(maxlen=OWN_EVENTS)
        self._has_title = True
        self._open_row: str | None = None
        self.leaf: str | None = None
        """The last row of the branch that the call continues."""
        self.path: tuple[StoredMessage, ...] = ()
        """That branch, as of the last `read`."""
        self.request = ChatRequest(())
        """The request for a reply: everything said so far, with the options and tools of this conversation."""
        self.context = CallContext(dependencies=self._tool_dependencies())

    # ---- reading

    async def read(self) -> bool:
        """Read the conversation's current branch. Whether it has changed from elsewhere. Raises NotFound, also for a deleted
        conversation, and what resolving the model raises."""
        service = self._service
        conversation, path = await self._current()
        options = inherited(self._call_options, conversation.options, await service.defaults(self._user))
        path = tuple(service.runs.rows(self._conversation).get(row.id, row) for row in path)
        self._has_title = self._has_title and bool(conversation.title)
        digests = [_digest(row) for row in path]
        if options == self._inherited and digests == self._digests:
            return False
        if options != self._inherited:
            await self._load_options(options)
        attachments = service.attachments(self._conversation)
        messages = await attachments.messages(self._user, path, self._card)
        self.request = turn_request(messages, self._options, self._card, self._offer)
        self.leaf, self.path = conversation.leaf, path
        self._inherited, self._digests = options, digests
        await self._drop_deleted_row()
        return True

    async def _current(self) -> tuple[Conversation, tuple[StoredMessage, ...]]:
        """The conversation and its current branch."""
        store = self._service.stores.of(self._conversation)
        conversation = await store.conversations.get(self._user, self._conversation)
        for _ in range(READ_ATTEMPTS):
            try:
                leaf = conversation.leaf
                return conversation, await store.messages.path(self._conversation, leaf) if leaf else ()
            except NotFound:
                # The leaf was deleted between the two reads. Read the new one.
                conversation = await store.conversations.get(self._user, self._conversation)
        raise Unavailable("The conversation changes too quickly to be read. Try again.")

    async def _drop_deleted_row(self) -> None:
        """The row that the present reply answers may have been deleted."""
        if self._open_row is not None:
            try:
                await self._service.stores.of(self._conversation).messages.get(
                    self._conversation, self._open_row
                )
            except NotFound:
                self._open_row = None

    async def changes(self) -> AsyncIterator[Change]:
        """The changes of the conversation from elsewhere, as they happen."""
        async with aclosing(self._service.feed.events(self._user, self._seen)) as events:
            async for entry in events:
                match entry.event:
                    case ListReset():
                        yield "changed"
                    case ListRemoved(conversation) if conversation == self._conversation:
                        yield "deleted"
                    case ListChanged(conversation) if conversation == self._conversation:
                        if entry.number not in self._own_events:
                            yield "changed"

    # ---- adding rows

    async def user_said(self, id: str, text: str) -> None:
        """Add a turn of the caller to the current branch, as the row `id`. Idempotent by `id`."""
        content: tuple[Content, ...] = (TextContent(text),)
        if any(row.id == id for row in self.path):
            self._open_row = id
        else:
            self._open_row = self.leaf
            await self._add([self._row(id, "user", content)])
        if not self._has_title:
            self._has_title = True
            store = self._service.stores.of(self._conversation)
            changes: dict[str, object] = {"title": first_words(content), "title_source": "first"}
            await store.conversations.change(self._user, self._conversation, changes)
            self._publish_change()

    async def assistant_said(
        self, id: str, heard: str, ending: Ending, rows: Sequence[StoredMessage] = ()
    ) -> None:
        """Add the `heard` text of a reply as the row `id`, below the `rows` of its tool calls. Idempotent by `id`. No row is
        added for a reply that nobody heard and that ran no tools. The rows go below the turn they answer, whatever branch is
        current by now."""
        new = [
            msgspec.structs.replace(
                row, conversation=self._conversation, model=self._model(row), created=self._service.now()
            )
            for row in rows
        ]
        if heard:
            new.append(self._row(id, "assistant", (TextContent(heard),), cut=ending != "spoken"))
        if new:
            await self._add(new)

    async def _add(self, rows: Sequence[StoredMessage]) -> None:
        above = self._open_row if self._open_row is not None else self.leaf
        chained: list[StoredMessage] = []
        for row in rows:
            chained.append(msgspec.structs.replace(row, parent=above))
            above = row.id
        current = chained[0].parent == self.leaf
        store = self._service.stores.of(self._conversation)
        added = await store.messages.add(chained, leaf=above if current else None)
        self._open_row = above
        if current:
            self.leaf, self.path = above, (*self.path, *added)
            self._digests += map(_digest, added)
        self._publish_change()

    def _publish_change(self) -> None:
        feed = self._service.feed
        feed.publish(self._user, ListChanged(self._conversation))
        self._own_events.append(feed.number)

    def _row(
        self, id: str, role: Literal["user", "assistant"], content: tuple[Content, ...], *, cut: bool = False
    ) -> StoredMessage:
        is_user = role == "user"
        return StoredMessage(
            id,
            self._conversation,
            None,
            role,
            content,
            created=self._service.now(),
            status="stopped" if cut else "done",
            model="" if is_user else self._card.name,
            finish=None if is_user else "cancelled" if cut else "stop",
        )

    def _model(self, row: StoredMessage) -> str:
        return self._card.name if row.role == "assistant" else ""

    # ---- options and tools

    async def _load_options(self, options: GenerationOptions) -> None:
        """Find the model and its tools: those of the conversation, and the client's own, which take precedence."""
        service = self._service
        self._card = service.resolve(options.model)
        self._options = msgspec.structs.replace(options, model=self._card.name)
        own = client_tools(self._tools)
        offer = await self._tool_offer()
        tools = tuple(tool for tool in offer.tools if tool.name not in own)
        self._offer = msgspec.structs.replace(offer, tools=(*tools, *own.values()))
        settings = service.run_settings
        if options.max_turns:
            settings = settings.model_copy(update={"max_turns": options.max_turns})
        approvals = service.stores.durable.approvals
        attachments, user, card = service.attachments(self._conversation), self._user, self._card
        self.context = CallContext(
            dependencies=self._tool_dependencies(),
            tools={tool.name: tool for tool in self._offer.tools},
            settings=settings,
            user=user,
            conversation=self._conversation,
            permissions=lambda: approvals.permissions(user),
            allow=lambda server, tool: approvals.allow(user, server, tool),
            keep=lambda data, name, mime: attachments.keep(user, data, name, mime, card),
            messages=lambda rows: attachments.messages(user, rows, card),
        )

    async def _tool_offer(self) -> Offer:
        toolbox, card = self._service.toolbox, self._card
        # As in a typed run: only a loaded model that cannot call tools is refused them.
        takes_tools = not card.context or "tools" in card.verbs
        if toolbox is None or self._options.tools is False or not takes_tools:
            return Offer()
        budget = card.context // TOOLS_SHARE or None
        return await toolbox.offer(self._user, self._options, budget_tokens=budget, count=self._service.count)

    def _tool_dependencies(self) -> ToolDependencies:
        service = self._service
        return ToolDependencies(service.now, service.clock, _new_id, service.toolbox)


async def open_call_turns(
    service: Service, user: str, conversation: str, *, model: str = "", tools: Sequence[Tool] = ()
) -> CallTurns:
    """The turns of a call in an existing conversation, read already. `tools`: the client's own. Raises NotFound, and what resolving
    the model raises."""
    turns = CallTurns(service, user, conversation, model=model, tools=tools)
    await turns.read()
    return turns


def _new_id() -> str:
    return uuid.uuid4().hex


def _digest(row: StoredMessage) -> object:
    """The parts of a row that a model sees. If they are equal, nothing relevant has changed."""
    return row.id, row.role, row.content, row.tool_calls, row.kind, row.active
