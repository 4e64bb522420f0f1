"""Embedding models and rerankers before a chat model on a running server, asked with the official client."""

from __future__ import annotations

import base64
import json
import math
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import openai
import pytest
from anyio.from_thread import start_blocking_portal
from tests.e2e.conftest import Server
from tests.support.tiny_encoder import (
    TinyEncoder,
    reference_score,
    reference_vector,
    token_of,
    write_tiny_encoder,
)

pytestmark = pytest.mark.system

MODEL, RANKER = TinyEncoder(), TinyEncoder(pooling="rank")
CAT = "the cat sat on the mat"
IDS = [2, *map(token_of, CAT.split()), 3]
PAIR = [2, token_of("the"), token_of("cat"), 3]


@pytest.fixture(scope="module")
def server(lasting: Callable[..., Server], tmp_path_factory: pytest.TempPathFactory) -> Server:
    """The embedding models stand before the chat model in the settings."""
    folder = tmp_path_factory.mktemp("models")
    workers = [
        {"engine": "llama", "model": str(write_tiny_encoder(folder / "tiny-embed.gguf", MODEL))},
        {"engine": "llama", "model": str(write_tiny_encoder(folder / "tiny-rank.gguf", RANKER))},
        {"engine": "scripted", "options": {"kind": "embedding", "name": "hashed"}, "slots": 1},
        {"engine": "scripted", "options": {"name": "writer"}},
    ]
    settings = {"workers": workers, "aliases": {"text-embedding-3-small": "tiny-embed"}}
    (folder / "duologue.yaml").write_text(json.dumps(settings))
    server = lasting("--config", str(folder / "duologue.yaml")).ready()
    server.until(lambda: server.status()["idle_workers"] == 4)
    return server


@pytest.fixture
def client(server: Server) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="any", max_retries=0, timeout=30) as client:
        yield client


def test_the_official_client_gets_the_vectors_of_the_weights(client: openai.OpenAI) -> None:
    answer = client.embeddings.create(model="text-embedding-3-small", input=[CAT, "a red boat"])
    assert (answer.object, answer.model, len(answer.data)) == ("list", "tiny-embed", 2)
    assert [entry.index for entry in answer.data] == [0, 1]
    np.testing.assert_allclose(answer.data[0].embedding, reference_vector(MODEL, IDS), atol=1e-3)
    assert answer.usage.prompt_tokens == answer.usage.total_tokens == 8 + 5


def test_numbers_and_base64_texts_and_tokens_are_the_same(client: openai.OpenAI) -> None:
    numbers = client.embeddings.create(model="tiny-embed", input=CAT, encoding_format="float")
    packed = client.embeddings.create(model="tiny-embed", input=IDS, encoding_format="base64")
    data: Any = packed.data[0].embedding
    unpacked = struct.unpack(f"<{MODEL.embedding}f", base64.b64decode(data))
    np.testing.assert_allclose(unpacked, numbers.data[0].embedding, atol=1e-6)


def test_fewer_dimensions_are_cut_and_scaled(client: openai.OpenAI) -> None:
    whole = client.embeddings.create(model="tiny-embed", input=CAT).data[0].embedding
    cut = client.embeddings.create(model="tiny-embed", input=CAT, dimensions=16).data[0].embedding
    length = math.sqrt(sum(number**2 for number in whole[:16]))
    np.testing.assert_allclose(cut, [number / length for number in whole[:16]], atol=1e-6)
    with pytest.raises(openai.BadRequestError, match="at most 64") as refusal:
        client.embeddings.create(model="tiny-embed", input=CAT, dimensions=65)
    assert refusal.value.param == "dimensions"


def test_a_thousand_inputs_are_one_answer(client: openai.OpenAI) -> None:
    texts = [f"{number} boats" for number in range(1000)]
    answer = client.embeddings.create(model="hashed", input=texts)
    assert [entry.index for entry in answer.data] == list(range(1000))
    assert answer.usage.prompt_tokens == 2000
    alone = client.embeddings.create(model="hashed", input="777 boats")
    np.testing.assert_allclose(answer.data[777].embedding, alone.data[0].embedding, atol=1e-6)


def test_an_input_that_is_too_long_is_named(client: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError) as refusal:
        client.embeddings.create(model="tiny-embed", input=["a", "the " * 500])
    assert (refusal.value.code, refusal.value.param) == ("context_length_exceeded", "input[1]")


def test_a_model_does_only_what_it_is_for_and_others_are_named(server: Server, client: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError, match="tiny-embed, hashed") as refusal:
        client.embeddings.create(model="writer", input="x")
    assert refusal.value.code == "unsupported"
    with pytest.raises(openai.BadRequestError, match="Choose another: writer") as refusal:
        client.chat.completions.create(model="tiny-embed", messages=[{"role": "user", "content": "hi"}])
    assert refusal.value.code == "unsupported"
    body = {"query": "x", "documents": ["y"], "model": "tiny-embed"}
    assert "tiny-rank" in httpx.post(f"{server.url}/v1/rerank", json=body).json()["error"]["message"]
    body = {"name": "tiny-embed"}
    assert httpx.put(f"{server.url}/api/models/default", json=body).status_code == 400


