"""Compaction of the context: the gauge of a branch, and the summary that replaces its oldest turns in the prompt.

Used by the API, and by a run whose prompt is too long. `context_window.py` decides what to fold, `summary_prompt.py` owns the
prompt; this module counts, runs the model and stores the summary.

The summary is a row of its own between the last folded row and everything below it. Nothing is lost: the folded rows stay
where they are, every branch below continues from the summary, and deleting the summary restores the former state.
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
from duologue.store.schema.repeating import repeated
from duologue.tools.values import Offer
from duologue.values.conversations import Conversation, GenerationOptions, StoredMessage, TextContent
from duologue.values.generate import Generate
from duologue.values.requests import ModelCard
from duologue.values.runs import ListChanged, ListEvent

if TYPE_CHECKING:
    from duologue.store.stores import Stores

log = logging.getLogger(__name__)

COUNT_TIMEOUT_S = 10.0
"""After this, the prompt is estimated instead of counted."""
SUMMARY_TIMEOUT_S = 120.0
"""For the whole summary; after this, it is an extract of first sentences."""


class Compaction:
    """`attachments` gives those of a conversation, `defaults` the generation options in a user's settings."""

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
        """How full the context is on the branch of `leaf`, by default the conversation's own. Raises NotFound, and what
        resolving the model raises."""
        conversation, path = await self._path(user, id, leaf)
        card = await self._card(user, conversation)
        return await self._measure(user, conversation, path, card)

    async def compact(
        self, user: str, id: str, summary_id: str | None = None, leaf: str | None = None
    ) -> StoredMessage:
        """Fold the oldest turns of a branch, at least one, so that the rest takes half of the context. Returns the summary's
        row. Idempotent by `summary_id`.

        Raises NotFound, Busy while a reply is running, BadRequest(code="nothing_to_fold").
        """
        conversation, path = await self._path(user, id, leaf)
        if summary_id and (known := next((row for row in path if row.id == summary_id), None)) is not None:
            return known
        if conversation.running is not None:
            raise Busy(
                "A reply is being written here. Stop it, or wait until it is done.",
                code="run_in_progress",
                status=409,
            )
        card = await self._card(user, conversation)
        if (row := await self._fold(user, conversation, path, card, summary_id)) is None:
            raise BadRequest(
                "There is nothing to fold yet: the last turn is never folded.", code="nothing_to_fold"
            )
        return row

    async def make_room(self, user: str, id: str, leaf: str, card: ModelCard) -> str | None:
        """Fold the oldest turns above `leaf`, for a run whose prompt leaves too little room for a reply. Returns the leaf to
        continue from; None when nothing could be folded. Raises Unavailable as the store does."""
        try:
            conversation, path = await self._path(user, id, leaf)
            row = await self._fold(
                user, conversation, path, card, None, least=summary_prompt.budget(card.context)
            )
        except (BadRequest, NotFound):  # the rows were deleted in the meantime
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
                with anyio.fail_after(COUNT_TIMEOUT_S):
                    counted = await self._count(request, user)
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

    async def _fold(
        self,
        user: str,
        conversation: Conversation,
        path: Sequence[StoredMessage],
        card: ModelCard,
        summary_id: str | None,
        least: int = 0,
    ) -> StoredMessage | None:
        """Carry out the plan of `fold`, and store the summary. None when there is nothing to fold."""
        measured = await self._measure(user, conversation, path, card)
        fixed = sum(part.tokens for part in measured.parts if part.what in ("system", "tools"))
        room = max(
            0,
            (measured.context or 2 * measured.tokens) // 2 - fixed - summary_prompt.budget(measured.context),
        )
        tools = sum(part.tokens for part in measured.parts if part.what == "tools")
        plan = fold(path, tokens=measured.tokens, room=room, least=least, tools=tools)
        if plan is None:
            return None
        text, model = await self._summary(user, plan, card, measured.context)
        row = StoredMessage(
            summary_id or uuid.uuid4().hex,
            conversation.id,
            plan.last.id,
            "system",
            (TextContent(text),),
            kind="summary",
            model=model,
        )
        return await self._insert(user, row)

    async def _summary(self, user: str, plan: Fold, card: ModelCard, context: int) -> tuple[str, str]:
        """The text of the summary and the model that wrote it; an extract and "" when no model can or does."""
        if summary_prompt.can_write(card):
            try:
                with anyio.fail_after(SUMMARY_TIMEOUT_S):
                    text = await self._generate_summary(user, plan, card, context)
                if text:
                    return f"{summary_prompt.HEAD}\n{text}", card.name
            except (Problem, TimeoutError) as error:
                log.info("the model wrote no summary, so an extract of first sentences is used: %s", error)
        return summary_prompt.extract(plan.folded, context), ""

    async def _generate_summary(self, user: str, plan: Fold, card: ModelCard, context: int) -> str:
        """The model's summary, extended piece by piece; "" when it writes nothing for one of them."""
        text = ""
        for piece in summary_prompt.pieces(plan.folded, context):
            request = summary_prompt.summary_request(piece, text, context=context, model=card.name)
            text = (await one_shot_reply(self._generate, request, user=user)).strip()
            if not text:
                break
        return text

    @repeated
    async def _insert(self, user: str, new: StoredMessage) -> StoredMessage:
        """Insert the summary between its parent and everything below. If another summary was inserted there in the meantime,
        return that one."""
        store = self._stores.of(new.conversation)
        async with store.writing() as connection:
            await store.conversations.hold(user, new.conversation, within=connection)
            rows = await store.messages.all(new.conversation, within=connection)
            below = [row for row in rows if row.parent == new.parent]
            if (other := next(filter(is_summary, below), None)) is not None:
                return other
            (row,) = await store.messages.add([new], touch=False, within=connection)
            await store.messages.reparent(
                new.conversation, {child.id: row.id for child in below}, within=connection
            )
        self._publish(user, ListChanged(new.conversation))
        return row
