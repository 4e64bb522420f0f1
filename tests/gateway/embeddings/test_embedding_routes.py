"""The routes, over a service that is played by the test."""

from __future__ import annotations

import base64
import struct
from array import array
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx
import pytest
from fastapi import FastAPI
from tests.support.stand_in import StandIn

from duologue.config.settings import LimitSettings
from duologue.errors import ContextExceeded, QueueFull, Unavailable
from duologue.gateway.embeddings.embedding_routes import router
from duologue.gateway.embeddings.service import EmbeddingResult, RankingResult
from duologue.gateway.models.registry import ModelRegistry
from duologue.gateway.models.requested_models import RequestedModels
from duologue.http.error_responses import exception_handlers
from duologue.values.requests import ModelCard

pytestmark = pytest.mark.anyio

VECTORS = ModelCard("vectors", "llama", 512, verbs=("embed",), dimensions=4)
RANKER = ModelCard("ranker", "llama", 512, verbs=("rerank",))
WRITER = ModelCard("writer", "llama", 512)


class PlayedService(StandIn):
    """Gives each input a vector of its length, and each document its length as the score."""

    def __init__(self) -> None:
        self.calls: list[dict[str, Any]] = []
        self.problem: Exception | None = None
        self.hangs = False
        self.left = anyio.Event()

    async def embed(
        self, card: ModelCard, inputs: Sequence[str | Sequence[int]], **more: Any
    ) -> EmbeddingResult:
        await self._called(card=card.name, inputs=list(inputs), **more)
        vectors = tuple(array("f", [len(text), 0.5]) for text in inputs)
        return EmbeddingResult(vectors, 7)

    async def rerank(
        self, card: ModelCard, query: str, documents: Sequence[str], **more: Any
    ) -> RankingResult:
        await self._called(card=card.name, query=query, documents=list(documents), **more)
        return RankingResult(tuple(len(text) / 8 for text in documents), 5)

    async def _called(self, **call: Any) -> None:
        self.calls.append(call)
        if self.problem is not None:
            raise self.problem
        if self.hangs:
            try:
                await anyio.sleep_forever()
            finally:
                self.left.set()


def application(service: PlayedService, *cards: ModelCard, **limits: Any) -> FastAPI:
    app = FastAPI(exception_handlers=exception_handlers())
    models = ModelRegistry(lambda: cards or (WRITER, VECTORS, RANKER), {"ada": "vectors"})
    app.include_router(router(service, RequestedModels(models), LimitSettings(**limits)))
    return app


@asynccontextmanager
async def connected(
    *cards: ModelCard, **limits: Any
) -> AsyncIterator[tuple[httpx.AsyncClient, PlayedService]]:
    service = PlayedService()
    transport = httpx.ASGITransport(application(service, *cards, **limits), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        yield client, service


async def test_each_input_has_a_vector() -> None:
    async with connected() as (client, service):
        answer = await client.post("/v1/embeddings", json={"model": "ada", "input": ["a", "bcd"]})
    body = answer.json()
    assert answer.headers["cache-control"] == "no-store"
    assert [entry["embedding"] for entry in body["data"]] == [[1.0, 0.5], [3.0, 0.5]]
    assert (body["model"], body["usage"]["total_tokens"]) == ("vectors", 7)
    assert service.calls == [
        {"card": "vectors", "inputs": ["a", "bcd"], "user": "local", "request_id": "", "dimensions": None}
    ]


async def test_base64_and_dimensions_are_kept() -> None:
    async with connected() as (client, service):
        fields = {"input": [[1, 2]], "encoding_format": "base64", "dimensions": 2}
        body = (await client.post("/v1/embeddings", json=fields)).json()
    assert struct.unpack("<2f", base64.b64decode(body["data"][0]["embedding"])) == (2.0, 0.5)
    assert (service.calls[0]["inputs"], service.calls[0]["dimensions"]) == ([(1, 2)], 2)


async def test_many_vectors_are_written_all_the_same() -> None:
    async with connected(text_mb=2) as (client, _):
        body = (await client.post("/v1/embeddings", json={"input": ["x" * 600] * 2048})).json()
        assert len(body["data"]) == 2048
        assert (await client.post("/v1/embeddings", json={"input": ["x" * 1200] * 2048})).status_code == 413


@pytest.mark.parametrize(
    ("fields", "status", "code", "param"),
    [
        ({}, 400, "invalid_request", "input"),
        ({"input": "a", "dimensions": 5}, 400, "invalid_request", "dimensions"),
        ({"input": "a", "model": "writer"}, 400, "unsupported", "model"),
        ({"input": "a", "model": "none"}, 404, "model_not_found", "model"),
    ],
)
async def test_what_cannot_be_answered_is_refused_before_the_queue(
    fields: dict[str, Any], status: int, code: str, param: str
) -> None:
    async with connected() as (client, service):
        answer = await client.post("/v1/embeddings", json=fields)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["param"]) == (status, code, param)
    assert service.calls == []


