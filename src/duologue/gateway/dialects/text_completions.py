"""OpenAI's older endpoint `/v1/completions`: a text is continued as it is, without messages and without a template.

Owns the choice between a stream and a whole answer, and a completion's id and creation time. The shapes are in `wire.completions`, the
pipeline in `reply`; errors leave as `Problem`s, which the application turns into responses.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable

from fastapi import APIRouter, Request
from starlette.responses import Response

from duologue.config.settings import LimitSettings
from duologue.gateway.dialects import llama_completions
from duologue.gateway.dialects.chat_completions import WholeReply
from duologue.gateway.dialects.raw_completions import RawCompletions
from duologue.gateway.models.requested_models import RequestedModels
from duologue.http.json_api import user_of
from duologue.http.openapi import json_body
from duologue.http.sse import KEEP_ALIVE, PATIENCE, EventStream
from duologue.values.generate import Generate
from duologue.wire.completions.text_completion import TextCompletion, TextCompletionStream
from duologue.wire.completions.text_completion_body import TextCompletionBody
from duologue.wire.shapes.completion_shapes import CompletedText, CompletedTextChunk


def router(
    generate: Generate,
    requested: RequestedModels,
    limits: LimitSettings | None = None,
    *,
    clock: Callable[[], float] = time.time,
    patience: float = PATIENCE,
    keep_alive: float = KEEP_ALIVE,
) -> APIRouter:
    """The endpoint, and llama-server's own. `clock` gives seconds since 1970; `patience` and `keep_alive` are those of `sse`."""
    routes = APIRouter()
    completions = RawCompletions(generate, limits or LimitSettings())
    routes.include_router(
        llama_completions.router(completions, requested, patience=patience, keep_alive=keep_alive)
    )
    schema = json_body(
        TextCompletionBody,
        "application/json",
        "text/event-stream",
        description="A text_completion object, or with `stream` its chunks as server-sent events.",
        answers=CompletedText,
        chunks=CompletedTextChunk,
    )

    @routes.post("/v1/completions", tags=["OpenAI"], openapi_extra=schema, summary="Continue a text")
    async def create_completion(request: Request) -> Response:
        body = await completions.body(request, TextCompletionBody)
        card = await requested.card(body.model, user_of(request), receive=request.receive)
        source, _ = await completions.run(request, card, body.requests, body.each)
        id, created, prompts = f"cmpl-{uuid.uuid4().hex}", int(clock()), len(body.prompt)
        if not body.stream:
            completion = TextCompletion(
                id,
                created,
                card.name,
                prompts=prompts,
                each=body.each,
                keep=body.n,
                echo=body.echoed,
                logprobs=body.logprobs is not None,
            )
            return WholeReply(source, completion)
        stream = TextCompletionStream(
            id,
            created,
            card.name,
            prompts=prompts,
            each=body.each,
            usage=body.stream_options.include_usage,
            echo=body.echoed,
        )
        return EventStream(source, stream, patience=patience, keep_alive=keep_alive)

    return routes
