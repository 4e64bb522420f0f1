"""Anthropic's endpoints `/v1/messages` and `/v1/messages/count_tokens`.

Owns the choice between a stream and a whole message, and a message's id. The shapes are in `wire.anthropic`, the pipeline in
`dialects.reply`; errors leave as `Problem`s, which the application turns into responses.
"""

from __future__ import annotations

import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import TypeVar

from fastapi import APIRouter, Request
from msgspec import Struct, json
from starlette.responses import Response

from duologue.config.settings import LimitSettings
from duologue.errors import Unsupported
from duologue.gateway.dialects.awaited_replies import awaited_stream, awaited_whole
from duologue.gateway.dialects.merged_replies import Source
from duologue.gateway.dialects.reply import ReplyPipeline, ReplyPlan
from duologue.gateway.media.references import MediaReferences
from duologue.gateway.models.registry import admit
from duologue.gateway.models.requested_models import RequestedModels
from duologue.gateway.speech.service import SpeechService
from duologue.http.error_responses import request_id_of
from duologue.http.json_api import raw_body, user_of
from duologue.http.openapi import documented, json_body
from duologue.http.sse import KEEP_ALIVE, PATIENCE
from duologue.http.whole_answer import WholeAnswer
from duologue.request_parsing import parsing
from duologue.values.fitting import has_media
from duologue.values.generate import Batch, Generate
from duologue.values.messages import Part
from duologue.values.questions.worker_answers import Counted
from duologue.values.requests import ChatRequest, ModelCard
from duologue.wire.anthropic.conversation import relocated, relocated_event
from duologue.wire.anthropic.message_end import MessageHead
from duologue.wire.anthropic.message_stream import MessageEventEncoder, failure_event
from duologue.wire.anthropic.messages_body import (
    MessagesBody,
    TokenCountBody,
    TranslatedRequest,
    check_blocks,
)
from duologue.wire.anthropic.thoughts import display_of
from duologue.wire.anthropic.whole_message import WholeMessage
from duologue.wire.validation import decode_json, validate

M = TypeVar("M", bound=TokenCountBody)
Count = Callable[[ChatRequest, str], Awaitable[Counted]]


class InputTokens(Struct, frozen=True, omit_defaults=True):
    """The tokens of a prompt. `estimated`, an extension: the engine cannot count all of it."""

    input_tokens: int
    estimated: bool = False


class _Asked(Struct, frozen=True):
    """A request as it came: its body, which had `size` bytes, its model, and who sent it."""

    body: TokenCountBody
    size: int
    card: ModelCard
    user: str
    request_id: str


class _MessagePipeline:
    """The shared pipeline, plus what this API has: files, media at addresses, and paths of its own."""

    def __init__(self, pipeline: ReplyPipeline, limits: LimitSettings, references: MediaReferences) -> None:
        self._pipeline, self._limits, self._references = pipeline, limits, references

    async def translated(self, asked: _Asked) -> TranslatedRequest:
        """The request as a value, with its files and addresses read. Raises Problem."""
        named = await parsing(asked.size, lambda: list(asked.body.references()), user=asked.user)
        read: Mapping[str, Sequence[Part]] = (
            await self._references.read(named, asked.card, asked.user) if named else {}
        )
        return await parsing(asked.size, asked.body.translated, self._limits, read, user=asked.user)

    async def admitted(self, asked: _Asked, *, hears: bool) -> ChatRequest:
        """The request as its model takes it, which is not run. Raises Problem."""
        translated = await self.translated(asked)
        try:
            return admit(asked.card, translated.request, hears=hears)
        except Unsupported as problem:
            raise relocated(problem, translated.places) from None

    def _plan(self, asked: _Asked, translated: TranslatedRequest) -> ReplyPlan:
        try:
            return self._pipeline.plan(
                asked.card, translated.request, None, request_id=asked.request_id, user=asked.user
            )
        except Unsupported as problem:
            raise relocated(problem, translated.places) from None

    @asynccontextmanager
    async def run(self, asked: _Asked) -> AsyncIterator[AsyncIterator[Batch]]:
        """The batches of the reply, planned on entering: fetching what a request names takes a while, in which a stream has to be kept
        alive, and a client that leaves should end it."""
        translated = await self.translated(asked)
        plan = self._plan(asked, translated)
        async with self._pipeline.run(plan) as batches:
            if not has_media(plan.request):
                yield batches
                return
            async with aclosing(_relocated(batches, translated.places)) as relocated_batches:
                yield relocated_batches


