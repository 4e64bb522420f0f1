"""Ollama's `/api/embed` and the older `/api/embeddings`, over the service that makes embeddings."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Protocol

from fastapi import APIRouter, Request
from msgspec import json
from starlette.responses import Response

from duologue.config.settings import LimitSettings
from duologue.errors import Unsupported
from duologue.gateway.ollama.ollama_names import OllamaNames
from duologue.http.error_responses import request_id_of
from duologue.http.json_api import body_of, user_of
from duologue.http.openapi import json_body
from duologue.http.whole_answer import WholeAnswer
from duologue.request_parsing import parsing
from duologue.threads import in_thread
from duologue.values.requests import ModelCard
from duologue.wire.embeddings.embedding_body import check_size
from duologue.wire.ollama.ollama_models import OllamaEmbedBody, OllamaEmbeddingsBody, embedded, tagged
from duologue.wire.validation import B, validate


class Embedding(Protocol):
    """What an embedder gives: a vector for each text, and how many tokens they have together."""

    @property
    def vectors(self) -> Sequence[Sequence[float]]: ...

    @property
    def tokens(self) -> int: ...


class Embedder(Protocol):
    """Makes embeddings of texts."""

    async def embed(
        self,
        card: ModelCard,
        inputs: Sequence[str],
        *,
        user: str,
        request_id: str,
        dimensions: int | None = None,
    ) -> Embedding: ...


def router(names: OllamaNames, embedder: Embedder | None, limits: LimitSettings | None = None) -> APIRouter:
    """The routes; without an embedder they refuse."""
    limits = limits or LimitSettings()
    routes = APIRouter(prefix="/api", tags=["Ollama"])

    async def embed(
        request: Request, model: str, inputs: Sequence[str], most: int | None = None
    ) -> Embedding:
        if embedder is None:
            raise Unsupported("This server makes no embeddings.", param="model")
        user = user_of(request)
        check_size(inputs, limits, "input")
        card = await names.card(model, user, task="embed", in_time=True)
        return await embedder.embed(
            card, inputs, user=user, request_id=request_id_of(request.scope), dimensions=most
        )

    @routes.post(
        "/embed",
        summary="Embed texts",
        openapi_extra=json_body(OllamaEmbedBody, "application/json", description="A vector for each text."),
    )
    async def embed_texts(request: Request) -> Response:
        """`input`: one text or several. `dimensions`: shorter vectors, where the model has them."""
        body = await _read(request, OllamaEmbedBody)

        async def work() -> bytes:
            before = time.monotonic_ns()
            made = await embed(request, body.model, body.input, body.dimensions) if body.input else None
            vectors = await in_thread(_listed, made.vectors) if made is not None else []
            tokens = made.tokens if made is not None else 0
            took = time.monotonic_ns() - before
            return await in_thread(json.encode, embedded(tagged(body.model), vectors, tokens, took))

        return WholeAnswer(work)

    @routes.post(
        "/embeddings",
        summary="Embed one text",
        openapi_extra=json_body(OllamaEmbeddingsBody, "application/json", description="Its vector."),
    )
    async def embed_text(request: Request) -> Response:
        """The older form; an empty prompt has an empty vector."""
        body = await _read(request, OllamaEmbeddingsBody)

        async def work() -> bytes:
            made = await embed(request, body.model, [body.prompt]) if body.prompt else None
            return json.encode({"embedding": _listed(made.vectors)[0] if made is not None else []})

        return WholeAnswer(work)

    return routes


def _listed(vectors: Sequence[Sequence[float]]) -> list[list[float]]:
    """As JSON takes them. Thousands of vectors take a while, so a thread does this."""
    return [list(vector) for vector in vectors]


async def _read(request: Request, model: type[B]) -> B:
    fields = await body_of(request)
    return await parsing(len(await request.body()), validate, model, fields, user=user_of(request))
