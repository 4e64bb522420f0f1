"""The routes of embeddings and reranking: OpenAI's, those of the rerank services, and llama-server's.

The shapes are in `wire.embeddings`, the work in `service`. A client that leaves cancels it.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from itertools import groupby
from typing import Any, TypeVar

from fastapi import APIRouter, Request
from starlette.responses import Response

from duologue.config.settings import LimitSettings
from duologue.gateway.embeddings.service import EmbeddingService, check_dimensions
from duologue.gateway.models.requested_models import RequestedModels
from duologue.http.error_responses import request_id_of
from duologue.http.json_api import body_of, user_of
from duologue.http.openapi import documented
from duologue.http.whole_answer import WholeAnswer
from duologue.request_parsing import parsing
from duologue.threads import LARGE, encoding
from duologue.wire.embeddings.embedding_body import (
    ContentBody,
    ContentVector,
    EmbeddingAnswer,
    EmbeddingBody,
    check_size,
    content_answer,
    embedding_answer,
)
from duologue.wire.embeddings.rerank_body import (
    RerankAnswer,
    RerankBody,
    ScoreAnswer,
    ScoreBody,
    TeiResult,
    rerank_answer,
    score_answer,
)
from duologue.wire.validation import Body, validate

B = TypeVar("B", bound=Body)


def router(
    service: EmbeddingService, requested: RequestedModels, limits: LimitSettings | None = None
) -> APIRouter:
    """`/v1/embeddings`, `/v1/rerank`, `/v1/score`, and the other paths under which servers have them."""
    limits = limits or LimitSettings()
    routes = APIRouter(tags=["embeddings"])
    _add_embeddings(routes, service, requested, limits)
    _add_reranking(routes, service, requested, limits)
    return routes


def _add_embeddings(
    routes: APIRouter, service: EmbeddingService, requested: RequestedModels, limits: LimitSettings
) -> None:
    openai = documented(
        body=EmbeddingBody, answers=EmbeddingAnswer, says="A vector for each input, in order."
    )
    llama = documented(body=ContentBody, answers=list[ContentVector], says="A vector for each input.")

    @routes.post("/v1/embeddings", openapi_extra=openai, summary="Create embeddings")
    async def create_embeddings(request: Request) -> Response:
        """Refused before the queue: a model that makes no vectors (`unsupported`, with the names of those that do), more
        `dimensions` than it has. An input that is too long is `context_length_exceeded`, with its place in `param`."""
        user, request_id = user_of(request), request_id_of(request.scope)
        body = await _read(request, EmbeddingBody, user)
        inputs = body.inputs
        check_size(inputs, limits, "input")

        async def work() -> bytes:
            card = await requested.card(body.model, user, task="embed", in_time=True)
            check_dimensions(card, body.dimensions)
            result = await service.embed(
                card, inputs, user=user, request_id=request_id, dimensions=body.dimensions
            )

            def answer() -> bytes:
                return embedding_answer(
                    result.vectors,
                    result.tokens,
                    card.name,
                    in_base64=body.encoding_format == "base64",
                    ignored=body.unknown(),
                )

            return await _encoded(sum(map(len, result.vectors)), answer)

        return WholeAnswer(work)

    @routes.post("/embedding", openapi_extra=llama, summary="Create embeddings, in llama-server's shape")
    async def embedding(request: Request) -> Response:
        user, request_id = user_of(request), request_id_of(request.scope)
        body = await _read(request, ContentBody, user)
        inputs = body.inputs
        check_size(inputs, limits, "content")

        async def work() -> bytes:
            card = await requested.card(body.model, user, task="embed", in_time=True)
            result = await service.embed(card, inputs, user=user, request_id=request_id)
            return await _encoded(sum(map(len, result.vectors)), lambda: content_answer(result.vectors))

        return WholeAnswer(work)


def _add_reranking(
    routes: APIRouter, service: EmbeddingService, requested: RequestedModels, limits: LimitSettings
) -> None:
    ranked = documented(
        body=RerankBody,
        answers=(RerankAnswer, list[TeiResult]),
        says="The documents' places and scores, the best first; a bare list where the documents stood in `texts`.",
    )
    scored = documented(body=ScoreBody, answers=ScoreAnswer, says="A score for each pair, in order.")

    async def rerank(request: Request) -> Response:
        """Scores are from 0 to 1. Errors are those of /v1/embeddings, with `documents[NUMBER]` in `param`."""
        user, request_id = user_of(request), request_id_of(request.scope)
        body = await _read(request, RerankBody, user)
        documents = body.contents
        check_size((body.query, *documents), limits, "documents")

        async def work() -> bytes:
            card = await requested.card(body.model, user, task="rerank", in_time=True)
            result = await service.rerank(card, body.query, documents, user=user, request_id=request_id)
            return rerank_answer(body, result.scores, result.tokens, card.name, f"rerank-{uuid.uuid4().hex}")

        return WholeAnswer(work)

    hidden: dict[str, Any] = {"include_in_schema": False}
    paths = ("/v1/rerank", "/rerank", "/v2/rerank", "/v1/reranking", "/reranking")
    for path in paths:
        shown = {"openapi_extra": ranked, "summary": "Documents in the order of a query"}
        routes.add_api_route(path, rerank, methods=["POST"], **(shown if path == paths[0] else hidden))

    async def score(request: Request) -> Response:
        """Pairs with the same query after each other are scored together."""
        user, request_id = user_of(request), request_id_of(request.scope)
        body = await _read(request, ScoreBody, user)
        pairs = body.pairs
        check_size([text for pair in pairs for text in pair], limits, "text_2")

        async def work() -> bytes:
            card = await requested.card(body.model, user, task="rerank", in_time=True)
            scores: list[float] = []
            tokens = 0
            for query, group in groupby(pairs, key=lambda pair: pair[0]):
                documents = [document for _, document in group]
                result = await service.rerank(card, query, documents, user=user, request_id=request_id)
                scores += result.scores
                tokens += result.tokens
            return score_answer(body, scores, tokens, card.name, f"score-{uuid.uuid4().hex}")

        return WholeAnswer(work)

    for path in ("/v1/score", "/score"):
        shown = {"openapi_extra": scored, "summary": "Scores of pairs of texts"}
        routes.add_api_route(path, score, methods=["POST"], **(shown if path == "/v1/score" else hidden))


async def _read(request: Request, model: type[B], user: str) -> B:
    fields = await body_of(request)
    return await parsing(len(await request.body()), validate, model, fields, user=user)


async def _encoded(numbers: int, answer: Callable[[], bytes]) -> bytes:
    """The answer, which has so many numbers: of many it is written in a thread."""
    return answer() if numbers < LARGE else await encoding(answer)
