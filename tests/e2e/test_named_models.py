"""Models that requests name: loaded for them, under names as other servers' clients write them, and drained in peace."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from tests.support.tiny_model import TinyModel, write_tiny_model
from websockets.sync.client import connect

pytestmark = pytest.mark.system
HELLO: Any = [{"role": "user", "content": "Hello"}]
SECOND = "Other-1B-Instruct-Q4_K_M"


def put(folder: Path, name: str, seed: int = 7) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return write_tiny_model(folder / f"{name}.gguf", TinyModel(seed=seed))


@pytest.fixture(scope="module")
def tiny(lasting, tmp_path_factory) -> Any:
    """A server with one tiny model that is loaded and another that is only on the disk."""
    folder = tmp_path_factory.mktemp("models")
    settings = folder / "duologue.yaml"
    settings.write_text(
        f"model: {put(folder, 'first')}\n"
        "aliases:\n  '*': first\n  'claude-*': other:1b\n"
        f"models:\n  {SECOND}: {{context: 256, slots: 1, aliases: [second]}}\n"
    )
    server = lasting("--config", str(settings), "--alias", "gpt-4*=first")
    put(server.data / "models", SECOND, seed=8)
    return server.ready()


def listed(server) -> dict[str, dict[str, Any]]:
    return {row["id"]: row for row in httpx.get(f"{server.url}/v1/models", timeout=30).json()["data"]}


def unload(server, name: str, **more: Any) -> None:
    answer = httpx.post(f"{server.url}/v1/model/unload", json={"name": name, **more}, timeout=60)
    assert answer.status_code == 200, answer.text


@pytest.fixture
def unloaded(tiny) -> Any:
    """The server, with the second model not loaded."""
    if listed(tiny)[SECOND]["status"]["value"] != "unloaded":
        unload(tiny, SECOND)
    return tiny


def client(server) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{server.url}/v1", api_key="any", max_retries=0, timeout=60)


@pytest.mark.parametrize("name", [SECOND, "other:1b", "OTHER-1B-INSTRUCT-Q4_K_M.gguf", "second", "claude-x"])
def test_a_model_on_the_disk_is_loaded_for_the_request_that_names_it(unloaded, name):
    assert listed(unloaded)[SECOND]["state"] == "not-loaded"
    with client(unloaded) as models:
        reply = models.chat.completions.create(model=name, messages=HELLO, max_tokens=4)
    # Its weights are random: it may end its reply before the fourth token.
    assert reply.model == SECOND
    assert reply.usage is not None
    assert 0 < reply.usage.completion_tokens <= 4
    row = listed(unloaded)[SECOND]
    assert (row["status"]["value"], row["context_length"]) == ("loaded", 256)  # its own settings
    [worker] = [
        row for row in httpx.get(f"{unloaded.url}/api/models").json()["loaded"] if row["name"] == SECOND
    ]
    assert (worker["by_request"], worker["remembered"], worker["slots"]) == (True, False, 1)


def test_a_stream_waits_for_the_load_and_tells_which_model_answers(unloaded):
    with client(unloaded) as models:
        chunks = list(
            models.chat.completions.create(model="other:1b", messages=HELLO, max_tokens=4, stream=True)
        )
    assert {chunk.model for chunk in chunks} == {SECOND}
    assert chunks[-1].choices[0].finish_reason == "length"


def test_requests_that_name_it_at_the_same_time_wait_for_one_load(unloaded):
    answers: list[int] = []

    def ask() -> None:
        body = {"model": "other:1b", "messages": HELLO, "max_tokens": 2}
        answers.append(httpx.post(f"{unloaded.url}/v1/chat/completions", json=body, timeout=60).status_code)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [200] * 4
    assert len(httpx.get(f"{unloaded.url}/workers").json()["workers"]) == 2


def test_the_chat_socket_loads_it_too(unloaded):
    with connect(f"ws://127.0.0.1:{unloaded.port}/ws/chat") as socket:
        body = {"messages": HELLO, "model": "other:1b", "generation": {"max_new_tokens": 2}}
        socket.send(json.dumps(body))
        while (message := json.loads(socket.recv(60)))["type"] not in ("done", "error"):
            pass
    assert message["type"] == "done", message
    assert SECOND in listed(unloaded)
    assert listed(unloaded)[SECOND]["status"]["value"] == "loaded"


def test_a_name_nobody_knows_answers_with_the_model_of_the_pattern(tiny):
    with client(tiny) as models:
        for name in ("gpt-4.1", "whatever"):
            assert models.chat.completions.create(model=name, messages=HELLO, max_tokens=2).model == "first"
        assert {"gpt-4*", "*"}.isdisjoint(model.id for model in models.models.list())
        assert models.models.retrieve("gpt-4.1").id == "gpt-4.1"


def test_who_may_not_load_is_told_so_and_who_may_loads(serve):
    server = serve("--engine", "scripted", DUOLOGUE_LOADING__BY_REQUEST="off").ready()
    put(server.data / "models", SECOND)
    body = {"model": "other:1b", "messages": HELLO}
    answer = httpx.post(f"{server.url}/v1/chat/completions", json=body, timeout=60)
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "model_not_found")
    assert "loading.by_request" in answer.json()["error"]["message"]
    assert list(listed(server)) == ["scripted"]


def test_a_file_that_cannot_be_loaded_is_told_with_its_code(serve):
    server = serve("--engine", "scripted").ready()
    path = put(server.data / "models", "lying")
    path.write_bytes(path.read_bytes().replace(b"output_norm.weight", b"output_norn.weight"))
    body = {"model": "lying", "messages": HELLO, "stream": True}
    for _ in range(2):  # the second time it is not tried again at once
        answer = httpx.post(f"{server.url}/v1/chat/completions", json=body, timeout=60)
        assert '"load_failed"' in answer.text
        assert "lying.gguf" in answer.text
    assert len([line for line in server.lines if "could not be loaded" in line]) == 1


def test_a_reply_ends_on_the_model_that_is_unloaded_and_nothing_new_begins_there(serve):
    server = serve("--engine", "scripted", DUOLOGUE_LOADING__BY_REQUEST="off").ready()
    httpx.get(f"{server.url}/api/models", timeout=60)  # measures the machine, which takes a while once
    script = "/say Hello\n/wait 4000\n/say there, in peace."
    body = {"stream": True, "messages": [{"role": "user", "content": script}]}
    with httpx.stream("POST", f"{server.url}/v1/chat/completions", json=body, timeout=30) as response:
        lines = response.iter_lines()
        while "Hello" not in next(lines):
            pass
        draining = threading.Thread(target=unload, args=(server, "scripted"))
        draining.start()
        server.until(lambda: not listed(server))
        [row] = httpx.get(f"{server.url}/api/models").json()["loaded"]
        assert (row["draining"], row["busy"]) == (True, 1)
        refused = httpx.post(
            f"{server.url}/v1/chat/completions", json={"messages": HELLO, "model": "scripted"}
        )
        assert (refused.status_code, refused.json()["error"]["code"]) == (404, "model_not_found")
        rest = "\n".join(lines)
    assert "peace" in rest
    assert "[DONE]" in rest
    draining.join()
    assert httpx.get(f"{server.url}/api/models").json()["loaded"] == []


def test_a_reply_that_takes_longer_than_the_grace_is_ended_and_told(serve):
    server = serve("--engine", "scripted", DUOLOGUE_LOADING__DRAIN_S="0.2").ready()
    body = {"stream": True, "messages": [{"role": "user", "content": "/say Hello\n/hang"}]}
    with httpx.stream("POST", f"{server.url}/v1/chat/completions", json=body, timeout=30) as response:
        lines = response.iter_lines()
        while "Hello" not in next(lines):
            pass
        unload(server, "scripted")
        assert "model_unloaded" in "\n".join(lines)
