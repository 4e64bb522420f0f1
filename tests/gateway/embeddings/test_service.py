"""Embedding and reranking over a pool whose leases are played by the test."""

from __future__ import annotations

from array import array
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any

import anyio
import pytest
from tests.support.stand_in import StandIn

from duologue.errors import BadRequest, ContextExceeded, EngineFailed, QueueFull, Unsupported
from duologue.gateway.embeddings.service import EmbeddingService
from duologue.gateway.models.registry import ModelRegistry
from duologue.gateway.scheduling.scheduler import Moved
from duologue.values.embeddings.vectors import EmbeddingRequest, RerankRequest, packed
from duologue.values.events import Done, Embedded, Event, Failed, Ranked, Started, Usage
from duologue.values.requests import ModelCard

pytestmark = pytest.mark.anyio

VECTORS = ModelCard("vectors", "llama", 512, verbs=("embed",), dimensions=64)
RANKER = ModelCard("ranker", "llama", 512, verbs=("rerank",))
WRITER = ModelCard("writer", "llama", 512, verbs=("prefill",))
ELSEWHERE = ModelCard("elsewhere", "remote", 0)


class PlayedLease:
    """Gives these events, a batch at a time, once it was begun; None waits for ever."""

    def __init__(self, *batches: list[Event] | None, refusal: Exception | None = None) -> None:
        self._batches, self._refusal = list(batches), refusal
        self.begun: list[Any] = []

    async def places(self) -> AsyncIterator[Moved]:
        yield Moved("q_1", 1, 1.0, 1)
        if self._refusal is not None:
            raise self._refusal

    def begin(self, choice: int, request: Any, request_id: str) -> None:
        self.begun.append((choice, request, request_id))

    def release_idle(self) -> None:
        """Nothing more will begin."""

    async def take(self) -> list[tuple[int, Event]]:
        events = self._batches.pop(0)
        if events is None:
            await anyio.sleep_forever()
            raise AssertionError
        return [(0, event) for event in events]


class PlayedPool(StandIn):
    def __init__(self, lease: PlayedLease) -> None:
        self.played = lease
        self.asked: dict[str, Any] = {}
        self.returned = 0

    def addressed(self, request: Any) -> Any:
        return request

    @contextmanager
    def lease(self, model: str, **asked: Any) -> Iterator[PlayedLease]:
        self.asked = {"model": model, **asked}
        try:
            yield self.played
        finally:
            self.returned += 1


class Ended(list[tuple[str, Done | Failed]]):
    """What was observed."""

    def observe(self, model: str, kind: str, event: Done | Failed) -> None:
        self.append((kind, event))


def service(lease: PlayedLease, ended: Ended | None = None) -> tuple[EmbeddingService, PlayedPool]:
    pool = PlayedPool(lease)
    models = ModelRegistry(lambda: (WRITER, VECTORS, RANKER))
    clock = iter([0.0, 2.0]).__next__
    return EmbeddingService(
        pool, models, clock=clock, observe=(Ended() if ended is None else ended).observe
    ), pool


def embedded(*rows: list[float]) -> Embedded:
    return Embedded(b"".join(map(packed, rows)), len(rows))


async def test_vectors_are_gathered_in_order_in_a_slot_of_their_model() -> None:
    lease = PlayedLease(
        [Started("vectors"), embedded([1, 0], [0, 1])], [embedded([0.5, 0.5]), Done("stop", Usage(9))]
    )
    ended = Ended()
    embedding, pool = service(lease, ended)
    result = await embedding.embed(VECTORS, ["a", [1, 2], "c"], user="me", request_id="r", dimensions=2)
    assert result.vectors == (array("f", [1, 0]), array("f", [0, 1]), array("f", [0.5, 0.5]))
    assert result.tokens == 9
    assert pool.asked == {"model": "vectors", "kind": "embed", "user": "me"}
    request = EmbeddingRequest(("a", (1, 2), "c"), "vectors", dimensions=2)
    assert lease.begun == [(0, request, "r")]
    assert pool.returned == 1
    [(kind, event)] = ended
    assert kind == "embed"
    assert isinstance(event, Done)
    assert event.timings.queue == 2000


async def test_scores_are_gathered_in_order() -> None:
    lease = PlayedLease([Ranked(packed([0.25]))], [Ranked(packed([0.75])), Done("stop", Usage(5))])
    embedding, pool = service(lease)
    result = await embedding.rerank(RANKER, "q", ["a", "b"], user="me", request_id="r")
    assert (result.scores, result.tokens) == ((0.25, 0.75), 5)
    assert lease.begun == [(0, RerankRequest("q", ("a", "b"), "ranker"), "r")]
    assert pool.asked["kind"] == "rerank"


async def test_a_failure_is_raised_as_the_problem_it_was() -> None:
    failed = Failed("context_length_exceeded", "too long", 400, "input[1]")
    ended = Ended()
    embedding, pool = service(PlayedLease([embedded([1, 0]), failed]), ended)
    with pytest.raises(Exception, match="too long") as problem:
        await embedding.embed(VECTORS, ["a", "b"], user="me", request_id="r")
    assert (problem.value.code, problem.value.param) == (ContextExceeded.code, "input[1]")  # type: ignore[attr-defined]
    assert pool.returned == 1
    assert ended == [("embed", failed)]


async def test_a_full_queue_is_raised_and_observed() -> None:
    ended = Ended()
    embedding, pool = service(PlayedLease(refusal=QueueFull("full")), ended)
    with pytest.raises(QueueFull):
        await embedding.embed(VECTORS, ["a"], user="me", request_id="r")
    assert ended == [("embed", Failed("queue_full", "full", 503))]
    assert pool.played.begun == []


async def test_whoever_is_cancelled_gives_the_slot_back() -> None:
    ended = Ended()
    embedding, pool = service(PlayedLease([embedded([1, 0])], None), ended)
    with anyio.move_on_after(0.01):
        await embedding.embed(VECTORS, ["a", "b"], user="me", request_id="r")
    assert pool.returned == 1
    assert ended == [("embed", Done("cancelled"))]


async def test_too_few_vectors_are_a_failure() -> None:
    embedding, _ = service(PlayedLease([embedded([1, 0]), Done("stop")]))
    with pytest.raises(EngineFailed, match="1 of 2"):
        await embedding.embed(VECTORS, ["a", "b"], user="me", request_id="r")


async def test_a_model_for_something_else_is_refused_before_the_queue_with_those_that_can() -> None:
    embedding, pool = service(PlayedLease())
    with pytest.raises(Unsupported, match="Choose another: vectors"):
        await embedding.embed(WRITER, ["a"], user="me", request_id="r")
    with pytest.raises(Unsupported, match="Choose another: ranker"):
        await embedding.rerank(VECTORS, "q", ["a"], user="me", request_id="r")
    assert pool.asked == {}


async def test_more_numbers_than_the_model_has_are_refused_before_the_queue() -> None:
    embedding, pool = service(PlayedLease())
    with pytest.raises(BadRequest, match="at most 64") as refusal:
        await embedding.embed(VECTORS, ["a"], user="me", request_id="r", dimensions=65)
    assert refusal.value.param == "dimensions"
    assert pool.asked == {}


async def test_a_server_elsewhere_is_asked_whatever_it_said() -> None:
    embedding, _ = service(PlayedLease([embedded([1, 0]), Done("stop")]))
    assert (await embedding.embed(ELSEWHERE, ["a"], user="me", request_id="r")).tokens == 0
