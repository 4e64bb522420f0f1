"""Vectors and scores from an upstream on loopback."""

from __future__ import annotations

import base64
import struct
from collections.abc import Iterator
from typing import Any

import pytest
from tests.support.model_server import ModelServer, serving

from duologue.engines.openai_remote.engine import RemoteEngine, load
from duologue.engines.openai_remote.vectors.remote_vectors import TOGETHER
from duologue.errors import ContextExceeded, Problem
from duologue.values.embeddings.vectors import EmbeddingRequest, RerankRequest

pytestmark = pytest.mark.anyio

EMBEDDINGS, RERANK = "/v1/embeddings", "/v1/rerank"


@pytest.fixture
def upstream() -> Iterator[ModelServer]:
    with serving(ModelServer(models=[{"id": "nomic-embed"}])) as server:
        yield server


async def engine(upstream: ModelServer, **options: object) -> RemoteEngine:
    return await load({"url": upstream.url, "retries": 0, **options})


async def vectors(one: RemoteEngine, *inputs: str | tuple[int, ...], **more: Any) -> list[list[float]]:
    try:
        batches = [batch async for batch in one.embed(0, EmbeddingRequest(inputs, **more))]
    finally:
        await one.close()
    return [list(vector) for batch in batches for vector in batch.vectors]


async def test_its_card_says_what_its_model_is_for(upstream: ModelServer) -> None:
    one = await engine(upstream)
    await one.close()
    assert (one.card.name, one.card.verbs, one.card.chats) == ("nomic-embed", ("embed",), False)


async def test_vectors_are_put_into_order_whatever_their_form(upstream: ModelServer) -> None:
    packed = base64.b64encode(struct.pack("<2f", 0.5, 0.25)).decode()
    upstream.extra[EMBEDDINGS] = {
        "data": [{"index": 1, "embedding": [1, 0]}, {"index": 0, "embedding": packed}],
        "usage": {"prompt_tokens": 9},
    }
    one = await engine(upstream)
    [batch] = [batch async for batch in one.embed(0, EmbeddingRequest(("a", (1, 2)), dimensions=2))]
    await one.close()
    assert [list(vector) for vector in batch.vectors] == [[0.5, 0.25], [1.0, 0.0]]
    assert batch.tokens == 9
    [asked] = upstream.asked(EMBEDDINGS)
    assert asked.body == {"model": "nomic-embed", "input": ["a", [1, 2]], "dimensions": 2}


async def test_many_inputs_go_in_several_requests(upstream: ModelServer) -> None:
    entries = [{"index": index, "embedding": [1.0]} for index in range(TOGETHER)]
    upstream.extra[EMBEDDINGS] = {"data": entries}
    assert len(await vectors(await engine(upstream), *["a"] * (3 * TOGETHER))) == 3 * TOGETHER
    assert len(upstream.asked(EMBEDDINGS)) == 3


async def test_a_model_of_a_connected_server_is_asked_by_its_own_name(upstream: ModelServer) -> None:
    upstream.extra[EMBEDDINGS] = {"data": [{"index": 0, "embedding": [1.0]}]}
    await vectors(await engine(upstream, several=True), "a", upstream_model="own-name")
    assert upstream.asked(EMBEDDINGS)[0].body["model"] == "own-name"


@pytest.mark.parametrize(
    "answer",
    [
        {"data": []},
        {"data": [{"index": 5, "embedding": [1.0]}]},
        {"data": [{"index": 0, "embedding": []}]},
        {"data": [{"index": 0, "embedding": ["x"]}]},
        {"data": [{"index": 0, "embedding": "!"}]},
        {"data": [5]},
        {"data": None},
        [],
        {"error": "none"},
    ],
)
async def test_an_answer_without_vectors_is_the_servers_failure(
    upstream: ModelServer, answer: object
) -> None:
    upstream.extra[EMBEDDINGS] = answer
    with pytest.raises(Problem) as problem:
        await vectors(await engine(upstream), "a")
    assert (problem.value.code, problem.value.status) == ("upstream_failed", 502)


async def test_what_the_server_refuses_its_own_sentence_says(upstream: ModelServer) -> None:
    one = await engine(upstream)
    upstream.status, upstream.error = 400, {"error": {"message": "This model does not support embeddings"}}
    with pytest.raises(Problem, match="does not support embeddings") as problem:
        await vectors(one, "a")
    assert (problem.value.code, problem.value.status) == ("upstream_refused", 400)


async def test_an_input_that_is_too_long_there_is_named_as_far_as_it_is_known(upstream: ModelServer) -> None:
    ours = "input[0] takes 502 tokens, but the model tiny reads at most 128 at a time."
    llama = "input (302 tokens) is too large to process. increase the physical batch size"
    tei = "Input validation error: `inputs` must have less than 512 tokens"
    cases = [(("a",), "input[0]"), (("a", "b"), "input")]
    for said in (ours, llama, tei, "maximum context length is 512 tokens"):
        for inputs, param in cases:
            upstream.status = 200
            one = await engine(upstream)
            upstream.status, upstream.error = 400, {"error": {"message": said}}
            with pytest.raises(ContextExceeded) as problem:
                await vectors(one, *inputs)
            assert problem.value.param == param


@pytest.mark.parametrize(
    "answer",
    [
        {"results": [{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.1}]},
        [{"index": 1, "score": 0.9}, {"index": 0, "score": 0.1}],
        {"data": [{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.1}]},
    ],
)
async def test_scores_are_put_into_order_whatever_their_form(upstream: ModelServer, answer: Any) -> None:
    upstream.extra[RERANK] = answer
    one = await engine(upstream, model="a-reranker")
    batches = [batch async for batch in one.rerank(0, RerankRequest("q", ("a", "b")))]
    await one.close()
    assert [score for batch in batches for score in batch.scores] == [0.1, 0.9]
    assert one.card.verbs == ("rerank",)
    assert upstream.asked(RERANK)[0].body == {
        "model": "a-reranker",
        "query": "q",
        "documents": ["a", "b"],
        "top_n": 2,
    }


async def test_an_answer_without_scores_is_the_servers_failure(upstream: ModelServer) -> None:
    upstream.extra[RERANK] = {"results": []}
    one = await engine(upstream)
    with pytest.raises(Problem, match="a score for each document"):
        _ = [batch async for batch in one.rerank(0, RerankRequest("q", ("a",)))]
    await one.close()
