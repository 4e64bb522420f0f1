"""Ollama's embeddings, over a service that makes them."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from pathlib import Path

import ollama
import pytest
from msgspec import Struct
from tests.gateway.ollama.conftest import Ask

from duologue.config import Settings
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
