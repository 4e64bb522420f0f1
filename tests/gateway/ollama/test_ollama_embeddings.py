"""Ollama's embeddings, over a service that makes them."""

from __future__ import annotations

import json
from array import array
from collections.abc import MutableMapping, Sequence
from pathlib import Path
from typing import Any

import anyio
import ollama
import pytest
from msgspec import Struct
from tests.gateway.ollama.conftest import Ask, application

from duologue.config import Settings
from duologue.config.settings import LimitSettings
from duologue.gateway.models.available import AvailableModels
from duologue.gateway.models.registry import ModelRegistry
from duologue.gateway.models.requested_models import RequestedModels
from duologue.gateway.ollama.ollama_embeddings import router
from duologue.gateway.ollama.ollama_names import OllamaNames
from duologue.values.requests import ModelCard

pytestmark = pytest.mark.anyio
CARD = ModelCard("embedder", "llama", 512, verbs=("embed",))


class Made(Struct, frozen=True):
    vectors: tuple[array[float], ...]
    tokens: int


class Embedder:
    """A vector of a text is its length, as often as there are dimensions."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, str]] = []

    async def embed(
        self,
        card: ModelCard,
        inputs: Sequence[str],
        *,
        user: str,
        request_id: str,
        dimensions: int | None = None,
    ) -> Made:
        self.asked.append((card.name, user, request_id))
        vectors = tuple(array("f", [len(text)] * (dimensions or 2)) for text in inputs)
        return Made(vectors, sum(map(len, inputs)))


@pytest.fixture
def names(tmp_path: Path) -> OllamaNames:
    models = ModelRegistry(lambda: (CARD,))
    available = AvailableModels(Settings(engine="scripted", data=tmp_path), [])
    return OllamaNames(models, RequestedModels(models), available)


async def test_texts_become_vectors(names: OllamaNames, ask: Ask) -> None:
    embedder = Embedder()
    async with ask(router(names, embedder)) as client:
        body = {"model": "embedder:latest", "input": ["a", "bcd"], "dimensions": 3, "truncate": True}
        several = ollama.EmbedResponse(**(await client.post("/api/embed", json=body)).json())
        one = (await client.post("/api/embed", json={"model": "embedder", "input": "ab"})).json()
        none = (await client.post("/api/embed", json={"model": "embedder", "input": []})).json()
    assert several.embeddings == [[1, 1, 1], [3, 3, 3]]
    assert (several.prompt_eval_count, several.model) == (4, "embedder:latest")
    assert (one["embeddings"], none["embeddings"]) == ([[2, 2]], [])
    assert embedder.asked[0] == ("embedder", "ann", "r1")


async def test_the_older_form_has_one_vector(names: OllamaNames, ask: Ask) -> None:
    async with ask(router(names, Embedder())) as client:
        body = {"model": "embedder", "prompt": "abc"}
        assert (await client.post("/api/embeddings", json=body)).json() == {"embedding": [3, 3]}
        body = {"model": "embedder", "prompt": ""}
        assert (await client.post("/api/embeddings", json=body)).json() == {"embedding": []}


async def test_without_embedders_the_routes_refuse(names: OllamaNames, ask: Ask) -> None:
    async with ask(router(names, None)) as client:
        answer = await client.post("/api/embed", json={"model": "embedder", "input": "a"})
        wrong = await client.post("/api/embed", json={"model": "embedder", "input": 3})
    assert (answer.status_code, answer.json()) == (400, {"error": "This server makes no embeddings."})
    assert wrong.json() == {"error": "input must be a text or a list of texts."}


async def test_a_client_that_leaves_ends_its_work_and_too_much_text_is_refused(names: OllamaNames) -> None:
    class Slow(Embedder):
        ended = False

        async def embed(self, *args: object, **more: object) -> Made:
            try:
                gone.set()
                await anyio.sleep_forever()
            finally:
                self.ended = True
            raise AssertionError

    gone, slow = anyio.Event(), Slow()
    app = application(router(names, slow, LimitSettings(text_mb=1)))

    async def asked(body: object) -> int:
        pieces, sent = [json.dumps(body).encode()], list[MutableMapping[str, Any]]()

        async def receive() -> MutableMapping[str, Any]:
            if pieces:
                return {"type": "http.request", "body": pieces.pop()}
            await gone.wait()
            return {"type": "http.disconnect"}

        async def send(message: MutableMapping[str, Any]) -> None:
            sent.append(message)

        scope = {"type": "http", "method": "POST", "path": "/api/embed", "headers": [], "query_string": b""}
        await app(scope, receive, send)
        return int(sent[0]["status"]) if sent else 0

    with anyio.fail_after(60):
        assert await asked({"model": "embedder", "input": "a" * (2**20 + 1)}) == 413
        assert not gone.is_set()
        await asked({"model": "embedder", "input": "a"})
    assert slow.ended
