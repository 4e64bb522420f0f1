"""What an admin loaded is there after a restart, however the server ended; a load that ended it is not repeated."""

from __future__ import annotations

import contextlib
import json
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.e2e.conftest import Server
from tests.support.held_workers import HeldWorkers
from tests.support.tiny_model import TinyModel, write_tiny_model

pytestmark = pytest.mark.system
SECONDS = 60


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Starts servers over the same data, one after another."""
    folder = tmp_path / "server"
    (folder / "data" / "models").mkdir(parents=True)
    for name, seed in (("tiny", 7), ("other", 8)):
        write_tiny_model(folder / "data" / "models" / f"{name}.gguf", TinyModel(seed=seed))
    with contextlib.ExitStack() as stack:

        def start(*arguments: str, **environment: str) -> Server:
            server = Server(folder, "--engine", "scripted", *arguments, **environment)
            stack.callback(server.stop)
            return server.ready()

        yield start


def load(server: Server, name: str, **more: object) -> dict[str, Any]:
    body = {"name": name, "stream": False, **more}
    answer = httpx.post(f"{server.url}/v1/model/load", json=body, timeout=SECONDS)
    assert answer.status_code == 200, answer.text
    return answer.json()


def models(server: Server) -> dict[str, Any]:
    answer = httpx.get(f"{server.url}/api/models", timeout=SECONDS)
    assert answer.status_code == 200, answer.text
    return answer.json()


def loaded(server: Server) -> list[tuple[str, str]]:
    return [(row["name"], row["state"]) for row in models(server)["loaded"]]


def kill(server: Server) -> None:
    server.stop(signal.SIGKILL)


def begin(server: Server, path: str, body: dict[str, object]) -> None:
    """Begin a load and leave once it is under way."""
    with httpx.stream("POST", f"{server.url}{path}", json=body, timeout=SECONDS) as answer:
        frame = next(line for line in answer.iter_lines() if line.startswith("data: "))
        assert json.loads(frame[6:])["status"] == "processing"


def test_a_model_and_its_default_survive_kill_and_an_unloaded_one_stays_away(start):
    server = start()
    load(server, "other", slots=1)
    load(server, "tiny", default=True, context=256)
    assert httpx.get(f"{server.url}/v1/model").json()["id"] == "tiny"
    kill(server)

    server = start()
    server.until(
        lambda: dict(loaded(server)) == dict.fromkeys(("tiny", "scripted", "other"), "ready"), SECONDS
    )
    body = models(server)
    rows = {row["name"]: row for row in body["loaded"]}
    assert body["loaded"][0]["name"] == "tiny"
    assert (rows["tiny"]["context"], rows["other"]["slots"]) == (256, 1)
    facts = {name: (row["default"], row["remembered"]) for name, row in rows.items()}
    assert facts == {"tiny": (True, True), "scripted": (False, False), "other": (False, True)}
    assert body["remembered"] == []
    capabilities = httpx.get(f"{server.url}/api/capabilities").json()
    assert (capabilities["default_model"], capabilities["models"][0]["name"]) == ("tiny", "tiny")
    httpx.post(f"{server.url}/v1/model/unload", json={"name": "tiny"}, timeout=SECONDS).raise_for_status()
    assert httpx.get(f"{server.url}/v1/model").json()["id"] == "scripted"
    assert server.stop() == 0

    server = start()
    server.until(lambda: ("other", "ready") in loaded(server), SECONDS)
    assert loaded(server) == [("scripted", "ready"), ("other", "ready")]


@pytest.mark.long
def test_a_second_worker_is_remembered_too(start):
    server = start()
    load(server, "tiny")
    load(server, "tiny", another=True)
    kill(server)
    server = start()
    wanted = [("scripted", "ready"), ("tiny", "ready"), ("tiny", "ready")]
    server.until(lambda: loaded(server) == wanted, SECONDS)


def test_a_load_that_the_process_died_in_is_listed_and_not_repeated(start, tmp_path):
    held = HeldWorkers(tmp_path)
    server = start(**held.environment)
    held.hold()
    begin(server, "/v1/model/load", {"name": "tiny"})
    kill(server)
    held.release()

    server = start()
    failed = {"name": "tiny", "failed": "The server stopped while it was loading.", "count": 1}
    assert models(server)["remembered"] == [failed]
    assert loaded(server) == [("scripted", "ready")]
    listed = httpx.get(f"{server.url}/v1/model/list").json()["data"]
    assert {entry["id"]: entry["failed"] for entry in listed}["tiny"]
    retry = f"{server.url}/api/models/remembered/tiny/retry"
    again = httpx.post(retry, json={"stream": False}, timeout=SECONDS)
    assert (again.status_code, again.json()["status"]) == (200, "finished")
    kill(server)

    server = start()
    server.until(lambda: ("tiny", "ready") in loaded(server), SECONDS)
    assert models(server)["remembered"] == []


@pytest.mark.long
def test_a_repeated_load_is_the_default_meanwhile_and_not_repeated_again_if_the_server_dies_of_it(
    start, tmp_path
):
    held = HeldWorkers(tmp_path)
    server = start(**held.environment)
    load(server, "tiny", default=True)
    kill(server)
    held.hold()

    server = start(**held.environment)
    server.until(lambda: any(name == "tiny" for name, _ in loaded(server)), SECONDS)
    capabilities = httpx.get(f"{server.url}/api/capabilities").json()
    assert (capabilities["default_model"], capabilities["state"]) == ("tiny", "loading")
    kill(server)
    held.release()

    server = start()
    [row] = models(server)["remembered"]
    assert row["failed"] == "The server stopped while it was loading."
    assert loaded(server) == [("scripted", "ready")]
    assert httpx.get(f"{server.url}/api/capabilities").json()["default_model"] == "scripted"


@pytest.mark.long
def test_a_load_that_a_stop_of_the_server_cut_off_is_repeated(start, tmp_path):
    held = HeldWorkers(tmp_path)
    server = start(**held.environment)
    held.hold()
    begin(server, "/v1/model/load", {"name": "tiny"})
    assert server.stop() == 0
    held.release()
    server = start()
    server.until(lambda: ("tiny", "ready") in loaded(server), SECONDS)


def test_a_file_that_is_gone_is_a_failure_with_its_reason_and_can_be_forgotten(start):
    server = start()
    load(server, "tiny", default=True)
    server.stop()
    (server.data / "models" / "tiny.gguf").unlink()

    server = start()
    server.until(lambda: bool(models(server)["remembered"][0]["failed"]), SECONDS)
    [row] = models(server)["remembered"]
    assert "There is no model 'tiny' to load" in row["failed"]
    assert httpx.get(f"{server.url}/v1/model").json()["id"] == "scripted"
    gone = httpx.delete(f"{server.url}/api/models/remembered/tiny")
    assert (gone.status_code, gone.json()) == (200, {"forgotten": "tiny"})
    assert models(server)["remembered"] == []


def test_a_conversation_has_its_model_loaded_again_and_falls_back_where_it_is_gone(start):
    server = start()
    load(server, "tiny")
    with httpx.Client(base_url=server.url, timeout=SECONDS) as client:
        options = {"model": "tiny", "sampling": {"max_tokens": 4}}
        client.post("/api/conversations", json={"id": "c", "options": options}).raise_for_status()
        assert said(client, 1)[0]["model"] == "tiny"
        client.post("/v1/model/unload", json={"name": "tiny"}).raise_for_status()
        events = said(client, 2)
        assert events[0]["model"] == "tiny"
        waits = [event["model"] for event in events if event.get("waiting") == "load"]
        assert set(waits) == {"tiny"}
        assert events[-1]["outcome"] == "done"
        assert ("tiny", "ready") in loaded(server)
        client.post("/v1/model/unload", json={"name": "tiny"}).raise_for_status()
        client.delete("/api/models/tiny").raise_for_status()
        events = said(client, 3)
        assert [events[0][name] for name in ("model", "wanted", "reason")] == ["scripted", "tiny", "gone"]
        assert events[-1]["outcome"] == "done"


def said(client: httpx.Client, number: int) -> list[dict[str, Any]]:
    """The events of the reply to a message."""
    message = {"id": f"m{number}", "content": [{"type": "text", "text": "/say Hello"}]}
    body = {"verb": "send", "run": f"r{number}", "message": message}
    client.post("/api/conversations/c/runs", json=body).raise_for_status()
    with client.stream("GET", f"/api/runs/r{number}/events") as answer:
        return [json.loads(line[5:]) for line in answer.iter_lines() if line.startswith("data:")]
