"""Models that come and go while the server runs: loaded, talked to, unloaded, downloaded and removed over HTTP."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.support.hub_stand_in import Hub, serving
from tests.support.tiny_model import TinyModel, write_tiny_model

pytestmark = pytest.mark.system
REPOSITORY = "someone/Tiny-GGUF"
FILE = "Tiny-Q4_K_M.gguf"


def frames(response: httpx.Response) -> Iterator[dict]:
    for line in response.iter_lines():
        if line.startswith("data: "):
            yield json.loads(line.removeprefix("data: "))


def load(server, name: str, **wanted) -> list[dict]:
    """Load a model, following its progress to the end."""
    body = {"name": name, **wanted}
    with httpx.stream("POST", f"{server.url}/v1/model/load", json=body, timeout=60) as response:
        assert response.status_code == 200, response.read()
        return list(frames(response))


def said(server, model: str, text: str = "/say Hello there") -> dict:
    body = {"model": model, "messages": [{"role": "user", "content": text}], "max_tokens": 4}
    return httpx.post(f"{server.url}/v1/chat/completions", json=body, timeout=60).json()


def models(server) -> dict:
    answer = httpx.get(f"{server.url}/api/models", timeout=30)
    assert answer.status_code == 200, answer.text
    return answer.json()


def put(server, name: str, seed: int = 7) -> Path:
    folder = server.data / "models"
    folder.mkdir(parents=True, exist_ok=True)
    return write_tiny_model(folder / name, TinyModel(seed=seed))


@pytest.fixture
def scripted(serve):
    return serve("--engine", "scripted").ready()


@pytest.fixture
def hub(tmp_path) -> Iterator[Hub]:
    content = write_tiny_model(tmp_path / "tiny.gguf", TinyModel(blocks=6)).read_bytes()
    with serving(Hub({REPOSITORY: {FILE: content}})) as running:
        yield running


def test_a_second_model_is_loaded_with_progress_and_both_answer(scripted):
    put(scripted, "tiny.gguf")
    listed = httpx.get(f"{scripted.url}/v1/model/list").json()["data"]
    loaded = {entry["id"]: entry["loaded"] for entry in listed}
    assert (loaded["scripted"], loaded["tiny"]) == (True, False)
    steps = load(scripted, "tiny", slots=2, max_seq_len=256, cache_mode="Q8")
    # The answer begins once the act is in the audit log; the process may have started by then.
    assert steps[0]["stage"] in ("starting", "loading")
    assert steps[-1]["stage"] == "ready"
    assert steps[-1] | {"worker": ""} == {
        "model_type": "model",
        "module": 100,
        "modules": 100,
        "status": "finished",
        "name": "tiny",
        "worker": "",
        "stage": "ready",
        "progress": 1.0,
        "ignored": ["cache_mode"],
    }
    rows = {row["name"]: row for row in models(scripted)["loaded"]}
    assert (rows["tiny"]["state"], rows["tiny"]["slots"], rows["tiny"]["context"]) == ("ready", 2, 256)
    assert said(scripted, "scripted")["choices"][0]["message"]["content"] == "Hello there"
    assert said(scripted, "tiny")["usage"]["completion_tokens"] > 0
    assert httpx.get(f"{scripted.url}/v1/model").json()["id"] == "scripted"
    names = {
        row["name"]: row["state"] for row in httpx.get(f"{scripted.url}/api/capabilities").json()["models"]
    }
    assert names == {"scripted": "ready", "tiny": "ready"}


def test_a_model_that_is_loaded_is_loaded_again_only_as_another_worker(scripted):
    refused = httpx.post(f"{scripted.url}/v1/model/load", json={"name": "scripted"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "model_loaded")
    done = httpx.post(
        f"{scripted.url}/v1/model/load",
        json={"name": "scripted", "another": True, "slots": 1, "stream": False},
        timeout=60,
    )
    assert (done.status_code, done.json()["status"]) == (200, "finished")
    assert [row["slots"] for row in models(scripted)["loaded"]] == [64, 1]


def test_unloading_ends_a_running_reply_with_a_sentence_and_the_last_may_go(scripted):
    body = {"stream": True, "messages": [{"role": "user", "content": "/say Hello\n/hang"}]}
    with httpx.stream("POST", f"{scripted.url}/v1/chat/completions", json=body, timeout=30) as response:
        lines = response.iter_lines()
        while "Hello" not in next(lines):
            pass
        body = {"name": "scripted", "drain": False}
        gone = httpx.post(f"{scripted.url}/v1/model/unload", json=body, timeout=30)
        assert gone.json() == {"unloaded": ["worker_0"]}
        error = next(json.loads(line[6:])["error"] for line in lines if '"error"' in line)
    assert error["code"] == "model_unloaded"
    ready = httpx.get(f"{scripted.url}/ready")
    assert (ready.status_code, ready.json()["status"]) == (503, "empty")
    assert "models page" in ready.json()["error"]["message"]
    assert said(scripted, "")["error"]["code"] == "model_empty"
    assert httpx.get(f"{scripted.url}/v1/model").status_code == 503
    assert models(scripted)["loaded"] == []
    assert load(scripted, "scripted")[-1]["status"] == "finished"
    assert said(scripted, "")["choices"][0]["message"]["content"] == "Hello there"


def test_what_cannot_be_loaded_is_an_error_and_leaves_nothing_behind(scripted):
    folder = scripted.data / "models"
    folder.mkdir()
    (folder / "broken.gguf").write_bytes(b"GGUF" + bytes(100))
    elsewhere = write_tiny_model(scripted.data / "outside.gguf", TinyModel())
    for name, status, code in (
        ("broken", 400, "model_unusable"),
        ("nobody", 404, "model_not_found"),
        (str(elsewhere), 404, "model_not_found"),
        ("../outside.gguf", 404, "model_not_found"),
        ("../outside", 404, "model_not_found"),
        ("", 400, "invalid_request"),
    ):
        refused = httpx.post(f"{scripted.url}/v1/model/load", json={"name": name}, timeout=30)
        assert (refused.status_code, refused.json()["error"]["code"]) == (status, code), name
    # A scripted chat engine without a script of that kind: the worker itself refuses.
    huge = {"name": "scripted", "another": True, "threads": 3}
    assert httpx.post(f"{scripted.url}/v1/model/load", json=huge).json()["error"]["code"] == "unsupported"
    (folder / "lying.gguf").write_bytes(_damaged(folder / "whole.gguf"))
    steps = load(scripted, "lying")
    assert (steps[-1]["status"], steps[-1]["error"]["code"]) == ("failed", "load_failed")
    assert "lying.gguf" in steps[-1]["error"]["message"]
    assert [row["name"] for row in models(scripted)["loaded"]] == ["scripted"]
    assert scripted.status()["total_workers"] == 1


def _damaged(whole: Path) -> bytes:
    """A model whose header can be read and that the engine cannot load: a tensor it needs has another name."""
    content = write_tiny_model(whole, TinyModel()).read_bytes()
    whole.unlink()
    return content.replace(b"output_norm.weight", b"output_norn.weight")


def test_a_model_is_downloaded_stopped_gone_on_with_loaded_and_removed(serve, hub):
    hub.stalls = True
    server = serve("--engine", "scripted", HF_ENDPOINT=hub.url).ready()
    with httpx.stream("GET", f"{server.url}/api/models/events", timeout=60) as events:
        told = (event for event in frames(events) if event["type"] == "download")
        begun = httpx.post(f"{server.url}/api/models/downloads", json={"what": REPOSITORY})
        assert begun.status_code == 202
        id = begun.json()["id"]
        while next(told)["download"]["done"] == 0:
            pass
        stopped = httpx.delete(f"{server.url}/api/models/downloads/{id}", timeout=30).json()
        assert (stopped["state"], stopped["name"]) == ("stopped", "Tiny-Q4_K_M")
        assert models(server)["unfinished"] == [{"name": "Tiny-Q4_K_M", "size": stopped["done"]}]
        hub.stalls = False
        again = httpx.post(f"{server.url}/api/models/downloads", json={"what": REPOSITORY}).json()
        while (row := next(told)["download"])["id"] != again["id"] or row["state"] not in ("done", "failed"):
            pass
    assert (row["state"], row["done"]) == ("done", row["total"])
    assert hub.downloads()[-1].headers["range"] == f"bytes={stopped['done']}-"
    assert [entry["name"] for entry in models(server)["here"]].count("Tiny-Q4_K_M") == 1
    assert load(server, "tiny-q4_k_m")[-1]["status"] == "finished"
    assert said(server, "Tiny-Q4_K_M")["usage"]["completion_tokens"] > 0
    held = httpx.delete(f"{server.url}/api/models/Tiny-Q4_K_M")
    assert (held.status_code, held.json()["error"]["code"]) == (409, "model_loaded")
    assert httpx.post(f"{server.url}/v1/model/unload", json={"name": "Tiny-Q4_K_M"}).status_code == 200
    assert httpx.delete(f"{server.url}/api/models/Tiny-Q4_K_M").json()["removed"] == "Tiny-Q4_K_M"
    assert not list((server.data / "models").iterdir())


def test_a_download_that_hangs_does_not_hold_up_the_end_of_the_server(serve, hub):
    hub.stalls = True
    server = serve("--engine", "scripted", HF_ENDPOINT=hub.url).ready()
    httpx.post(f"{server.url}/api/models/downloads", json={"what": REPOSITORY})
    server.until(lambda: models(server)["downloads"][0]["done"] > 0)
    assert server.stop() == 0
    assert list((server.data / "models").glob("*.part"))


def test_what_nobody_has_fails_with_the_hubs_sentence(serve, hub):
    server = serve("--engine", "scripted", HF_ENDPOINT=hub.url).ready()
    httpx.post(f"{server.url}/api/models/downloads", json={"what": "someone/Nothing"})
    server.until(lambda: models(server)["downloads"][0]["state"] == "failed")
    [row] = models(server)["downloads"]
    assert row["error"]["code"] == "model_not_found"
    assert "someone/Nothing" in row["error"]["message"]
    unknown = httpx.post(f"{server.url}/api/models/downloads", json={"what": "http://example.org/m.gguf"})
    assert (unknown.status_code, unknown.json()["error"]["code"]) == (400, "address_refused")
