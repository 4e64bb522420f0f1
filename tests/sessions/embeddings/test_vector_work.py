"""The work of embedding models and rerankers, on played engines."""

from __future__ import annotations

import math
from array import array
from collections.abc import AsyncGenerator
from typing import Any

import anyio
import pytest

from duologue.engines.embedding_contracts import ScoreBatch, VectorBatch
from duologue.engines.scripted.language import ScriptedEngine
from duologue.errors import ContextExceeded, DeviceLost, Problem
from duologue.sessions.embeddings.vector_work import LARGEST_EVENT, embed_or_rank
from duologue.values.embeddings.vectors import EmbeddingRequest, RerankRequest, unpacked
from duologue.values.events import Done, Embedded, Event, Failed, Ranked, Started, Usage
from duologue.values.requests import ModelCard

pytestmark = pytest.mark.anyio


class Played:
    """Gives these batches, then raises `problem` if there is one. `closed`: whether its work was ended."""

    def __init__(self, *batches: Any, problem: Problem | None = None, verb: str = "embed") -> None:
        self.card = ModelCard("m", "llama", 100, verbs=(verb,))
        self._batches, self._problem = batches, problem
        self.closed = False

    async def embed(self, slot: int, request: EmbeddingRequest) -> AsyncGenerator[VectorBatch]:
        async for batch in self._played():
            yield batch

    async def rerank(self, slot: int, request: RerankRequest) -> AsyncGenerator[ScoreBatch]:
        async for batch in self._played():
            yield batch

    async def _played(self) -> AsyncGenerator[Any]:
        try:
            for batch in self._batches:
                yield batch
                await anyio.lowlevel.checkpoint()
            if self._problem is not None:
                raise self._problem
        finally:
            self.closed = True

    async def close(self) -> None:
        """Nothing to free."""


def vectors(*rows: list[float], tokens: int = 0) -> VectorBatch:
    return VectorBatch(tuple(array("f", row) for row in rows), tokens)


async def events_of(engine: Any, request: EmbeddingRequest | RerankRequest) -> list[Event]:
    events: list[Event] = []

    async def emit(event: Event) -> None:
        events.append(event)

    await embed_or_rank(engine, 0, request, emit, clock=iter([1.0, 1.5]).__next__)
    return events


async def test_vectors_come_in_order_and_their_tokens_are_added_up() -> None:
    engine = Played(vectors([1, 0], [0, 1], tokens=5), vectors([0.6, 0.8], tokens=2))
    started, first, second, done = await events_of(engine, EmbeddingRequest(("a", "b", "c")))
    assert isinstance(started, Started)
    assert isinstance(first, Embedded)
    assert isinstance(second, Embedded)
    assert (first.count, second.count) == (2, 1)
    assert list(unpacked(first.data)) == [1, 0, 0, 1]
    assert isinstance(done, Done)
    assert done.usage == Usage(input=7)
    assert done.timings.prefill == 500


async def test_vectors_are_cut_and_scaled_where_fewer_numbers_are_wanted() -> None:
    engine = Played(vectors([3, 4, 12]))
    events = await events_of(engine, EmbeddingRequest(("a",), dimensions=2))
    [embedded] = [event for event in events if isinstance(event, Embedded)]
    assert list(unpacked(embedded.data)) == pytest.approx([0.6, 0.8])


async def test_more_numbers_than_there_are_cannot_be_had() -> None:
    *_, failed = await events_of(Played(vectors([1, 0])), EmbeddingRequest(("a",), dimensions=3))
    assert isinstance(failed, Failed)
    assert (failed.status, failed.param) == (400, "dimensions")
    assert "at most 2" in failed.message


async def test_no_event_has_much_more_than_its_size() -> None:
    engine = Played(vectors(*[[0.0] * 4096] * 20))
    events = await events_of(engine, EmbeddingRequest(("a",) * 20))
    embedded = [event for event in events if isinstance(event, Embedded)]
    assert sum(event.count for event in embedded) == 20
    assert max(len(event.data) for event in embedded) <= LARGEST_EVENT


@pytest.mark.parametrize("number", [math.nan, math.inf])
async def test_what_is_no_number_fails(number: float) -> None:
    *_, failed = await events_of(Played(vectors([1, number])), EmbeddingRequest(("a",)))
    assert isinstance(failed, Failed)
    assert failed.code == "engine_failed"
    engine = Played(ScoreBatch((number,)), verb="rerank")
    *_, failed = await events_of(engine, RerankRequest("q", ("a",)))
    assert isinstance(failed, Failed)


async def test_scores_come_in_order() -> None:
    engine = Played(ScoreBatch((0.5, 0.25), 8), ScoreBatch((1.0,), 3), verb="rerank")
    _, first, second, done = await events_of(engine, RerankRequest("q", ("a", "b", "c")))
    assert isinstance(first, Ranked)
    assert isinstance(second, Ranked)
    assert [*unpacked(first.data), *unpacked(second.data)] == [0.5, 0.25, 1.0]
    assert isinstance(done, Done)
    assert done.usage.input == 11


async def test_a_problem_ends_it_with_its_place() -> None:
    engine = Played(vectors([1, 0]), problem=ContextExceeded("too long", param="input[1]"))
    *_, failed = await events_of(engine, EmbeddingRequest(("a", "b")))
    assert failed == Failed("context_length_exceeded", "too long", 400, "input[1]")


async def test_a_lost_device_is_told_and_then_raised() -> None:
    with pytest.raises(DeviceLost):
        await events_of(Played(problem=DeviceLost("gone")), EmbeddingRequest(("a",)))


@pytest.mark.parametrize(
    ("engine", "request_"),
    [
        (ScriptedEngine(), EmbeddingRequest(("a",))),
        (Played(verb="rerank"), EmbeddingRequest(("a",))),
        (Played(verb="embed"), RerankRequest("q", ("a",))),
    ],
)
async def test_a_model_for_something_else_refuses(
    engine: Any, request_: EmbeddingRequest | RerankRequest
) -> None:
    *_, failed = await events_of(engine, request_)
    assert isinstance(failed, Failed)
    assert (failed.code, failed.status) == ("unsupported", 400)


async def test_whoever_leaves_ends_the_engines_work() -> None:
    engine = Played(*[vectors([1, 0])] * 1000)

    async def emit(event: Event) -> None:
        if isinstance(event, Embedded):
            scope.cancel()

    with anyio.CancelScope() as scope:
        await embed_or_rank(engine, 0, EmbeddingRequest(("a",) * 1000), emit, clock=lambda: 0.0)
    assert engine.closed
