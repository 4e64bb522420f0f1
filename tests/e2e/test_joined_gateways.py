"""One worker on another machine, two gateways of one PostgreSQL: it joins both, and they share its slot."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import httpx
import pytest
from tests.support.joined_processes import joining

pytestmark = pytest.mark.system

KEY = "the-key-of-the-admin-of-both-gateways"
MODEL = "shared"


@pytest.fixture(scope="module")
def gateways(start_gateway: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    key_file = tmp_path_factory.mktemp("key") / "key"
    key_file.write_text(KEY)
    servers = [start_gateway("--key-file", str(key_file), DUOLOGUE_MACHINES__JOIN="true") for _ in range(2)]
    return [server.ready() for server in servers]


@pytest.fixture(scope="module")
def clients(gateways: list[Any]) -> Iterator[list[httpx.Client]]:
    headers = {"Authorization": f"Bearer {KEY}"}
    clients = [httpx.Client(base_url=server.url, headers=headers, timeout=90) for server in gateways]
    yield clients
    for client in clients:
        client.close()


@pytest.fixture(scope="module")
def worker(gateways: list[Any], clients: list[httpx.Client], tmp_path_factory: pytest.TempPathFactory):
    """A worker with one slot that was told of the first gateway alone."""
    made = clients[0].post("/api/keys", json={"name": "attic", "role": "worker"}).raise_for_status()
    folder = tmp_path_factory.mktemp("attic")
    (folder / "worker.yaml").write_text(
        f"workers:\n  - name: one\n    engine: scripted\n    slots: 1\n    options: {{name: {MODEL}}}\n"
    )
    with joining(gateways[0].url, made.json()["key"], folder, "--config", "worker.yaml") as process:
        yield process


def row(client: httpx.Client) -> dict[str, Any]:
    rows = client.get("/workers").raise_for_status().json()["workers"]
    return next((row for row in rows if row["worker_id"].startswith("attic/")), {})


def test_a_worker_that_was_told_of_one_gateway_joins_both(
    gateways: list[Any], clients: list[httpx.Client], worker: subprocess.Popen[str]
) -> None:
    for server, client in zip(gateways, clients, strict=True):
        server.until(lambda client=client: row(client).get("status") == "idle")


def stream(client: httpx.Client, text: str) -> Any:
    body = {"model": MODEL, "stream": True, "messages": [{"role": "user", "content": text}]}
    return client.stream("POST", "/v1/chat/completions", json=body)


def test_gateways_that_share_a_slot_take_turns(
    gateways: list[Any], clients: list[httpx.Client], worker: subprocess.Popen[str]
) -> None:
    for server, client in zip(gateways, clients, strict=True):
        server.until(lambda client=client: row(client).get("status") == "idle")
    with ExitStack() as second:
        with stream(clients[0], "/pace 20\n/repeat 4000 word ") as running:
            first = running.iter_lines()
            assert any('"content":"word' in line for line in first)
            # The slot works for the first gateway, so who asks at the second one has a place in its queue.
            lines = second.enter_context(stream(clients[1], "hello")).iter_lines()
            assert any(line.startswith(":") and "queue" in line for line in lines)
        # The first client has left.
        assert any('"content":"' in line for line in lines)
    for server, client in zip(gateways, clients, strict=True):
        server.until(lambda client=client: row(client).get("status") == "idle")


def draining(client: httpx.Client) -> bool:
    rows = client.get("/api/machines").raise_for_status().json()["machines"]
    return any(row["draining"] for machine in rows for row in machine["workers"])


def test_a_drain_at_one_gateway_holds_at_both_until_it_is_undone_at_either(
    gateways: list[Any], clients: list[httpx.Client], worker: subprocess.Popen[str]
) -> None:
    for server, client in zip(gateways, clients, strict=True):
        server.until(lambda client=client: row(client).get("status") == "idle")
    path = f"/api/admin/workers/{row(clients[0])['worker_id']}/drain"
    clients[0].post(path).raise_for_status()
    gateways[1].until(lambda: draining(clients[1]))
    with stream(clients[1], "hello") as refused:
        refused.read()
    assert refused.status_code == 503
    clients[1].delete(path).raise_for_status()
    gateways[0].until(lambda: not draining(clients[0]))
    with stream(clients[0], "hello") as answered:
        answered.read()
    assert answered.status_code == 200
