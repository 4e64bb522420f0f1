"""OpenAI's older endpoint `/v1/completions`: a text is continued as it is, without messages and without a template.

Owns the choice between a stream and a whole answer, and a completion's id and creation time. The shapes are in `wire.completions`, the
pipeline in `reply`; errors leave as `Problem`s, which the application turns into responses.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Sequence
from typing import TypeVar

from fastapi import APIRouter, Request
from starlette.responses import Response

from duologue.config.settings import LimitSettings
from duologue.gateway.dialects.chat_completions import WholeReply
from duologue.gateway.dialects.merged_replies import Source, merged
from duologue.gateway.dialects.reply import ReplyPipeline
from duologue.gateway.models.requested_models import RequestedModels
from duologue.gateway.speech.service import SpeechService
from duologue.http.error_responses import request_id_of
from duologue.http.json_api import body_of, user_of
from duologue.http.openapi import json_body
from duologue.http.sse import KEEP_ALIVE, PATIENCE, EventStream
from duologue.request_parsing import parsing
from duologue.values.generate import Generate
from duologue.values.requests import ChatRequest, ModelCard
from duologue.wire.completions.text_completion import TextCompletion, TextCompletionStream
from duologue.wire.completions.text_completion_body import TextCompletionBody
from duologue.wire.validation import Body, validate

B = TypeVar("B", bound=Body)


class RawCompletions:
    """Reads bodies and runs the replies to their prompts, for every API of raw prompts."""

    def __init__(self, generate: Generate, limits: LimitSettings) -> None:
        self._limits = limits
        self._pipeline = ReplyPipeline(generate, SpeechService(None))

    async def body(self, request: Request, model: type[B]) -> B:
        """Raises BadRequest, TooLarge; Unsupported for a compressed body."""
        fields = await body_of(request)
        size = len(await request.body())
        return await parsing(size, validate, model, fields, user=user_of(request))

    async def run(
        self,
        request: Request,
        card: ModelCard,
        make: Callable[[LimitSettings, ModelCard], Sequence[ChatRequest]],
        each: int,
    ) -> tuple[Source, Sequence[ChatRequest]]:
        """The batches of the replies to the requests that `make` makes, `each` choices of each; and the requests. Raises Problem for
        what cannot be requested."""
        user = user_of(request)
        requests = await parsing(len(await request.body()), make, self._limits, card, user=user)
        plans = [
            self._pipeline.plan(
                card, asked, None, choices=each, request_id=request_id_of(request.scope), user=user
            )
            for asked in requests
        ]
        return merged([self._pipeline.run(plan) for plan in plans], each), requests


def router(
    generate: Generate,
    requested: RequestedModels,
    *,
    limits: LimitSettings | None = None,
    clock: Callable[[], float] = time.time,
    patience: float = PATIENCE,
    keep_alive: float = KEEP_ALIVE,
) -> APIRouter:
    """The endpoint. `clock` gives seconds since 1970; `patience` and `keep_alive` are those of `sse`."""
    routes = APIRouter(prefix="/v1", tags=["OpenAI"])
    completions = RawCompletions(generate, limits or LimitSettings())
    schema = json_body(
        TextCompletionBody,
        "application/json",
        "text/event-stream",
        description="A text_completion object, or with `stream` its chunks as server-sent events.",
    )

    @routes.post("/completions", openapi_extra=schema, summary="Continue a text")
    async def create_completion(request: Request) -> Response:
        body = await completions.body(request, TextCompletionBody)
        card = await requested.card(body.model, user_of(request))
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
