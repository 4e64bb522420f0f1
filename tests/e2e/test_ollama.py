"""Ollama's API on its own port of a real server, with the official client."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import httpx
import ollama
import pytest
from tests.support.hub_stand_in import Hub, serving
from tests.support.ports import free_port
from tests.support.tiny_model import TinyModel, write_tiny_model

pytestmark = pytest.mark.system
KEY = "a-key-of-some-length"
REPOSITORY = "someone/Tiny-GGUF"
FILE = "Tiny-Q4_K_M.gguf"


def on(port: int) -> dict[str, str]:
    return {"DUOLOGUE_COMPAT__OLLAMA__ENABLED": "true", "DUOLOGUE_COMPAT__OLLAMA__PORT": str(port)}


@pytest.fixture(scope="module")
def port() -> int:
    return free_port()


@pytest.fixture(scope="module")
def hub(tmp_path_factory) -> Iterator[Hub]:
    folder = tmp_path_factory.mktemp("hub")
    content = write_tiny_model(folder / "tiny.gguf", TinyModel(blocks=6)).read_bytes()
    with serving(Hub({REPOSITORY: {FILE: content}})) as running:
        yield running


@pytest.fixture(scope="module")
def server(lasting, port, hub):
    """The bundled model, with the real engine."""
    return lasting(HF_ENDPOINT=hub.url, **on(port)).ready()


@pytest.fixture
def client(server, port) -> ollama.Client:
    return ollama.Client(f"http://127.0.0.1:{port}", timeout=120)


def said(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]


def test_a_chat_in_a_stream_and_as_a_whole(client):
    parts = list(client.chat("duologue-mini:latest", said("Hello"), stream=True, options={"seed": 1}))
    whole = client.chat("duologue-mini", said("Hello"), options={"seed": 1})
    assert "".join(part.message.content for part in parts).strip() == whole.message.content.strip()
    for last in (parts[-1], whole):
        assert (last.done, last.done_reason) == (True, "stop")
        assert last.eval_count > 0
        assert 0 < last.eval_duration <= last.total_duration


def test_a_thought_a_tool_call_and_a_schema(client):
    def multiply(a: int, b: int) -> int:
        """Multiply two numbers.

        Args:
          a: The first number.
          b: The second number.
        """
        return a * b

    thought = client.chat("duologue-mini", said("What is 3 times 4?"), think=True)
    assert thought.message.thinking
    assert not client.chat("duologue-mini", said("Hello"), think=False).message.thinking
    asked = client.chat("duologue-mini", said("What is 371 times 14?"), tools=[multiply], think=False)
    for call in asked.message.tool_calls or []:
        assert isinstance(call.function.arguments, dict)
    schema = {
        "type": "object",
        "properties": {"age": {"type": "integer"}, "wild": {"type": "boolean"}},
        "required": ["age", "wild"],
    }
    answered = client.chat(
        "duologue-mini", said("A cat of three years, as JSON."), format=schema, think=False
    )
    assert set(json.loads(answered.message.content)) == {"age", "wild"}


def test_a_prompt_is_answered_and_a_model_loaded(client):
    pieces = list(client.generate("duologue-mini", "Hello", stream=True, options={"num_predict": 5}))
    assert (pieces[-1].done_reason, pieces[-1].eval_count) == ("length", 5)
    assert "".join(piece.response for piece in pieces)
    assert client.generate("duologue-mini", "").done_reason == "load"


def test_the_models_are_listed_shown_and_running(client, port):
    models = [model.model for model in client.list().models]
    assert models[0] == "duologue-mini:latest"
    shown = client.show(models[0])
    assert "completion" in shown.capabilities
    assert shown.modelinfo["general.architecture"] == shown.details.family
    assert [model.model for model in client.ps().models] == ["duologue-mini:latest"]
    assert httpx.get(f"http://127.0.0.1:{port}/api/version").json()["version"]
    with pytest.raises(ollama.ResponseError, match="There is no model 'nobody'") as failure:
        client.chat("nobody", said("Hello"))
    assert failure.value.status_code == 404


def test_a_model_is_pulled_and_deleted(client, server):
    steps = list(client.pull(f"hf.co/{REPOSITORY}:Q4_K_M", stream=True))
    assert steps[0].status == "pulling manifest"
    assert steps[-1].status == "success"
    assert "Tiny-Q4_K_M:latest" in [model.model for model in client.list().models]
    for name in ("Tiny-Q4_K_M", f"hf.co/{REPOSITORY}:Q4_K_M"):
        assert client.show(name).details.family == "llama"
    assert client.delete("tiny-q4_k_m:latest").status == "success"
    assert not (server.data / "models" / FILE).exists()


def test_openais_api_is_on_this_port_too(server, port):
    body = {"model": "duologue-mini", "messages": said("Hello"), "max_tokens": 4}
    answer = httpx.post(f"http://127.0.0.1:{port}/v1/chat/completions", json=body, timeout=120)
    assert answer.json()["object"] == "chat.completion"


def test_the_key_of_the_server_is_the_key_here(serve):
    port = free_port()
    serve("--engine", "scripted", DUOLOGUE_KEY=KEY, **on(port)).ready()
    host = f"http://127.0.0.1:{port}"
    with pytest.raises(ollama.ResponseError, match="needs a key"):
        ollama.Client(host).list()
    keyed = ollama.Client(host, headers={"Authorization": f"Bearer {KEY}"})
    assert keyed.chat("scripted", said("/say Hello there")).message.content == "Hello there"


def test_a_port_that_is_taken_is_named_at_the_start(serve, server, port):
    other = serve("--engine", "scripted", **on(port))
    other.wait_for(f"Port {port} is in use.*compat.ollama.port")
    assert other.process.wait(60) == 1


def test_a_gateway_that_falls_comes_back_on_this_port_too(serve):
    port = free_port()
    server = serve("--engine", "scripted", DUOLOGUE_SUPERVISE="true", **on(port)).ready()
    parent = server.process.pid
    gateway = int(Path(f"/proc/{parent}/task/{parent}/children").read_text().split()[0])
    os.kill(gateway, signal.SIGKILL)
    server.wait_for("Ollama's API is served", count=2)
    assert ollama.Client(f"http://127.0.0.1:{port}").list().models[0].model == "scripted:latest"
