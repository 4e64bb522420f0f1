"""`pool: ray` on a real Ray cluster of two nodes: the whole server with the scripted engine, and what it does when workers, actors and nodes end."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

pytest.importorskip("ray", reason="these tests need the extra ray")
pytestmark = pytest.mark.system

from tests.e2e.conftest import Server
from tests.support.ports import free_port
from tests.support.ray_nodes import RayNodes

PATIENCE = 300.0
SLOW = "/pace 100\n/repeat 3000 word "
READY = ("idle", "busy")
Row = dict[str, Any]


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayNodes]:
    """Two nodes with a card each."""
    nodes = RayNodes()
    try:
        for number in (2, 3):
            nodes.add(number, cpus=4, gpus=1)
        yield nodes
    finally:
        nodes.stop()


@contextmanager
def served(folder: Path, nodes: RayNodes | None, *arguments: str, **environment: str) -> Iterator[Server]:
    folder.mkdir(exist_ok=True)
    port = str(free_port())
    where = {}
    if nodes is not None:
        where = {
            "DUOLOGUE_RAY__ADDRESS": nodes.address,
            "DUOLOGUE_RAY__TOKEN_FILE": str(nodes.token),
            "DUOLOGUE_MACHINES__ADDRESS": f"http://127.0.0.1:{port}",
        }
    server = Server(
        folder,
        "--engine",
        "scripted",
        *arguments,
        DUOLOGUE_POOL="ray",
        DUOLOGUE_PORT=port,
        **where,
        **environment,
    )
    with ExitStack() as stack:
        stack.callback(server.stop)
        server.wait_for("Duologue is ready", seconds=PATIENCE)
        yield server


def rows(server: Server) -> list[Row]:
    found: list[Row] = httpx.get(f"{server.url}/workers", timeout=60).json()["workers"]
    return found


def ready(server: Server) -> list[Row]:
    return [row for row in rows(server) if row["status"].startswith(READY)]


def nodes_of(server: Server) -> dict[str, Any]:
    told: dict[str, Any] = httpx.get(f"{server.url}/api/admin/nodes", timeout=60).json()
    return told


def node_of(server: Server, worker: str) -> Row | None:
    """The node that a worker is on."""
    return next((node for node in nodes_of(server)["nodes"] if worker in node["workers"]), None)


def ask(server: Server, text: str) -> httpx.Response:
    body = {"messages": [{"role": "user", "content": text}]}
    return httpx.post(f"{server.url}/v1/chat/completions", json=body, timeout=PATIENCE)


def said(server: Server, text: str) -> str:
    answer = ask(server, text)
    assert answer.status_code == 200, answer.text
    return str(answer.json()["choices"][0]["message"]["content"])


def streamed(server: Server, text: str, began: Callable[[], None]) -> str:
    """How a streamed reply ends: "whole", or the code of its error."""
    body = {"stream": True, "messages": [{"role": "user", "content": text}]}
    with httpx.stream("POST", f"{server.url}/v1/chat/completions", json=body, timeout=PATIENCE) as answer:
        for line in answer.iter_lines():
            if line == "data: [DONE]":
                return "whole"
            if line.startswith("data: "):
                event = json.loads(line[6:])
                if "error" in event:
                    return str(event["error"]["code"])
                if event["choices"] and event["choices"][0]["delta"].get("content"):
                    began()
    return "cut"


def workers_of(nodes: RayNodes, worker: str = "") -> list[int]:
    """The processes of placed workers, or of this one."""
    found = []
    for process in nodes.processes():
        try:
            command = Path(f"/proc/{process}/cmdline").read_bytes()
            told = Path(f"/proc/{process}/environ").read_bytes()
        except OSError:
            continue
        if b"duologue.worker.joined" in command and (not worker or f"PLACED={worker}\0".encode() in told):
            found.append(process)
    return found


def parent_of(process: int) -> int:
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


@contextmanager
def during_a_reply(server: Server) -> Iterator[Future[str]]:
    """A reply that is under way; its end is the result."""
    import threading

    began = threading.Event()
    threads = ThreadPoolExecutor(1)
    try:
        end = threads.submit(streamed, server, SLOW, began.set)
        assert began.wait(PATIENCE)
        yield end
    finally:
        threads.shutdown(wait=False)


def test_a_worker_is_placed_killed_and_placed_again(cluster: RayNodes, tmp_path: Path) -> None:
    with served(tmp_path / "one", cluster, DUOLOGUE_COPIES="2") as server:
        server.until(lambda: len(ready(server)) == 2, PATIENCE)
        assert said(server, "Hello?")
        assert {row["worker_id"] for row in rows(server)} == {"worker_0", "worker_0.2"}
        assert all(node_of(server, row["worker_id"]) for row in rows(server))

        # The worker's process.
        with during_a_reply(server) as end:
            busy = next(row["worker_id"] for row in rows(server) if row["status"].startswith("busy"))
            (process,) = workers_of(cluster, busy)
            os.kill(process, signal.SIGKILL)
            assert end.result(PATIENCE) == "worker_lost"
        assert said(server, "Hello?")
        server.until(lambda: len(ready(server)) == 2, PATIENCE)
        assert sum(row["restarts"] for row in rows(server)) == 1

        # The actor that holds the place.
        with during_a_reply(server) as end:
            busy = next(row["worker_id"] for row in rows(server) if row["status"].startswith("busy"))
            (process,) = workers_of(cluster, busy)
            os.kill(parent_of(process), signal.SIGKILL)
            assert end.result(PATIENCE) == "worker_lost"
        assert said(server, "Hello?")
        server.until(lambda: len(ready(server)) == 2, PATIENCE)
        assert len(workers_of(cluster)) == 2
    server.until(lambda: not workers_of(cluster), PATIENCE)


def test_a_lost_node_ends_its_replies_and_the_others_go_on(cluster: RayNodes, tmp_path: Path) -> None:
    address = cluster.add(4, cpus=4, gpus=0, memory=2**30)
    try:
        # Four more copies than the other two nodes have processors for.
        with served(tmp_path / "two", cluster, DUOLOGUE_COPIES="9") as server:
            server.until(lambda: len(ready(server)) == 9, PATIENCE)
            there = next(node for node in nodes_of(server)["nodes"] if node["address"] == address)["workers"]
            assert there
            with during_a_reply(server) as end:
                cluster.kill(address)
                server.until(
                    lambda: all(
                        not row["status"].startswith(READY)
                        for row in rows(server)
                        if row["worker_id"] in there
                    ),
                    PATIENCE,
                )
                assert said(server, "Hello?")
                assert ready(server)
                os.kill(workers_of(cluster)[0], 0)
                for process in workers_of(cluster):
                    os.kill(process, signal.SIGKILL)
                assert end.result(PATIENCE) == "worker_lost"
            server.until(
                lambda: any("waiting for resources: 1 CPU" in row["detail"] for row in rows(server)), PATIENCE
            )
            assert nodes_of(server)["wanted"]
            # With room again, all of them.
            cluster.add(5, cpus=4)
            server.until(lambda: len(ready(server)) == 9, PATIENCE)
    finally:
        for node in (address, "127.0.0.5"):
            if node in cluster._nodes:
                cluster.kill(node)


def test_cards_are_resources_and_what_has_no_room_waits(cluster: RayNodes, tmp_path: Path) -> None:
    with served(tmp_path / "three", cluster, "--device", "cuda:0", DUOLOGUE_COPIES="3") as server:
        server.until(lambda: len(ready(server)) == 2, PATIENCE)
        server.until(
            lambda: any("waiting for resources: 1 GPU" in row["detail"] for row in rows(server)), PATIENCE
        )
        on = [node["address"] for node in nodes_of(server)["nodes"] if node["workers"]]
        assert sorted(on) == ["127.0.0.2", "127.0.0.3"]
        assert {node["free"]["gpus"] for node in nodes_of(server)["nodes"]} == {0.0}
        assert said(server, "Hello?")


def test_a_node_is_drained_and_its_workers_move(cluster: RayNodes, tmp_path: Path) -> None:
    address = cluster.add(6, cpus=2, gpus=1)
    try:
        with served(tmp_path / "four", cluster, "--device", "cuda:0", DUOLOGUE_COPIES="3") as server:
            server.until(lambda: len(ready(server)) == 3, PATIENCE)
            node = next(node for node in nodes_of(server)["nodes"] if node["address"] == address)
            assert len(node["workers"]) == 1
            # Room to move to.
            cluster.add(7, cpus=2, gpus=1)
            answer = httpx.post(f"{server.url}/api/admin/nodes/{node['node']}/drain", timeout=60)
            assert answer.status_code == 202, answer.text
            server.until(
                lambda: (
                    len(ready(server)) == 3
                    and not any(
                        node["workers"] for node in nodes_of(server)["nodes"] if node["address"] == address
                    )
                ),
                PATIENCE,
            )
            assert any(
                node["address"] == "127.0.0.7" and node["workers"] for node in nodes_of(server)["nodes"]
            )
            assert said(server, "Hello?")
            answer = httpx.post(f"{server.url}/api/admin/nodes/nowhere/drain", timeout=60)
            assert answer.json()["error"]["code"] == "node_not_found"
    finally:
        for gone in (address, "127.0.0.7"):
            if gone in cluster._nodes:
                cluster.kill(gone)


def test_a_long_queue_gets_another_place(cluster: RayNodes, tmp_path: Path) -> None:
    settings = tmp_path / "duologue.yaml"
    settings.write_text(
        "models:\n  scripted:\n    workers: {max: 2}\nlifecycle: {scale_wait_s: 1}\nslots: 1\n"
    )
    with (
        served(tmp_path / "five", cluster, "--config", str(settings)) as server,
        ThreadPoolExecutor(8) as threads,
    ):
        server.until(lambda: len(ready(server)) == 1, PATIENCE)
        replies = [threads.submit(said, server, "/pace 100\n/repeat 100 word ") for _ in range(8)]
        server.until(lambda: len(ready(server)) == 2, PATIENCE)
        assert all(reply.result(PATIENCE) for reply in replies)


def test_a_local_cluster_is_started_and_leaves_nothing_behind(tmp_path: Path) -> None:
    with served(tmp_path / "six", None) as server:
        server.until(lambda: len(ready(server)) == 1, PATIENCE)
        assert nodes_of(server)["cluster"]["local"]
        assert said(server, "Hello?")
        below = descendants(server.process.pid)
        assert any("raylet" in name for name in below.values())
        assert any("duologue.worker.joined" in name for name in below.values())
        server.process.send_signal(signal.SIGKILL)
        server.until(lambda: not [process for process in below if alive(process)], PATIENCE)


def descendants(process: int) -> dict[int, str]:
    """All processes below this one, with their commands."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            children.setdefault(parent_of(int(folder.name)), []).append(int(folder.name))
        except OSError:
            continue
    found: dict[int, str] = {}
    left = [process]
    while left:
        for child in children.get(left.pop(), []):
            try:
                found[child] = Path(f"/proc/{child}/cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                continue
            left.append(child)
    return found


def alive(process: int) -> bool:
    try:
        return ") Z" not in Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False
