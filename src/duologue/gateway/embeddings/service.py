"""Texts as vectors and scores for documents, on the models' slots, for every dialect.

Owns the wait for a slot and the collecting of what comes. Its requests stand in the same queue as replies, each in the line of its model.
When a client leaves, its request gives the slot back: the worker stops before the next input.
"""

from __future__ import annotations

import time
from array import array
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing

from msgspec import Struct
from msgspec.structs import replace

from duologue.errors import BadRequest, EngineFailed, Problem
from duologue.gateway.models.registry import ModelRegistry
from duologue.gateway.scheduling.expected_tokens import text_tokens
from duologue.gateway.scheduling.pool import Pool
from duologue.gateway.scheduling.request_meter import NO_METER, RequestMeter
from duologue.tracing import attributes, spans
from duologue.values.embeddings.vectors import EmbeddingRequest, RerankRequest, unpacked
from duologue.values.events import Done, Embedded, Failed, Ranked
from duologue.values.requests import ModelCard
from duologue.wire.collected_reply import problem

EMBED, RERANK = "embed", "rerank"
"""The kinds of this work in the queue and the metrics."""
OPERATIONS = {EMBED: "embeddings", RERANK: "rerank"}
"""What it is called in traces."""


class EmbeddingResult(Struct, frozen=True):
    """A vector for each input, in order, and how many tokens were read."""

    vectors: tuple[array[float], ...]
    tokens: int


class RankingResult(Struct, frozen=True):
    """A score for each document, in order (not sorted), and how many tokens were read."""

    scores: tuple[float, ...]
    tokens: int


class EmbeddingService:
    """Embeds and reranks on `pool`. `observe` is called with the model and the kind of each request that ends, cancelled ones too."""

    def __init__(
        self,
        pool: Pool,
        models: ModelRegistry,
        observe: Callable[[str, str, Done | Failed], None] = lambda model, kind, event: None,
        *,
        meter: RequestMeter = NO_METER,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._pool, self._models = pool, models
        self._clock, self._observe, self._meter = clock, observe, meter

    async def embed(
        self,
        card: ModelCard,
        inputs: Sequence[str | Sequence[int]],
        *,
        user: str,
        request_id: str,
        dimensions: int | None = None,
    ) -> EmbeddingResult:
        """The vectors of texts, or of lists of tokens, each of length 1. Raises Unsupported for a model that makes none, BadRequest for
        more `dimensions` than it has, ContextExceeded for an input that is too long, and what waiting for a slot raises."""
        self._models.require(card, "embed")
        check_dimensions(card, dimensions)
        texts = tuple(text if isinstance(text, str) else tuple(text) for text in inputs)
        request = self._pool.addressed(EmbeddingRequest(texts, card.name, dimensions=dimensions))
        vectors: list[array[float]] = []
        done = Done("stop")
        async with aclosing(self._metered(request, EMBED, card.name, user, request_id)) as events:
            async for event in events:
                if isinstance(event, Embedded):
                    size = len(event.data) // event.count
                    vectors += [
                        unpacked(event.data[at : at + size]) for at in range(0, len(event.data), size)
                    ]
                elif isinstance(event, Done):
                    done = event
        _check_count(len(vectors), len(request.inputs))
        return EmbeddingResult(tuple(vectors), done.usage.input)

    async def rerank(
        self, card: ModelCard, query: str, documents: Sequence[str], *, user: str, request_id: str
    ) -> RankingResult:
        """How well each document answers the query: the higher, the better. Raises as `embed`."""
        self._models.require(card, "rerank")
        request = self._pool.addressed(RerankRequest(query, tuple(documents), card.name))
        scores: list[float] = []
        done = Done("stop")
        async with aclosing(self._metered(request, RERANK, card.name, user, request_id)) as events:
            async for event in events:
                if isinstance(event, Ranked):
                    scores += unpacked(event.data)
                elif isinstance(event, Done):
                    done = event
        _check_count(len(scores), len(request.documents))
        return RankingResult(tuple(scores), done.usage.input)

    async def _metered(
        self, request: EmbeddingRequest | RerankRequest, kind: str, model: str, user: str, request_id: str
    ) -> AsyncGenerator[Embedded | Ranked | Done]:
        """As `_events`, counted and limited by key."""
        await self._meter.ready(user, _expected(request))
        with self._meter.request(kind, model, user=user, tokens=_expected(request)) as metered:
            async with aclosing(self._events(request, kind, user, request_id)) as events:
                async for event in events:
                    if isinstance(event, Done):
                        metered.counted(prompt=event.usage.input, cached=event.usage.cached)
                    yield event

    async def _events(
        self, request: EmbeddingRequest | RerankRequest, kind: str, user: str, request_id: str
    ) -> AsyncGenerator[Embedded | Ranked | Done]:
        """What the model gives, the last of it `Done`. Raises Problem."""
        end: Done | Failed = Done("cancelled")
        start = self._clock()
        asked = attributes.operation(OPERATIONS[kind], request.model) | {attributes.REQUEST_ID: request_id}
        span = spans.span(f"{OPERATIONS[kind]} {request.model}", kind="client", attributes=asked)
        try:
            with span as entered, self._pool.lease(request.model, kind=kind, user=user) as lease:
                async for _ in lease.places():
                    pass
                waited = (self._clock() - start) * 1000
                lease.begin(0, request, request_id)
                lease.release_idle()
                while isinstance(end, Done) and end.finish == "cancelled":
                    for _, event in await lease.take():
                        if isinstance(event, Failed):
                            raise problem(event)
                        if isinstance(event, Done):
                            event = end = replace(event, timings=replace(event.timings, queue=waited))
                            entered.set({attributes.INPUT_TOKENS: event.usage.input})
                        if isinstance(event, Embedded | Ranked | Done):
                            yield event
        except Problem as refused:
            end = Failed(refused.code, refused.message, refused.status, refused.param, refused.retry_after)
            raise
        finally:
            self._observe(request.model, kind, end)


def _expected(request: EmbeddingRequest | RerankRequest) -> int:
    """About how many tokens a request has."""
    if isinstance(request, RerankRequest):
        return sum(text_tokens(text) for text in request.documents) + text_tokens(request.query) * len(
            request.documents
        )
    return sum(text_tokens(text) if isinstance(text, str) else len(text) for text in request.inputs)


def check_dimensions(card: ModelCard, dimensions: int | None) -> None:
    """Raises BadRequest for more than the model's vectors have, as far as that is known."""
    if dimensions is not None and card.dimensions and dimensions > card.dimensions:
        raise BadRequest(
            f"dimensions must be at most {card.dimensions}: the vectors of the model {card.name} have no more.",
            param="dimensions",
        )


def _check_count(given: int, asked: int) -> None:
    if given != asked:
        raise EngineFailed(f"The engine answered {given} of {asked} inputs. Please try again.")
