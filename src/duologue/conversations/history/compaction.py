"""Room in the context: the gauge of a branch, and the summary that takes the place of its oldest turns.

Owns who is asked to count and to sum up, and where the summary's row goes. What is folded is decided in `context`.

The summary is a row of its own between the last folded row and all that followed it. Nothing is lost: the folded rows
stay where they are, every branch below goes on from the summary, and deleting it puts all back as it was.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

import anyio

from duologue.conversations.agent.dependencies import ConversationFiles, Count, ToolProvider
from duologue.conversations.agent.one_shot import one_shot_reply
from duologue.conversations.history import summary_prompt
from duologue.conversations.history.context_window import (
    ContextGauge,
    Fold,
    estimate,
    fold,
    gauge,
    is_summary,
)
from duologue.conversations.history.generation_options import inherited, turn_request
from duologue.errors import BadRequest, Busy, NotFound, Problem
from duologue.tools.values import Offer
from duologue.values.conversations import Conversation, GenerationOptions, StoredMessage, TextContent
from duologue.values.generate import Generate
from duologue.values.requests import ModelCard
from duologue.values.runs import ListChanged, ListEvent

if TYPE_CHECKING:
    from duologue.store.stores import Stores

log = logging.getLogger(__name__)

COUNTING = 10.0
"""Seconds a count may take; then the prompt is estimated."""
SUMMING_UP = 120.0
"""Seconds all of a summary may take; then it is made of first sentences."""


class Compaction:
    """`attachments` are those of a conversation; `defaults` what a user's settings say of every reply."""

    def __init__(
        self,
        stores: Stores,
        generate: Generate,
        resolve: Callable[[str], ModelCard],
        attachments: Callable[[str], ConversationFiles],
        *,
        count: Count | None = None,
        toolbox: ToolProvider | None = None,
        defaults: Callable[[str], Awaitable[GenerationOptions]],
        publish: Callable[[str, ListEvent], None],
    ) -> None:
        self._stores = stores
        self._generate = generate
        self._resolve = resolve
        self._attachments = attachments
        self._count = count
        self._toolbox = toolbox
        self._defaults = defaults
        self._publish = publish

    async def gauge(self, user: str, id: str, leaf: str | None = None) -> ContextGauge:
        """How full the context is on the branch of `leaf`, or where the conversation stands. Raises NotFound, and
        what naming the model raises."""
        conversation, path = await self._path(user, id, leaf)
        card = await self._card(user, conversation)
        return await self._measure(user, conversation, path, card)

    async def compact(
        self, user: str, id: str, summary_id: str | None = None, leaf: str | None = None
    ) -> StoredMessage:
        """Fold the oldest turns of a branch now, at least one, so that the rest takes half of the context. Gives the
        summary's row; the same `summary_id` again gives the same row.

        Raises NotFound, Busy while a reply is running, BadRequest(code="nothing_to_fold").
        """
        conversation, path = await self._path(user, id, leaf)
        if summary_id and (there := next((row for row in path if row.id == summary_id), None)) is not None:
            return there
        if conversation.running is not None:
            raise Busy(
                "A reply is being written here. Stop it, or wait until it is done.",
                code="run_in_progress",
                status=409,
            )
        card = await self._card(user, conversation)
        if (row := await self._folded(user, conversation, path, card, summary_id)) is None:
            raise BadRequest(
                "There is nothing to fold yet: the last turn always stays.", code="nothing_to_fold"
            )
        return row

    async def make_room(self, user: str, id: str, leaf: str, card: ModelCard) -> str | None:
        """What a run asks before a turn whose prompt leaves too little for a reply: fold the oldest turns above
        `leaf`. Gives the leaf to go on from; None when no room could be made. Raises Unavailable as the store does."""
        try:
            conversation, path = await self._path(user, id, leaf)
            row = await self._folded(
                user, conversation, path, card, None, least=summary_prompt.budget(card.context)
            )
        except (BadRequest, NotFound):  # rows it was about were deleted meanwhile
            return None
        return leaf if row is not None else None

    async def _path(
        self, user: str, id: str, leaf: str | None
    ) -> tuple[Conversation, tuple[StoredMessage, ...]]:
        store = self._stores.of(id)
        conversation = await store.conversations.get(user, id)
        at = leaf or conversation.leaf
        return conversation, await store.messages.path(id, at) if at else ()

    async def _card(self, user: str, conversation: Conversation) -> ModelCard:
        options = inherited(conversation.options, await self._defaults(user))
        return self._resolve(options.model)

    async def _measure(
        self, user: str, conversation: Conversation, path: Sequence[StoredMessage], card: ModelCard
    ) -> ContextGauge:
        options = inherited(conversation.options, await self._defaults(user))
        offer = await self._offer(user, options, card)
        tools = sum(len(tool.description) + len(str(tool.parameters)) for tool in offer.tools) // 4
        if self._count is not None and path:
            messages = await self._attachments(conversation.id).messages(user, path, card)
            request = turn_request(messages, options, card, offer)
            try:
                with anyio.fail_after(COUNTING):
                    counted = await self._count(request)
            except (Problem, TimeoutError) as error:
                log.info("the prompt of %s was estimated, not counted: %s", conversation.id, error)
            else:
                context = counted.context or card.context
                estimated = bool(getattr(counted, "estimated", False))
                return gauge(path, tokens=counted.tokens, context=context, estimated=estimated, tools=tools)
        tokens = estimate(path, tools)
        return gauge(path, tokens=tokens, context=card.context, estimated=True, tools=tools)

    async def _offer(self, user: str, options: GenerationOptions, card: ModelCard) -> Offer:
        if self._toolbox is None or options.tools is False or "tools" not in card.verbs:
            return Offer()
        return await self._toolbox.offer(user, options, budget_tokens=card.context // 3 or None, count=None)

    async def _folded(
        self,
        user: str,
        conversation: Conversation,
        path: Sequence[StoredMessage],
        card: ModelCard,
        summary_id: str | None,
        least: int = 0,
    ) -> StoredMessage | None:
        """Fold what `context.fold` plans, and keep the summary. None where there is nothing to fold."""
        now = await self._measure(user, conversation, path, card)
        fixed = sum(part.tokens for part in now.parts if part.what in ("system", "tools"))
        room = max(0, (now.context or 2 * now.tokens) // 2 - fixed - summary_prompt.budget(now.context))
        tools = sum(part.tokens for part in now.parts if part.what == "tools")
        plan = fold(path, tokens=now.tokens, room=room, least=least, tools=tools)
        if plan is None:
            return None
        text, model = await self._summed_up(user, plan, card, now.context)
        row = StoredMessage(
            summary_id or uuid.uuid4().hex,
            conversation.id,
            plan.last.id,
            "system",
            (TextContent(text),),
            kind="summary",
            model=model,
        )
        return await self._keep(user, row)

    async def _summed_up(self, user: str, plan: Fold, card: ModelCard, context: int) -> tuple[str, str]:
        """The words of the summary and the model that wrote them; first sentences, of no model, where it cannot or
        does not."""
        if summary_prompt.can_write(card):
            try:
                with anyio.fail_after(SUMMING_UP):
                    text = await self._written(user, plan, card, context)
                if text:
                    return f"{summary_prompt.HEAD}\n{text}", card.name
            except (Problem, TimeoutError) as error:
                log.info("a summary was made of first sentences, for the model wrote none: %s", error)
        return summary_prompt.extract(plan.folded, context), ""

    async def _written(self, user: str, plan: Fold, card: ModelCard, context: int) -> str:
        """The model's words, piece by piece; "" when it has none for one of them."""
        text = ""
        for piece in summary_prompt.pieces(plan.folded, context):
            asked = summary_prompt.question(piece, text, context=context, model=card.name)
            text = (await one_shot_reply(self._generate, asked, user=user)).strip()
            if not text:
                break
        return text

    async def _keep(self, user: str, new: StoredMessage) -> StoredMessage:
        """Put the summary between its parent and all that followed it. Where another one came there meanwhile, that is
        the summary."""
        store = self._stores.of(new.conversation)
        async with store.writing() as connection:
            rows = await store.messages.all(new.conversation, within=connection)
            below = [row for row in rows if row.parent == new.parent]
            if (there := next(filter(is_summary, below), None)) is not None:
                return there
            (row,) = await store.messages.add([new], touch=False, within=connection)
            await store.messages.reparent(
                new.conversation, {one.id: row.id for one in below}, within=connection
            )
        self._publish(user, ListChanged(new.conversation))
        return row
