"""llama-server's own endpoints `/completion`, `/completions` and `/infill`, for clients written for it.

The shapes are in `wire.completions.llama_completion`; everything else is `raw_completions`'. Included by `text_completions`.
"""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import APIRouter, Request
from starlette.responses import Response

from duologue.errors import Unsupported
from duologue.gateway.dialects.awaited_replies import awaited_stream, awaited_whole
from duologue.gateway.dialects.merged_replies import Source
from duologue.gateway.dialects.raw_completions import RawCompletions
from duologue.gateway.models.requested_models import RequestedModels
from duologue.http.json_api import user_of
from duologue.http.openapi import json_body
from duologue.http.sse import KEEP_ALIVE, PATIENCE
from duologue.values.requests import ChatRequest
from duologue.wire.completions.llama_completion import (
    InfillBody,
    LlamaCompletion,
    LlamaCompletionBody,
    LlamaStream,
    late_failure,
    settings_of,
)

DESCRIPTION = "An object with `content`, or a list of them; with `stream` pieces of it as server-sent events."

_Found = tuple[str, Sequence[ChatRequest]]
"""The name of the model, and what is asked of it."""


def router(
    completions: RawCompletions,
    requested: RequestedModels,
    *,
    patience: float = PATIENCE,
    keep_alive: float = KEEP_ALIVE,
) -> APIRouter:
    """The endpoints. `patience` and `keep_alive` are those of `sse`."""
    routes = APIRouter(tags=["llama-server"])
    types = ("application/json", "text/event-stream")

    def completed(request: Request, body: LlamaCompletionBody | InfillBody) -> Response:
        async def prepare() -> tuple[Source, _Found]:
            card = await requested.card(body.model, user_of(request))
            try:
                source, asked = await completions.run(request, card, body.requests, 1)
            except Unsupported as error:
                if error.param != "suffix" or not isinstance(body, InfillBody):
                    raise
                raise Unsupported(f"input_{error.message}", param="input_suffix") from None
            return source, (card.name, asked)

        def whole(found: _Found) -> LlamaCompletion:
            model, asked = found
            return LlamaCompletion(
                model,
                [each.prompt for each in asked],
                settings_of(asked[0]),
                probabilities=body.n_probs > 0,
                fields=body.response_fields,
            )

        def stream(found: _Found) -> LlamaStream:
            model, asked = found
            prompts = [each.prompt for each in asked]
            return LlamaStream(model, prompts, settings_of(asked[0]), body.response_fields)

        if not body.stream:
            return awaited_whole(prepare, whole)
        return awaited_stream(prepare, stream, patience=patience, keep_alive=keep_alive, failure=late_failure)

    schema = json_body(LlamaCompletionBody, *types, description=DESCRIPTION)

    @routes.post("/completions", openapi_extra=schema, summary="Continue a text, in llama-server's shape")
    @routes.post("/completion", openapi_extra=schema, summary="Continue a text, in llama-server's shape")
    async def create_llama_completion(request: Request) -> Response:
        return completed(request, await completions.body(request, LlamaCompletionBody))

    schema = json_body(InfillBody, *types, description=DESCRIPTION)

    @routes.post("/infill", openapi_extra=schema, summary="Fill in a gap, in llama-server's shape")
    async def infill(request: Request) -> Response:
        return completed(request, await completions.body(request, InfillBody))

    return routes
