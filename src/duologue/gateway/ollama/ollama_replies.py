"""Ollama's `/api/chat` and `/api/generate`, over the pipeline that all dialects share.

Owns loading and unloading by a request without a prompt, and the choice between a stream and one object. The shapes are in
`wire.ollama`.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from fastapi import APIRouter, Request
from msgspec import Struct, json
from starlette.responses import Response

from duologue.config.settings import LimitSettings
from duologue.errors import Unsupported
from duologue.gateway.auth.middleware import admin
from duologue.gateway.dialects.awaited_replies import awaited_stream, awaited_whole
from duologue.gateway.dialects.merged_replies import Source
from duologue.gateway.dialects.reply import ReplyPipeline, ReplyPlan
from duologue.gateway.ollama.model_details import thinks
from duologue.gateway.ollama.ollama_names import OllamaNames
from duologue.http.error_responses import request_id_of
from duologue.http.json_api import answer, body_of, user_of
from duologue.http.openapi import json_body
from duologue.http.sse import KEEP_ALIVE, PATIENCE
from duologue.http.whole_answer import WholeAnswer
from duologue.request_parsing import parsing
from duologue.values.requests import ModelCard
from duologue.wire.ollama.ollama_models import tagged
from duologue.wire.ollama.ollama_reply import (
    NDJSON,
    Kind,
    OllamaHead,
    OllamaReply,
    OllamaStream,
    failure_line,
    loaded,
)
from duologue.wire.ollama.ollama_requests import OllamaChatBody, OllamaGenerateBody
from duologue.wire.validation import check_counts, validate
from duologue.wire.validation_errors import shortened

Unload = Callable[[str], Awaitable[None]]
"""Unloads a model by this server's name of it. Raises Problem."""
AnyBody = OllamaChatBody | OllamaGenerateBody
B = TypeVar("B", OllamaChatBody, OllamaGenerateBody)


class _Clocks(Struct, frozen=True):
    """Seconds since 1970; nanoseconds from any time on."""

    wall: Callable[[], float] = time.time
    monotonic: Callable[[], int] = time.monotonic_ns


def router(
    pipeline: ReplyPipeline,
    names: OllamaNames,
    unload: Unload,
    *,
    limits: LimitSettings | None = None,
    clock: Callable[[], float] = time.time,
    patience: float = PATIENCE,
    keep_alive: float = KEEP_ALIVE,
) -> APIRouter:
    """The routes. `clock` gives seconds since 1970; `patience` and `keep_alive` are those of `sse`."""
    routes = APIRouter(tags=["Ollama"])
    replies = _Replies(
        pipeline, names, unload, limits or LimitSettings(), _Clocks(clock), patience, keep_alive
    )
    says = "The reply as one object, or (by default) in pieces, one JSON object a line."

    @routes.post(
        "/api/chat",
        summary="Answer a conversation",
        openapi_extra=json_body(OllamaChatBody, NDJSON, "application/json", description=says),
    )
    async def chat(request: Request) -> Response:
        """Without messages the model is only loaded, or with `keep_alive` 0 unloaded."""
        return await replies.answered(request, OllamaChatBody, "chat")

    @routes.post(
        "/api/generate",
        summary="Answer a prompt",
        openapi_extra=json_body(OllamaGenerateBody, NDJSON, "application/json", description=says),
    )
    async def generate(request: Request) -> Response:
        """Without a prompt the model is only loaded, or with `keep_alive` 0 unloaded."""
        return await replies.answered(request, OllamaGenerateBody, "generate")

    return routes


class _Replies:
    def __init__(
        self,
        pipeline: ReplyPipeline,
        names: OllamaNames,
        unload: Unload,
        limits: LimitSettings,
        clocks: _Clocks,
        patience: float,
        keep_alive: float,
    ) -> None:
        self._pipeline, self._names, self._unload = pipeline, names, unload
        self._limits, self._clocks = limits, clocks
        self._patience, self._keep_alive = patience, keep_alive

    async def answered(self, request: Request, model: type[B], kind: Kind) -> Response:
        """The answer to a request. Raises Problem."""
        user = user_of(request)
        fields = await body_of(request)
        size = len(await request.body())
        body = await parsing(size, _read, model, fields, self._limits, user=user)
        if body.is_empty and body.unloads:
            admin(request)
            await self._unload(await self._names.own(body.model))
            return answer(loaded(self._head(kind, body.model), "unload"))

        async def find() -> tuple[ModelCard, OllamaHead]:
            before = self._clocks.monotonic()
            card = await self._names.card(body.model, user)
            load = self._clocks.monotonic() - before
            return card, self._head(kind, body.model or tagged(card.name), load)

        async def prepare() -> tuple[Source, OllamaHead]:
            card, head = await find()
            plan = await self._plan(body, size, card, request_id_of(request.scope), user)
            return self._pipeline.run(plan), head

        async def load() -> bytes:
            _, head = await find()
            return json.encode(loaded(head, "load"))

        if body.is_empty:
            return WholeAnswer(load)
        if not body.stream:
            return awaited_whole(prepare, OllamaReply)
        # A request without a model gets the default one, whose name is not known yet.
        waiting = OllamaStream(self._head(kind, body.model))
        return awaited_stream(
            prepare,
            OllamaStream,
            patience=self._patience,
            keep_alive=self._keep_alive,
            note=waiting.note,
            placed=waiting.placed,
            media_type=NDJSON,
            failure=failure_line,
        )

    async def _plan(self, body: AnyBody, size: int, card: ModelCard, request_id: str, user: str) -> ReplyPlan:
        request = await parsing(size, body.request, self._limits, card, user=user)
        # What a model that is still loading, or one of a connected server, can do is not known for certain.
        if request.thinking and card.verbs and not card.upstream and not thinks(card):
            raise Unsupported(f"think: the model {card.name} does not think.", param="think")
        return self._pipeline.plan(card, request, None, request_id=request_id, user=user)

    def _head(self, kind: Kind, model: str, load: int = 0) -> OllamaHead:
        return OllamaHead(kind, shortened(model, 300), self._clocks.wall(), load)


def _read(model: type[B], fields: Mapping[str, Any], limits: LimitSettings) -> B:
    check_counts(fields, limits)
    return validate(model, fields)
