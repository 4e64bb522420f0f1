"""An adapter that an admin adds at a server reaches a worker of another machine that serves a model of the server, without anybody starting it again."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.support.joined_processes import joining
from tests.support.tiny_model import write_tiny_adapter, write_tiny_model

pytestmark = pytest.mark.system

KEY = "the-key-of-the-admin-of-the-server-of-adapters"


@pytest.fixture(scope="module")
def server(lasting: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Any:
    """One that has the model's files, and no worker for it. Its own worker has another model."""
    folder = tmp_path_factory.mktemp("server")
    (folder / "key").write_text(KEY)
    server = lasting(
        *("--engine", "scripted", "--key-file", str(folder / "key")), DUOLOGUE_MACHINES__JOIN="true"
    ).ready()
    for part in ("models", "loras"):
        (server.data / part).mkdir(exist_ok=True)
    write_tiny_model(server.data / "models" / "small.gguf")
    write_tiny_adapter(server.data / "loras" / "style.gguf")
    return server


@pytest.fixture(scope="module")
def client(server: Any) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.url, headers={"Authorization": f"Bearer {KEY}"}, timeout=120) as client:
        yield client


@pytest.fixture(scope="module")
def worker(
    client: httpx.Client, server: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[subprocess.Popen[str]]:
    folder: Path = tmp_path_factory.mktemp("attic")
    made = client.post("/api/keys", json={"name": "attic", "role": "worker"}).raise_for_status()
    with joining(server.url, made.json()["key"], folder, "--serve", "small", "--slots", "1") as process:
        yield process


def row(client: httpx.Client) -> dict[str, Any]:
    rows = client.get("/workers").raise_for_status().json()["workers"]
    return next((row for row in rows if row["worker_id"].startswith("attic/")), {})


def test_an_adapter_reaches_a_running_worker_of_another_machine(
    server: Any, client: httpx.Client, worker: subprocess.Popen[str]
) -> None:
    server.until(lambda: row(client).get("status") == "idle")
    model = row(client)["model"]
    before = client.get("/lora-adapters", params={"model": model}).raise_for_status().json()
    assert before == []
    body = {"model": model, "loras": [{"name": "style", "scaling": 0.5}]}
    assert client.post("/v1/lora/load", json=body).raise_for_status().json()["success"] == ["style"]
    [adapter] = client.get("/lora-adapters", params={"model": model}).raise_for_status().json()
    assert (adapter["id"], adapter["scale"]) == (0, 0.5)
    answer = {"model": model, "max_tokens": 4, "messages": [{"role": "user", "content": "hello"}]}
    client.post("/v1/chat/completions", json=answer).raise_for_status()
    assert worker.poll() is None
