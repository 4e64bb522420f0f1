"""A conversation that goes on as a call: what a model is told of it, and the rows of what was said and heard.

Owns the rows a call adds, and what becomes of the call when the conversation is changed elsewhere. A reply's row holds what
was heard of it and no word more. Knows no sound and no session.
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

ROOM = 3
"""Tools take a third of a model's context at most."""
TRIES = 3
OWN = 64
"""Of what this call itself told the lists lately, so many are known again."""
Change = Literal["changed", "deleted"]


class CallTurns:
    """The turns of one call in one conversation. Made by `spoken_turns`, or opened by `read`.

    Each method that keeps something is one transaction; they raise Unavailable as the database does, NotFound when the
    conversation is gone. They are called one at a time.
    """

    def __init__(
        self, service: Service, user: str, conversation: str, *, model: str = "", tools: Sequence[Tool] = ()
    ) -> None:
        self._service, self._user, self._conversation = service, user, conversation
        self._asked = GenerationOptions(model=model, thinking=False)
        self._tools = tuple(tools)
        self._inherited: GenerationOptions | None = None
        self._options = GenerationOptions()
        self._card = ModelCard("", "", 0)
        self._offer = Offer()
        self._essences: list[object] = []
        self._seen = service.feed.number
        self._told: deque[int] = deque(maxlen=OWN)
        self._titled = True
        self._open: str | None = None
        self.leaf: str | None = None
        """The last row of the branch the call goes on from."""
        self.path: tuple[StoredMessage, ...] = ()
        """That branch, as it was read last."""
        self.request = ChatRequest(())
        """What a reply begins with: everything said so far, and the options and tools that hold here."""
        self.surroundings = CallContext(dependencies=self._tool_dependencies())

    # ---- what there is

    async def read(self) -> bool:
        """Read the conversation's current branch. Whether it is another than this knows, by somebody else's doing. Raises
        NotFound also for a deleted one, and what finding the model raises."""
        service = self._service
        kept, path = await self._current()
        options = inherited(self._asked, kept.options, await service.defaults(self._user))
        path = tuple(service.runs.rows(self._conversation).get(row.id, row) for row in path)
        self._titled = self._titled and bool(kept.title)
        essences = [_essence(row) for row in path]
        if options == self._inherited and essences == self._essences:
            return False
        if options != self._inherited:
            await self._equip(options)
        attachments = service.attachments(self._conversation)
        messages = await attachments.messages(self._user, path, self._card)
        self.request = turn_request(messages, self._options, self._card, self._offer)
        self.leaf, self.path = kept.leaf, path
        self._inherited, self._essences = options, essences
        await self._settle()
        return True

    async def _current(self) -> tuple[Conversation, tuple[StoredMessage, ...]]:
        """The conversation, and the branch that is shown of it."""
        store = self._service.stores.of(self._conversation)
        kept = await store.conversations.get(self._user, self._conversation)
        for _ in range(TRIES):
            try:
                return kept, await store.messages.path(self._conversation, kept.leaf) if kept.leaf else ()
            except NotFound:
                # It was deleted just now, and the conversation stands elsewhere.
                kept = await store.conversations.get(self._user, self._conversation)
        raise Unavailable("The conversation changes too quickly to be read. Try again.")

    async def _settle(self) -> None:
        """What a reply in the making answers may have been deleted."""
        if self._open is not None:
            try:
                await self._service.stores.of(self._conversation).messages.get(self._conversation, self._open)
            except NotFound:
                self._open = None

    async def changes(self) -> AsyncIterator[Change]:
        """What others do to the conversation, as they do it."""
        async with aclosing(self._service.feed.events(self._user, self._seen)) as events:
            async for told in events:
                match told.event:
                    case ListReset():
                        yield "changed"
                    case ListRemoved(conversation) if conversation == self._conversation:
                        yield "deleted"
                    case ListChanged(conversation) if conversation == self._conversation:
                        if told.number not in self._told:
                            yield "changed"

    # ---- what was said and heard

    async def user_said(self, id: str, text: str) -> None:
        """On the branch that is current now, as the row `id`; one that is there is not added again."""
        content: tuple[Content, ...] = (TextContent(text),)
        if any(row.id == id for row in self.path):
            self._open = id
        else:
            self._open = self.leaf
            await self._add([self._row(id, "user", content)])
        if not self._titled:
            self._titled = True
            store = self._service.stores.of(self._conversation)
            changes: dict[str, object] = {"title": first_words(content), "title_source": "first"}
            await store.conversations.change(self._user, self._conversation, changes)
            self._tell()

    async def assistant_said(
        self, id: str, heard: str, ending: Ending, rows: Sequence[StoredMessage] = ()
    ) -> None:
        """`heard` of a reply, as the row `id` behind the `rows` of what it did; what is there is not added again. Of one nobody
        heard, and that did nothing, there is no row. It belongs to what it answers, whatever branch is current by now."""
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
        above = self._open if self._open is not None else self.leaf
        chained: list[StoredMessage] = []
        for row in rows:
            chained.append(msgspec.structs.replace(row, parent=above))
            above = row.id
        current = chained[0].parent == self.leaf
        store = self._service.stores.of(self._conversation)
        kept = await store.messages.add(chained, leaf=above if current else None)
        self._open = above
        if current:
            self.leaf, self.path = above, (*self.path, *kept)
            self._essences += map(_essence, kept)
        self._tell()

    def _tell(self) -> None:
        feed = self._service.feed
        feed.publish(self._user, ListChanged(self._conversation))
        self._told.append(feed.number)

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

    # ---- what its replies may do

    async def _equip(self, options: GenerationOptions) -> None:
        """Find the model, and the tools it is offered: the conversation's, and the client's own before them."""
        service = self._service
        self._card = service.resolve(options.model)
        self._options = msgspec.structs.replace(options, model=self._card.name)
        own = client_tools(self._tools)
        offer = await self._offered()
        tools = tuple(tool for tool in offer.tools if tool.name not in own)
        self._offer = msgspec.structs.replace(offer, tools=(*tools, *own.values()))
        settings = service.run_settings
        if options.max_turns:
            settings = settings.model_copy(update={"max_turns": options.max_turns})
        approvals = service.stores.durable.approvals
        attachments, user, card = service.attachments(self._conversation), self._user, self._card
        self.surroundings = CallContext(
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

    async def _offered(self) -> Offer:
        toolbox, card = self._service.toolbox, self._card
        # As in a typed run: one that cannot call tools must not be offered any.
        takes_tools = not card.context or "tools" in card.verbs
        if toolbox is None or self._options.tools is False or not takes_tools:
            return Offer()
        budget = card.context // ROOM or None
        return await toolbox.offer(self._user, self._options, budget_tokens=budget, count=self._service.count)

    def _tool_dependencies(self) -> ToolDependencies:
        service = self._service
        return ToolDependencies(service.now, service.clock, _new_id, service.toolbox)


async def spoken_turns(
    service: Service, user: str, conversation: str, *, model: str = "", tools: Sequence[Tool] = ()
) -> CallTurns:
    """The turns of a call that goes on with a conversation; `tools` are the client's own. Raises NotFound, and what finding
    the model raises."""
    turns = CallTurns(service, user, conversation, model=model, tools=tools)
    await turns.read()
    return turns


def _new_id() -> str:
    return uuid.uuid4().hex


def _essence(row: StoredMessage) -> object:
    """What of a row a model is told: where that is the same, nobody has changed anything."""
    return row.id, row.role, row.content, row.tool_calls, row.kind, row.active
