"""The prompt of one model turn of a run: the path, the tools, and enough room for the reply.

Used by `model_turns.py`. Reads the rows and files; `history/generation_options.py` shapes the request.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from duologue.conversations.agent.dependencies import RunDependencies
from duologue.conversations.history.generation_options import turn_request
from duologue.conversations.runs.repository import RunRepository
from duologue.errors import ModelNotFound, Problem
from duologue.tools.values import Offer, OfferedTool
from duologue.values.conversations import GenerationOptions, StoredMessage
from duologue.values.messages import AudioPart, ImagePart, Message, TextPart, VideoPart
from duologue.values.requests import ChatRequest, ModelCard

REPLY_SHARE = 8
"""A reply needs an eighth of the context."""
TOOLS_SHARE = 3
"""Tool definitions may take a third of the context."""
MEDIA_TOKENS: dict[type, int] = {ImagePart: 8000, AudioPart: 64_000, VideoPart: 128_000}
"""Upper bounds, to decide whether a prompt must be counted at all."""
MESSAGE_TOKENS = 16
"""Upper bound for the tokens around a message."""


class PromptBuilder:
    """The requests of one run. The tools stay those offered at its start, because a prompt that starts the same every turn is
    read from the model's cache."""

    def __init__(
        self,
        user: str,
        conversation: str,
        options: GenerationOptions,
        repository: RunRepository,
        dependencies: RunDependencies,
    ) -> None:
        self._user = user
        self._conversation = conversation
        self._options = options
        self._repository = repository
        self._dependencies = dependencies
        self._offer: Offer | None = None
        self.card: ModelCard | None = None
        self.path: Sequence[StoredMessage] = ()
        """The rows above the reply, of the latest request."""

    @property
    def model(self) -> str:
        """The name of the run's model."""
        return self._options.model

    @property
    def tools(self) -> dict[str, OfferedTool]:
        """The tools the model was offered, by the name it uses."""
        return {tool.name: tool for tool in self._offer.tools} if self._offer is not None else {}

    @property
    def can_make_room(self) -> bool:
        return self._dependencies.make_room is not None

    async def prepare(self) -> ModelCard:
        """Find the model and its tools. Raises ModelNotFound, Unavailable."""
        card = self.card = self._resolve()
        if self._offer is None:
            self._offer = await self._tool_offer(card)
        return card

    def _resolve(self) -> ModelCard:
        try:
            return self._dependencies.resolve(self._options.model)
        except ModelNotFound:
            if self._dependencies.models is None:
                raise
            # Tool calls of an earlier reply run before the model is loaded.
            return ModelCard(self._options.model, "", 0)

    async def request(
        self,
        row: StoredMessage,
        own: Mapping[str, StoredMessage],
        *,
        continues: bool,
        make_room: bool = False,
    ) -> ChatRequest:
        """The request whose reply is written into `row`. `own`: the run's rows as they are now, where the store is behind.
        `continues`: the reply continues the text in `row`. `make_room`: the prompt is known to be too long. Raises what
        resolving the model, reading the store and the attachments raise."""
        card = await self.prepare()
        request = await self._path_request(row, own, card, continues)
        above = row.parent
        summarise = self._dependencies.make_room
        if summarise is None or above is None or not card.context:
            return request
        if (make_room or await self._is_tight(request, card)) and (
            await summarise(self._user, self._conversation, above, card) is not None
        ):
            return await self._path_request(row, own, card, continues)
        return request

    async def _path_request(
        self, row: StoredMessage, own: Mapping[str, StoredMessage], card: ModelCard, continues: bool
    ) -> ChatRequest:
        path: Sequence[StoredMessage] = ()
        if row.parent is not None:
            path = await self._repository.store.messages.path(self._conversation, row.parent)
        self.path = rows = [own.get(above.id, above) for above in path]
        attachments = self._dependencies.attachments(self._conversation)
        messages = await attachments.messages(self._user, [*rows, row] if continues else rows, card)
        return turn_request(
            messages, self._options, card, self._offer or Offer(), continues=row if continues else None
        )

    async def _tool_offer(self, card: ModelCard) -> Offer:
        toolbox = self._dependencies.toolbox
        # A model that is still loading has no context size and no known abilities yet. Only a loaded model that cannot call
        # tools is refused them.
        takes_tools = not card.context or "tools" in card.verbs
        if toolbox is None or self._options.tools is False or not takes_tools:
            return Offer()
        options = msgspec.structs.replace(self._options, model=card.name)
        budget = card.context // TOOLS_SHARE or None
        return await toolbox.offer(self._user, options, budget_tokens=budget, count=self._dependencies.count)

    async def _is_tight(self, request: ChatRequest, card: ModelCard) -> bool:
        """Whether the prompt leaves too little room for a reply. A token is at least one byte, so a prompt with fewer bytes
        than the limit need not be counted."""
        limit = card.context - card.context // REPLY_SHARE
        if self._dependencies.count is None or _bytes(request) <= limit:
            return False
        try:
            return (await self._dependencies.count(request, self._user)).tokens > limit
        except Problem:
            return False


def _bytes(request: ChatRequest) -> int:
    tools = sum(len(msgspec.json.encode(tool)) for tool in request.tools)
    return tools + sum(_message_bytes(message) for message in request.messages)


def _message_bytes(message: Message) -> int:
    parts = sum(
        len(part.text.encode()) if isinstance(part, TextPart) else MEDIA_TOKENS[type(part)]
        for part in message.parts
    )
    calls = sum(len(call.arguments.encode()) + len(call.name) for call in message.tool_calls)
    return MESSAGE_TOKENS + parts + calls + len((message.reasoning or "").encode())
