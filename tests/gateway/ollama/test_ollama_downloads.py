"""Ollama's `/api/pull` and `/api/delete`, and what is refused."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from fastapi import APIRouter
from tests.gateway.ollama.conftest import Ask, application
from tests.support.tiny_model import TinyModel, write_tiny_model

from duologue.config import Settings
from duologue.errors import ModelNotFound, Problem
from duologue.gateway.models.api_routes import READ_AGAIN, ModelEvent
from duologue.gateway.models.available import AvailableModels
from duologue.gateway.models.download_work import Work
from duologue.gateway.models.downloads import Downloads
from duologue.gateway.models.registry import ModelRegistry
from duologue.gateway.models.requested_models import RequestedModels
from duologue.gateway.ollama.ollama_downloads import router
from duologue.gateway.ollama.ollama_names import OllamaNames
from duologue.gateway.scheduling.pool import Pool
from duologue.gateway.scheduling.scheduler import Scheduler
from duologue.http.event_log import EventLog, EventNumbers
from duologue.wire.worker_protocol import LoadSpec

pytestmark = pytest.mark.anyio


class Hub:
    """Each download is done at once, unless it fails or hangs."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.error: Exception | None = None
        self.hangs = False

    def __call__(self, work: Work) -> None:
        self.asked.append(work.what)
        if self.error is not None:
            raise self.error
        work.ordered("Tiny", 100, 0)
        work.begin("file", 100, 0)
        while self.hangs:
            work.pause(0.01)
        work.advance(100)
        work.end()


Desk = Callable[[Hub], AbstractAsyncContextManager[tuple[APIRouter, Downloads]]]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    folder = tmp_path / "models"
    folder.mkdir()
    loaded = write_tiny_model(folder / "Loaded.gguf", TinyModel())
    write_tiny_model(folder / "Tiny.gguf", TinyModel())

    @asynccontextmanager
    async def opened(hub: Hub) -> AsyncIterator[tuple[APIRouter, Downloads]]:
        spec = LoadSpec("worker_0", "llama", "Loaded", {"model": str(loaded)})
        pool = Pool([spec], Scheduler())
        models = ModelRegistry(pool.cards)
        available = AvailableModels(Settings(engine="scripted", data=tmp_path), [spec])
        downloads = Downloads(hub)
        events: EventLog[ModelEvent] = EventLog(EventNumbers(0), reset=READ_AGAIN)
        names = OllamaNames(models, RequestedModels(models), available)
        async with anyio.create_task_group() as tasks:
            await tasks.start(downloads.run)
            yield router(names, downloads, pool, folder, events), downloads
            tasks.cancel_scope.cancel()

    return opened


async def test_a_pull_tells_its_progress(desk: Desk, ask: Ask) -> None:
    hub = Hub()
    async with desk(hub) as (routes, _), ask(routes) as client:
        answer = await client.post("/api/pull", json={"model": "hf.co/someone/Tiny-GGUF:latest"})
    rows = [json.loads(line) for line in answer.text.splitlines()]
    assert answer.headers["content-type"] == "application/x-ndjson"
    assert rows[0] == {"status": "pulling manifest"}
    assert rows[-1] == {"status": "success"}
    assert hub.asked == ["hf.co/someone/Tiny-GGUF"]


async def test_a_pull_without_a_stream_is_answered_at_the_end(desk: Desk, ask: Ask) -> None:
    hub = Hub()
    async with desk(hub) as (routes, _), ask(routes) as client:
        answer = await client.post("/api/pull", json={"name": "qwen3:4b", "stream": False})
    assert answer.json() == {"status": "success"}
    assert hub.asked == ["qwen3-4b"]


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (ModelNotFound("There is no such repository."), 404),
        (Problem("The disk is full.", code="disk_full"), 500),
    ],
)
async def test_a_pull_that_fails_says_why(desk: Desk, ask: Ask, error: Problem, status: int) -> None:
    hub = Hub()
    hub.error = error
    async with desk(hub) as (routes, _), ask(routes) as client:
        whole = await client.post("/api/pull", json={"model": "a/b", "stream": False})
        stream = await client.post("/api/pull", json={"model": "a/b"})
    assert (whole.status_code, whole.json()) == (status, {"error": error.message})
    assert json.loads(stream.text.splitlines()[-1]) == {"error": error.message}


async def test_a_name_that_nobody_knows_is_refused_at_once(desk: Desk, ask: Ask) -> None:
    async with desk(Hub()) as (routes, _), ask(routes) as client:
        answer = await client.post("/api/pull", json={"model": "no-such-model"})
    assert answer.status_code == 404


async def test_a_pull_ends_with_its_client_and_another_goes_on(desk: Desk, serve: Any) -> None:
    hub = Hub()
    hub.hangs = True

    async def begin(client: httpx.AsyncClient, address: str) -> None:
        url = f"http://{address}/api/pull"
        async with client.stream("POST", url, json={"model": "a/b"}) as answer:
            async for _ in answer.aiter_lines():
                return

    async with (
        desk(hub) as (routes, downloads),
        serve(application(routes)) as address,
        httpx.AsyncClient() as client,
    ):
        await begin(client, address)
        with anyio.fail_after(60):
            while downloads.rows()[0].state != "stopped":
                await anyio.wait_all_tasks_blocked()
        running = downloads.enqueue("a/b")
        await begin(client, address)
        hub.hangs = False
        with anyio.fail_after(60):
            async for row in downloads.follow(running.id):
                last = row.state
    assert last == "done"


async def test_a_model_is_deleted_unless_it_is_loaded(desk: Desk, ask: Ask, tmp_path: Path) -> None:
    async with desk(Hub()) as (routes, _), ask(routes) as client:
        done = await client.request("DELETE", "/api/delete", json={"model": "tiny:latest"})
        loaded = await client.request("DELETE", "/api/delete", json={"name": "Loaded"})
        missing = await client.request("DELETE", "/api/delete", json={"model": "nobody"})
    assert (done.status_code, loaded.status_code, missing.status_code) == (200, 409, 404)
    assert "Unload it first" in loaded.json()["error"]
    assert [path.name for path in (tmp_path / "models").iterdir()] == ["Loaded.gguf"]


@pytest.mark.parametrize(("method", "path"), [("POST", "/api/pull"), ("DELETE", "/api/delete")])
async def test_only_admins_bring_and_delete_models(desk: Desk, ask: Ask, method: str, path: str) -> None:
    async with desk(Hub()) as (routes, _), ask(routes, role="user") as client:
        answer = await client.request(method, path, json={"model": "tiny"})
    assert (answer.status_code, answer.json()) == (403, {"error": "Only an admin can do this."})


@pytest.mark.parametrize("path", ["copy", "create", "push", "blobs/sha256:00"])
async def test_what_has_no_counterpart_here_is_refused_with_a_sentence(
    desk: Desk, ask: Ask, path: str
) -> None:
    async with desk(Hub()) as (routes, _), ask(routes) as client:
        answer = await client.post(f"/api/{path}", json={"model": "x"})
    assert answer.status_code == 400
    assert answer.json()["error"].endswith(".")