async def test_without_such_a_model_the_error_says_so() -> None:
    async with connected(WRITER) as (client, _):
        for path, fields in (
            ("/v1/embeddings", {"input": "a"}),
            ("/v1/rerank", {"query": "q", "documents": ["a"]}),
        ):
            error = (await client.post(path, json=fields)).json()["error"]
            assert error["code"] == "unsupported"
            assert "is loaded" in error["message"]


async def test_an_error_of_the_work_has_its_status() -> None:
    async with connected() as (client, service):
        service.problem = ContextExceeded("too long", param="input[3]")
        answer = await client.post("/v1/embeddings", json={"input": "a"})
        assert (answer.status_code, answer.json()["error"]["param"]) == (400, "input[3]")
        service.problem = QueueFull("full", retry_after=7)
        answer = await client.post("/v1/embeddings", json={"input": "a"})
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "7")
        service.problem = RuntimeError("a secret")
        answer = await client.post("/v1/embeddings", json={"input": "a"})
        assert answer.status_code == 500
        assert "secret" not in answer.text


async def test_a_client_that_leaves_ends_the_work(serve: Any) -> None:
    service = PlayedService()
    service.hangs = True
    async with serve(application(service)) as address, httpx.AsyncClient() as client:
        with pytest.raises(httpx.ReadTimeout):
            await client.post(f"http://{address}/v1/embeddings", json={"input": "a"}, timeout=0.2)
        with anyio.fail_after(60):
            await service.left.wait()


async def test_llama_servers_path_has_its_form() -> None:
    async with connected() as (client, _):
        answer = await client.post("/embedding", json={"content": ["a", "bc"]})
    assert answer.json() == [
        {"index": 0, "embedding": [[1.0, 0.5]]},
        {"index": 1, "embedding": [[2.0, 0.5]]},
    ]


@pytest.mark.parametrize("path", ["/v1/rerank", "/rerank", "/v2/rerank", "/v1/reranking", "/reranking"])
async def test_documents_are_ranked_on_every_path(path: str) -> None:
    async with connected() as (client, service):
        body = (await client.post(path, json={"query": "q", "documents": ["a", "bcd"], "top_n": 1})).json()
    assert body["results"] == [{"index": 1, "relevance_score": 0.375}]
    assert body["id"].startswith("rerank-")
    assert service.calls[0]["query"] == "q"


async def test_pairs_with_one_query_are_scored_together() -> None:
    async with connected() as (client, service):
        fields = {"text_1": ["p", "p", "q"], "text_2": ["a", "bb", "ccc"]}
        body = (await client.post("/v1/score", json=fields)).json()
    assert [entry["score"] for entry in body["data"]] == [0.125, 0.25, 0.375]
    assert body["usage"]["total_tokens"] == 10
    assert [(call["query"], call["documents"]) for call in service.calls] == [
        ("p", ["a", "bb"]),
        ("q", ["ccc"]),
    ]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/embeddings", {"input": "one"}),
        ("/embedding", {"content": "one"}),
        ("/v1/rerank", {"query": "q", "documents": ["one"]}),
        ("/v1/score", {"text_1": "q", "text_2": "one"}),
    ],
)
async def test_a_model_that_takes_long_to_load_is_told_in_time(path: str, body: dict[str, Any]) -> None:
    asked: list[bool] = []

    class Loading(RequestedModels):
        async def card(self, name: str, user: str, **how: Any) -> ModelCard:
            asked.append(how["in_time"])
            raise Unavailable("The model is loading.", code="model_loading", retry_after=5.0)

    app = FastAPI(exception_handlers=exception_handlers())
    app.include_router(router(PlayedService(), Loading(ModelRegistry(lambda: ())), LimitSettings()))
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        answer = await client.post(path, json={"model": "sleepy", **body})
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "model_loading")
    assert answer.headers["retry-after"] == "5"
    assert asked == [True]
