"""Ollama's lists of models, read by its official types."""

from __future__ import annotations

from pathlib import Path

import ollama
import pytest
from fastapi import APIRouter
from tests.gateway.ollama.conftest import Ask
from tests.support.tiny_model import TinyModel, write_tiny_model

from duologue.config import Settings
from duologue.gateway.models.available import AvailableModels
from duologue.gateway.models.registry import ModelRegistry
from duologue.gateway.models.requested_models import RequestedModels
from duologue.gateway.ollama.model_details import ModelDetails
from duologue.gateway.ollama.ollama_listing import GREETING, VERSION, router
from duologue.gateway.ollama.ollama_names import OllamaNames
from duologue.values.requests import ModelCard
from duologue.wire.worker_protocol import LoadSpec

pytestmark = pytest.mark.anyio

LOADED = ModelCard("Tiny", "llama", 256, size=77, verbs=("tools",), device="cuda:0", defaults={"top_k": 40})
FAR = ModelCard("far", "remote", 0, upstream="server", modalities=("text", "image"))


@pytest.fixture
def routes(tmp_path: Path) -> APIRouter:
    folder = tmp_path / "models"
    folder.mkdir()
    loaded = write_tiny_model(folder / "Tiny.gguf", TinyModel(context=512))
    write_tiny_model(folder / "Other-Q8_0.gguf", TinyModel(seed=8))
    models = ModelRegistry(lambda: (LOADED, FAR), {"gpt-4o": "Tiny"})
    spec = LoadSpec("worker_0", "llama", "Tiny", {"model": str(loaded)})
    available = AvailableModels(Settings(engine="scripted", data=tmp_path), [spec])
    names = OllamaNames(models, RequestedModels(models), available)
    return router(models, names, ModelDetails(available, 1700000000.0), clock=lambda: 1700000000.0)


async def test_every_model_is_listed_with_a_tag(routes: APIRouter, ask: Ask) -> None:
    async with ask(routes) as client:
        listed = ollama.ListResponse(**(await client.get("/api/tags")).json()).models
    names = [model.model for model in listed]
    assert names[:3] == ["Tiny:latest", "far:latest", "gpt-4o:latest"]
    assert "Other-Q8_0:latest" in names
    assert "duologue-mini:latest" in names
    assert listed[0].details is not None
    assert (listed[0].details.family, listed[0].details.format) == ("llama", "gguf")
    assert listed[1].modified_at is not None
    assert listed[1].modified_at.timestamp() == 1700000000


async def test_what_is_loaded_here_runs(routes: APIRouter, ask: Ask) -> None:
    async with ask(routes) as client:
        running = ollama.ProcessResponse(**(await client.get("/api/ps")).json()).models
    assert [(model.model, model.context_length) for model in running] == [("Tiny:latest", 256)]
    assert running[0].size_vram == running[0].size
    assert running[0].expires_at is not None
    assert running[0].expires_at.year == 2123


async def test_a_loaded_model_shows_what_it_can_do_here(routes: APIRouter, ask: Ask) -> None:
    async with ask(routes) as client:
        for body in ({"model": "tiny:latest"}, {"name": "Tiny"}, {"model": "gpt-4o:latest"}):
            shown = ollama.ShowResponse(**(await client.post("/api/show", json=body)).json())
            assert shown.capabilities == ["completion", "tools"]
            assert shown.modelinfo is not None
            assert shown.modelinfo["general.architecture"] == "llama"
            # What a chat has here, not what the model was trained for.
            assert shown.modelinfo["llama.context_length"] == 256
            assert shown.parameters == f"{'num_ctx':<30} 256\n{'top_k':<30} 40"
            assert "im_start" in (shown.template or "")


async def test_a_model_that_is_not_loaded_shows_its_file(routes: APIRouter, ask: Ask) -> None:
    async with ask(routes) as client:
        shown = ollama.ShowResponse(**(await client.post("/api/show", json={"model": "other-q8_0"})).json())
        missing = await client.post("/api/show", json={"model": "nobody"})
        unnamed = await client.post("/api/show", json={})
    assert shown.capabilities == ["completion"]
    assert shown.modelinfo is not None
    assert shown.modelinfo["llama.context_length"] == 512
    assert shown.details is not None
    assert shown.details.family == "llama"
    assert (missing.status_code, list(missing.json())) == (404, ["error"])
    assert (unnamed.status_code, unnamed.json()) == (
        400,
        {"error": "model is missing. /api/tags has the names."},
    )


async def test_a_connected_model_shows_what_is_known_of_it(routes: APIRouter, ask: Ask) -> None:
    async with ask(routes) as client:
        shown = ollama.ShowResponse(**(await client.post("/api/show", json={"model": "far"})).json())
    assert shown.capabilities == ["completion", "vision"]
    assert shown.modelinfo == {"general.architecture": "remote", "general.basename": "far"}


async def test_clients_find_an_ollama(routes: APIRouter, ask: Ask) -> None:
    async with ask(routes) as client:
        assert (await client.get("/")).text == GREETING
        assert (await client.head("/")).status_code == 200
        assert (await client.get("/api/version")).json() == {"version": VERSION}
        assert (await client.get("/api/nothing")).json() == {"error": "There is nothing at /api/nothing."}
