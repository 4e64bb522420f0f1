"""The whole server with a tiny model on the engine `transformers`: chats side by side, a schema, and a prompt that is too long."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import httpx
import pytest

pytest.importorskip("torch", reason="these tests need the extra transformers")
pytest.importorskip("transformers", reason="these tests need the extra transformers")
pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(find_spec("fastapi") is None, reason="the server is not installed"),
]

from tests.e2e.conftest import Server
from tests.support.tiny_causal import make_causal

PATIENCE = 300


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder: Path = tmp_path_factory.mktemp("causal")
    with ExitStack() as stack:
        started = Server(
            folder, "--engine", "transformers", "--model", str(make_causal(folder / "tiny", "qwen3"))
        )
        stack.callback(started.stop)
        started.wait_for("Duologue is ready", seconds=PATIENCE)
        yield started


def chat(server: Server, text: str, **fields: Any) -> dict[str, Any]:
    body = {"messages": [{"role": "user", "content": text}], "max_tokens": 30, "seed": 7, **fields}
    answer = httpx.post(f"{server.url}/v1/chat/completions", json=body, timeout=PATIENCE)
    return {"status": answer.status_code, **answer.json()}


def text_of(answer: dict[str, Any]) -> str:
    return str(answer["choices"][0]["message"]["content"])


def test_four_chats_side_by_side_get_what_each_gets_alone(server: Server):
    texts = ["Hello.", "What is the time in a town far away?", "Why?", "Tell me more about it, please. " * 5]
    alone = [text_of(chat(server, text, ignore_eos=True)) for text in texts]
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(lambda text: text_of(chat(server, text, ignore_eos=True)), texts))
    assert together == alone
    assert len(set(alone)) == 4


def test_a_stream_is_the_same_reply_and_several_choices_are_several(server: Server):
    whole = text_of(chat(server, "Hello.", ignore_eos=True))
    body = {
        "messages": [{"role": "user", "content": "Hello."}],
        "max_tokens": 30,
        "seed": 7,
        "ignore_eos": True,
        "stream": True,
    }
    told = []
    with httpx.stream("POST", f"{server.url}/v1/chat/completions", json=body, timeout=PATIENCE) as lines:
        for line in lines.iter_lines():
            if line.startswith("data: {"):
                told += [choice["delta"].get("content") or "" for choice in json.loads(line[6:])["choices"]]
    assert "".join(told) == whole
    assert len(chat(server, "Hello.", n=3)["choices"]) == 3


def test_a_schema_is_kept(server: Server):
    schema = {
        "type": "object",
        "properties": {"colour": {"enum": ["red", "blue"]}},
        "required": ["colour"],
        "additionalProperties": False,
    }
    format = {"type": "json_schema", "json_schema": {"name": "colour", "schema": schema}}
    answer = json.loads(text_of(chat(server, "A colour?", response_format=format, max_tokens=100)))
    assert answer["colour"] in ("red", "blue")


def test_a_prompt_that_is_too_long_is_refused_and_the_next_chat_goes_on(server: Server):
    answer = chat(server, "word " * 20_000)
    assert answer["status"] == 400
    assert answer["error"]["code"] == "context_length_exceeded"
    assert chat(server, "Hello.")["status"] == 200