def test_the_chat_model_stays_the_default_and_the_others_are_listed(
    server: Server, client: openai.OpenAI
) -> None:
    reply = client.chat.completions.create(model="", messages=[{"role": "user", "content": "/say hi"}])
    assert (reply.model, reply.choices[0].message.content) == ("writer", "hi")
    assert [model.id for model in client.models.list()][:4] == ["writer", "tiny-embed", "tiny-rank", "hashed"]
    page = httpx.get(f"{server.url}/api/capabilities").json()
    assert page["default_model"] == "writer"
    assert [model["name"] for model in page["models"]] == ["writer"]
    listed = httpx.get(f"{server.url}/v1/models/tiny-embed").json()
    assert (listed["capabilities"], listed["dimensions"]) == (["embeddings", "embed"], 64)
    assert listed["type"] == "embeddings"


def test_documents_come_in_the_order_of_the_query(server: Server) -> None:
    documents = ["a dog ran", {"text": "the cat sat"}, "red boat"]
    body = {"query": "the cat", "documents": documents, "top_n": 2, "return_documents": True}
    for path in ("/v1/rerank", "/rerank", "/v2/rerank", "/v1/reranking"):
        answer = httpx.post(server.url + path, json=body).json()
        texts = ["a dog ran", "the cat sat", "red boat"]
        scores = [
            1 / (1 + math.exp(-reference_score(RANKER, [*PAIR, *map(token_of, text.split())])))
            for text in texts
        ]
        best = sorted(range(3), key=lambda index: -scores[index])[:2]
        assert [result["index"] for result in answer["results"]] == best
        assert [result["document"]["text"] for result in answer["results"]] == [
            texts[index] for index in best
        ]
        found = [result["relevance_score"] for result in answer["results"]]
        np.testing.assert_allclose(found, [scores[index] for index in best], atol=2e-3)
        assert answer["model"] == "tiny-rank"


def test_scores_of_pairs_and_the_forms_of_other_servers(server: Server) -> None:
    body: dict[str, Any] = {"text_1": "the cat", "text_2": ["a dog ran", "the cat sat"]}
    scores = httpx.post(f"{server.url}/v1/score", json=body).json()["data"]
    body = {"query": "the cat", "texts": ["a dog ran", "the cat sat"]}
    ranked = httpx.post(f"{server.url}/rerank", json=body).json()
    assert {row["index"]: row["score"] for row in ranked} == {
        row["index"]: pytest.approx(row["score"], abs=1e-3) for row in scores
    }
    [entry] = httpx.post(f"{server.url}/embedding", json={"content": CAT, "model": "tiny-embed"}).json()
    np.testing.assert_allclose(entry["embedding"][0], reference_vector(MODEL, IDS), atol=1e-3)


def test_a_client_that_leaves_gives_its_slot_back(server: Server, client: openai.OpenAI) -> None:
    with pytest.raises(openai.APITimeoutError):
        client.embeddings.create(model="hashed", input=["a", "/hang"], timeout=0.5)
    # There is one slot, so this waits for it.
    assert client.embeddings.create(model="hashed", input="a").usage.prompt_tokens == 1


def test_requests_wait_in_the_queue_by_their_kind(server: Server, client: openai.OpenAI) -> None:
    async def hang() -> None:
        async with httpx.AsyncClient(base_url=server.url) as waiting:
            await waiting.post("/v1/embeddings", json={"model": "hashed", "input": "/hang"})

    def queue() -> dict[str, Any]:
        found: dict[str, Any] = httpx.get(f"{server.url}/api/queue").json()
        return found

    with start_blocking_portal() as portal:
        asking = [portal.start_task_soon(hang) for _ in range(2)]
        server.until(lambda: queue()["queue_length"] == 1)
        seen = queue()
        for one in asking:
            one.cancel()
    [waiting], [running] = seen["items"], seen["running_tasks"]
    assert (waiting["request_type"], waiting["model"], running["request_type"]) == (
        "embed",
        "hashed",
        "embed",
    )
    server.until(lambda: server.status()["slots_busy"] == 0)


def test_a_model_of_another_server_is_used_through_this_one(
    server: Server, client: openai.OpenAI, serve: Callable[..., Server], tmp_path: Path
) -> None:
    workers = [
        {"engine": "remote", "upstream": {"url": server.url, "model": "tiny-embed"}},
        {"engine": "remote", "upstream": {"url": server.url, "model": "tiny-rank"}},
    ]
    (tmp_path / "duologue.yaml").write_text(json.dumps({"workers": workers}))
    other = serve("--config", str(tmp_path / "duologue.yaml")).ready()
    other.until(lambda: other.status()["idle_workers"] == 2)
    with openai.OpenAI(base_url=f"{other.url}/v1", api_key="any", max_retries=0, timeout=30) as through:
        direct = client.embeddings.create(model="tiny-embed", input=[CAT] * 50)
        answer = through.embeddings.create(model="tiny-embed", input=[CAT] * 50)
        np.testing.assert_allclose(answer.data[49].embedding, direct.data[49].embedding, atol=1e-5)
        assert answer.usage == direct.usage
        with pytest.raises(openai.BadRequestError) as refusal:
            through.embeddings.create(model="tiny-embed", input="the " * 500)
        assert refusal.value.code == "context_length_exceeded"
    body = {"query": "the cat", "documents": ["a dog ran", "the cat sat"]}
    scores = [httpx.post(f"{one.url}/v1/rerank", json=body).json()["results"] for one in (server, other)]
    assert [row["index"] for row in scores[0]] == [row["index"] for row in scores[1]]
