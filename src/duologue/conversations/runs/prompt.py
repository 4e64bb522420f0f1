"""What a model is asked in one turn of a run: the path, its tools, and room for the reply.

Owns where the request comes from; its shape is `options.turn_request`'s. Knows no loop.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from duologue.conversations.agent.dependencies import RunDependencies
from duologue.conversations.history.generation_options import turn_request
from duologue.conversations.runs.repository import RunRepository
from duologue.errors import Problem
from duologue.tools.values import Offer, OfferedTool
from duologue.values.conversations import GenerationOptions, StoredMessage
from duologue.values.messages import Message, TextPart
from duologue.values.requests import ChatRequest, ModelCard

ROOM = 8
"""A reply needs an eighth of the context."""
MEDIA = 4000
"""Tokens a picture or a sound may take at most, for deciding whether to count at all."""
MESSAGE = 16
"""Tokens around a message, at most."""


class PromptBuilder:
    """The requests of one run. The tools are those offered at its start: a prompt that begins the same every turn is read
    from the cache."""

    def __init__(
        self,
        user: str,
        conversation: str,
        options: GenerationOptions,
        keeping: RunRepository,
        provisions: RunDependencies,
    ) -> None:
        self._user = user
        self._conversation = conversation
        self._options = options
        self._keeping = keeping
        self._provisions = provisions
        self._offer: Offer | None = None
        self.card: ModelCard | None = None

    @property
    def tools(self) -> dict[str, OfferedTool]:
        """What the model was offered, by the name it knows."""
        return {tool.name: tool for tool in self._offer.tools} if self._offer is not None else {}

    @property
    def can_make_room(self) -> bool:
        return self._provisions.make_room is not None

    async def prepare(self) -> ModelCard:
        """Find the model and its tools. Raises ModelNotFound, Unavailable."""
        card = self.card = self._provisions.resolve(self._options.model)
        if self._offer is None:
            self._offer = await self._offered(card)
        return card

    async def request(
        self,
        row: StoredMessage,
        own: Mapping[str, StoredMessage],
        *,
        goes_on: bool,
        make_room: bool = False,
    ) -> ChatRequest:
        """The request whose reply goes into `row`. `own` are the run's rows as they stand, where the store is behind.
        `make_room`: the prompt is known to be too long. Raises what finding the model, reading the store and the
        attachments raise."""
        card = await self.prepare()
        request = await self._of_path(row, own, card, goes_on)
        above = row.parent
        make = self._provisions.make_room
        if make is None or above is None or not card.context:
            return request
        if (make_room or await self._is_tight(request, card)) and (
            await make(self._user, self._conversation, above, card) is not None
        ):
            return await self._of_path(row, own, card, goes_on)
        return request

    async def _of_path(
        self, row: StoredMessage, own: Mapping[str, StoredMessage], card: ModelCard, goes_on: bool
    ) -> ChatRequest:
        path: Sequence[StoredMessage] = ()
        if row.parent is not None:
            path = await self._keeping.store.messages.path(self._conversation, row.parent)
        rows = [own.get(above.id, above) for above in path]
        attachments = self._provisions.attachments(self._conversation)
        messages = await attachments.messages(self._user, [*rows, row] if goes_on else rows, card)
        return turn_request(
            messages, self._options, card, self._offer or Offer(), goes_on=row if goes_on else None
        )

    async def _offered(self, card: ModelCard) -> Offer:
        toolbox = self._provisions.toolbox
        # What a model that still loads can do is not known yet; one that cannot call tools must not be offered any.
        takes_tools = not card.context or "tools" in card.verbs
        if toolbox is None or self._options.tools is False or not takes_tools:
            return Offer()
        options = msgspec.structs.replace(self._options, model=card.name)
        budget = card.context // 3 or None
        return await toolbox.offer(self._user, options, budget_tokens=budget, count=self._provisions.count)

    async def _is_tight(self, request: ChatRequest, card: ModelCard) -> bool:
        """Whether the prompt leaves too little for a reply. A token is at least a byte, so a short prompt is not even
        counted."""
        most = card.context - card.context // ROOM
        if self._provisions.count is None or _bytes(request) <= most:
            return False
        try:
            return (await self._provisions.count(request)).tokens > most
        except Problem:
            return False


def _bytes(request: ChatRequest) -> int:
    tools = sum(len(msgspec.json.encode(tool)) for tool in request.tools)
    return tools + sum(_message_bytes(message) for message in request.messages)


def _message_bytes(message: Message) -> int:
    parts = sum(len(part.text.encode()) if isinstance(part, TextPart) else MEDIA for part in message.parts)
    calls = sum(len(call.arguments.encode()) + len(call.name) for call in message.tool_calls)
    return MESSAGE + parts + calls + len((message.reasoning or "").encode())
