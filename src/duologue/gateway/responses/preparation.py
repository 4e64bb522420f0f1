"""A response before it is written: its earlier turns found, its media read, checked against the model, and fitted to the context.

Used by `service`, in the foreground and the background alike.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from duologue.config.sections.responses import ResponseSettings
from duologue.config.settings import LimitSettings
from duologue.errors import BadRequest, TooLarge
from duologue.gateway.dialects.reply import ReplyPipeline, ReplyPlan
from duologue.gateway.media.references import MediaReferences
from duologue.gateway.middleware import byte_ledger
from duologue.gateway.responses.item_storage import MEGABYTE, ItemStorage
from duologue.gateway.responses.truncation import fitted_to_context
from duologue.request_parsing import parsing
from duologue.store.responses.response_record import StoredItem
from duologue.threads import LARGE
from duologue.values.questions.worker_answers import Counted
from duologue.values.requests import ChatRequest, ModelCard
from duologue.wire.responses import item_messages
from duologue.wire.responses.item_bodies import AnyItem, stored_items
from duologue.wire.responses.item_messages import placed
from duologue.wire.responses.item_records import recorded
from duologue.wire.responses.response_body import ResponseBody
from duologue.wire.responses.response_object import RUNNING, fixed_fields

CountTokens = Callable[[ChatRequest, str], Awaitable[Counted]]


class AskedResponse(Struct, frozen=True):
    """A request as it came: the body, its bytes, the model, its user, the response's id and creation time (seconds)."""

    body: ResponseBody
    size: int
    card: ModelCard
    user: str
    request_id: str
    id: str
    created: int


class PreparedResponse(Struct, frozen=True):
    """One that can be written. `given`: its own input items, as they are stored; `fixed`: what every event repeats."""

    asked: AskedResponse
    plan: ReplyPlan
    given: tuple[StoredItem, ...]
    fixed: dict[str, Any]


class ResponsePreparation:
    """`count` counts the tokens of a request's prompt."""

    def __init__(
        self,
        pipeline: ReplyPipeline,
        storage: ItemStorage,
        references: MediaReferences,
        limits: LimitSettings,
        settings: ResponseSettings,
        count: CountTokens,
    ) -> None:
        self._pipeline, self._storage, self._references = pipeline, storage, references
        self._limits, self._settings, self._count = limits, settings, count

    async def prepare(self, asked: AskedResponse) -> PreparedResponse:
        """Raises Problem for what cannot be found, read or kept."""
        body, user = asked.body, asked.user
        own = await self._storage.resolved(user, body.input, "input")
        plan = await self._plan(asked, own)
        given: tuple[StoredItem, ...] = ()
        if body.store:
            stem = asked.id.removeprefix("resp_")
            given = await self._storage.keep(user, recorded(own, stem))
        fixed = fixed_fields(body, asked.card, asked.id, asked.created)
        return PreparedResponse(asked, plan, given, fixed)

    async def count(self, asked: AskedResponse) -> Counted:
        """The tokens of the input. Raises Problem."""
        own = await self._storage.resolved(asked.user, asked.body.input, "input")
        plan = await self._plan(asked, own)
        return await self._count(plan.request, asked.user)

    async def _plan(self, asked: AskedResponse, own: Sequence[AnyItem]) -> ReplyPlan:
        body, user = asked.body, asked.user
        body.check()
        earlier, before = await self._earlier_items(body, user)
        items = [*placed(earlier, "history"), *placed(own, "input")]
        if len(items) > self._limits.messages:
            raise TooLarge(
                f"The input and the turns before it have more than {self._limits.messages:,} items (setting limits.messages).",
                param="input",
            )
        named = await parsing(asked.size + before, lambda: list(item_messages.references(items)), user=user)
        read = await self._references.read(named, asked.card, user) if named else {}
        request = await parsing(
            asked.size + before,
            body.request,
            items,
            read,
            self._limits,
            self._settings.hosted_tools,
            user=user,
        )
        plan = self._pipeline.plan(asked.card, request, None, request_id=asked.request_id, user=user)
        if body.truncation == "auto":
            request = await fitted_to_context(plan.request, asked.card, self._count, user)
            plan = msgspec.structs.replace(plan, request=request)
        return plan

    async def _earlier_items(self, body: ResponseBody, user: str) -> tuple[list[AnyItem], int]:
        """The items of the response or conversation that this one continues, and about how many bytes they have, which count for what
        their user has in flight. Raises NotFound, BadRequest, TooLarge before more than a request may have is read, Busy."""
        rows = self._storage
        if body.previous_response_id is not None:
            previous = await rows.responses.get(user, body.previous_response_id)
            if previous.status in RUNNING:
                raise BadRequest(
                    f"The response {previous.id!r} is still being written; continue it when it has ended.",
                    code="response_in_progress",
                    param="previous_response_id",
                )
            stored = await rows.responses.chain(user, previous.id, rows.bounds)
        elif body.conversation is not None:
            if body.store:
                await rows.conversations.check_room(user, self._settings.user_mb * MEGABYTE)
            stored = await rows.conversations.items(user, body.conversation.id, rows.bounds)
        else:
            return [], 0
        size = sum(item.size for item in stored)
        byte_ledger.count(size)
        full = await rows.with_media(user, stored)
        if size < LARGE:  # with pictures it may be large all the same
            size = sum(len(text) for item in full for text in _texts(item))
        return await parsing(size, stored_items, full, user=user), size


def _texts(value: object) -> Iterator[str]:
    """Every text within a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for entry in value.values() if isinstance(value, dict) else value:
            yield from _texts(entry)