async def _relocated(batches: AsyncIterator[Batch], places: Mapping[str, str]) -> AsyncGenerator[Batch]:
    """The batches with the paths that the client knows."""
    async for batch in batches:
        yield [(choice, relocated_event(event, places)) for choice, event in batch]


def router(
    generate: Generate,
    requested: RequestedModels,
    count: Count,
    *,
    limits: LimitSettings | None = None,
    speech: SpeechService | None = None,
    references: MediaReferences | None = None,
    patience: float = PATIENCE,
    keep_alive: float = KEEP_ALIVE,
) -> APIRouter:
    """The endpoints. `count` counts a prompt's tokens. `references` reads what a request names, without fetching anything where it is not
    given. `patience` and `keep_alive` are those of `sse`."""
    limits = limits or LimitSettings()
    speech = speech or SpeechService(None)
    pipeline = _MessagePipeline(
        ReplyPipeline(generate, speech), limits, references or MediaReferences(limits)
    )
    routes = APIRouter(prefix="/v1/messages", tags=["Anthropic"])

    async def read(request: Request, model: type[M]) -> tuple[M, Callable[[], Awaitable[_Asked]]]:
        """The body; and what finds its model, which may have to be loaded: that belongs into the answer."""
        data, user = await raw_body(request), user_of(request)
        body = await parsing(len(data), _decoded, data, model, limits, user=user)

        async def find() -> _Asked:
            card = await requested.card(body.model, user)
            return _Asked(body, len(data), card, user, request_id_of(request.scope))

        return body, find

    @routes.post(
        "",
        summary="Create a message",
        openapi_extra=json_body(
            MessagesBody,
            "application/json",
            "text/event-stream",
            description="A message, or with `stream` its parts as server-sent events.",
        ),
    )
    async def create_message(request: Request) -> Response:
        body, find = await read(request, MessagesBody)
        display = display_of(body.thinking)

        async def prepare() -> tuple[Source, MessageHead]:
            asked = await find()
            return pipeline.run(asked), _head(asked.card.name, body)

        if not body.stream:
            return awaited_whole(prepare, lambda head: WholeMessage(head, display))
        return awaited_stream(
            prepare,
            lambda head: MessageEventEncoder(head, display),
            patience=patience,
            keep_alive=keep_alive,
            failure=failure_event,
        )

    @routes.post(
        "/count_tokens",
        summary="Count the tokens of a message's prompt",
        openapi_extra=documented(body=TokenCountBody, answers=InputTokens, says="The tokens"),
    )
    async def count_tokens(request: Request) -> Response:
        _, find = await read(request, TokenCountBody)

        async def work() -> bytes:
            asked = await find()
            prompt = await pipeline.admitted(asked, hears=speech.status[0] != "absent")
            counted = await count(prompt, asked.user)
            return json.encode(InputTokens(counted.tokens, counted.estimated))

        return WholeAnswer(work)

    return routes


def _head(model: str, body: MessagesBody) -> MessageHead:
    return MessageHead(
        f"msg_{uuid.uuid4().hex}",
        model,
        max_tokens=body.max_tokens,
        stops=body.stops,
        asks_for_thoughts=body.thinking is not None,
    )


def _decoded(data: bytes, model: type[M], limits: LimitSettings) -> M:
    fields = decode_json(data)
    check_blocks(fields, limits)
    return validate(model, fields)
