"""Ollama's port: its own paths, `/v1` of the main application, and the same keys, limits and checks."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from duologue.config import Settings, load
from duologue.gateway.app import Gateway
from duologue.gateway.ollama_port import OllamaErrors, ollama_port
from duologue.gateway.server import public_app
from duologue.wire.worker_protocol import LoadSpec

pytestmark = pytest.mark.anyio
KEY = "a-key-of-some-length"


@asynccontextmanager
async def port(tmp_path: Path, **flags: object) -> AsyncIterator[httpx.AsyncClient]:
    environment = {"DUOLOGUE_KEY": str(flags.pop("key"))} if "key" in flags else {}
    settings: Settings = load(None, environment, {"data": str(tmp_path), "engine": "scripted", **flags})
    gateway = Gateway(settings, [LoadSpec("w", "scripted", "m")], announce=lambda line: None)
    app = OllamaErrors(public_app(ollama_port(gateway), settings, base=""))
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost:11434") as client:
        yield client


async def test_the_port_has_its_own_api_and_the_v1_of_the_main_one(tmp_path: Path) -> None:
    async with port(tmp_path, base_path="/talk") as client:
        assert (await client.get("/")).text == "Ollama is running"
        assert (await client.get("/api/tags")).json()["models"][0]["name"] == "m:latest"
        assert (await client.get("/v1/models")).json()["data"][0]["id"] == "m"
        # Our own API keeps its names on the main port.
        for path in ("/api/conversations", "/status", "/docs"):
            answer = await client.get(path)
            assert (answer.status_code, answer.json()) == (404, {"error": f"There is nothing at {path}."})
        wrong = await client.post("/v1/chat/completions", json={"messages": "x"})
        assert wrong.json()["error"]["type"] == "invalid_request_error"


async def test_a_foreign_name_or_page_is_refused(tmp_path: Path) -> None:
    async with port(tmp_path) as client:
        for headers in ({"Host": "evil.example"}, {"Origin": "http://evil.example"}):
            answer = await client.get("/api/tags", headers=headers)
            assert answer.status_code == 403
            assert isinstance(answer.json()["error"], str)
            assert (await client.get("/v1/models", headers=headers)).status_code == 403


async def test_a_key_is_needed_where_there_is_one(tmp_path: Path) -> None:
    async with port(tmp_path, key=KEY) as client:
        assert (await client.get("/")).status_code == 200
        for path in ("/api/tags", "/api/version", "/v1/models", "/openapi.json"):
            assert (await client.get(path)).status_code == 401
            bearer = {"Authorization": f"Bearer {KEY}"}
            assert (await client.get(path, headers=bearer)).status_code == 200
        answer = await client.post("/api/chat", json={})
    assert isinstance(answer.json()["error"], str)
    assert answer.headers["www-authenticate"] == "Bearer"


async def test_a_body_that_is_too_large_is_refused(tmp_path: Path) -> None:
    async with port(tmp_path, **{"limits.body_mb": 1, "limits.text_mb": 1}) as client:
        large = b" " * (7 * 1024 * 1024)
        for path in ("/api/chat", "/api/show"):
            answer = await client.post(path, content=large)
            assert answer.status_code == 413
            assert "raises the limit" in answer.json()["error"]


async def test_every_route_is_described(tmp_path: Path) -> None:
    async with port(tmp_path) as client:
        paths = (await client.get("/openapi.json")).json()["paths"]
    names = ("chat", "generate", "tags", "show", "ps", "embed", "embeddings", "pull", "delete", "version")
    assert {f"/api/{name}" for name in names} <= set(paths)
    documentation = (Path(__file__).parents[2] / "docs" / "protocols.md").read_text("utf-8")
    for path in paths:
        assert f" {path.partition('{')[0]}" in documentation, path
