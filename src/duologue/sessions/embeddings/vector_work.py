"""Runs the work of an embedding model or a reranker: a request in, its vectors or scores out, and one terminal event.

`worker/language.py` calls it. Owns the size of the vectors: what a client wants less of is cut here, whatever the engine.
"""

from __future__ import annotations

from array import array
from collections.abc import Awaitable, Callable
from contextlib import aclosing

from duologue.engines.embedding_contracts import EmbeddingEngine, ModelEngine, RerankEngine
from duologue.errors import BadRequest, DeviceLost, EngineFailed, Problem, Unsupported
from duologue.values.embeddings.vectors import EmbeddingRequest, RerankRequest, packed, shortened_vector
from duologue.values.events import Done, Embedded, Event, Failed, Ranked, Started, Timings, Usage

Emit = Callable[[Event], Awaitable[None]]
Clock = Callable[[], float]
LARGEST_EVENT = 64 * 1024
"""About how many bytes of vectors go into one event."""


async def embed_or_rank(
    engine: ModelEngine, slot: int, request: EmbeddingRequest | RerankRequest, emit: Emit, *, clock: Clock
) -> None:
    """Do the work in `slot`, emitting its events. `clock` gives seconds. Problems become `Failed`; DeviceLost is raised after it.
    Cancelling it ends the engine's work first, and no terminal event is emitted then."""
    began = clock()
    try:
        await emit(Started(engine.card.name, engine.card.context))
        if isinstance(request, EmbeddingRequest):
            tokens = await _embed(engine, slot, request, emit)
        else:
            tokens = await _rank(engine, slot, request, emit)
        took = (clock() - began) * 1000
        await emit(Done("stop", Usage(input=tokens), Timings(prefill=took, first=took)))
    except Problem as problem:
        await emit(Failed(problem.code, problem.message, problem.status, problem.param, problem.retry_after))
        if isinstance(problem, DeviceLost):
            raise


async def _embed(engine: ModelEngine, slot: int, request: EmbeddingRequest, emit: Emit) -> int:
    """Emit the vectors; gives the number of tokens."""
    if not isinstance(engine, EmbeddingEngine) or not engine.card.may("embed"):
        raise Unsupported(f"The model {engine.card.name} makes no vectors.", param="model")
    tokens, wanted = 0, request.dimensions
    async with aclosing(engine.embed(slot, request)) as batches:
        async for batch in batches:
            tokens += batch.tokens
            vectors = [_checked(vector, wanted) for vector in batch.vectors]
            most = max(1, LARGEST_EVENT // max(1, len(vectors[0]) * 4)) if vectors else 1
            for at in range(0, len(vectors), most):
                few = vectors[at : at + most]
                await emit(Embedded(b"".join(map(packed, few)), len(few)))
    return tokens


def _checked(vector: array[float], wanted: int | None) -> array[float]:
    if wanted is not None and wanted > len(vector):
        raise BadRequest(
            f"dimensions must be at most {len(vector)}: the vectors of this model have no more.",
            param="dimensions",
        )
    # What is not a number would stay so in the sum. JSON has no word for it, and nothing can be found by it.
    if not abs(sum(vector)) < float("inf"):
        raise EngineFailed("The model returned a vector with invalid numbers.")
    return shortened_vector(vector, wanted)


async def _rank(engine: ModelEngine, slot: int, request: RerankRequest, emit: Emit) -> int:
    """Emit the scores; gives the number of tokens."""
    if not isinstance(engine, RerankEngine) or not engine.card.may("rerank"):
        raise Unsupported(f"The model {engine.card.name} scores no documents.", param="model")
    tokens = 0
    async with aclosing(engine.rerank(slot, request)) as batches:
        async for batch in batches:
            tokens += batch.tokens
            if not abs(sum(batch.scores)) < float("inf"):
                raise EngineFailed("The model returned invalid scores.")
            await emit(Ranked(packed(batch.scores)))
    return tokens
