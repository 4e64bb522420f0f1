"""Pictures and sound through the whole server to a GGUF model: a tiny random one with a projector. Another picture gives another
reply, so what is sent is what is seen."""

from __future__ import annotations

import base64
import json
import os
import signal
from pathlib import Path

import httpx
import pytest
from tests.support.conversation_client import ConversationClient
from tests.support.tiny_model import TinyModel, write_tiny_model
from tests.support.tiny_projectors import picture, sound, write_projector

from duologue.client.http import Client
from duologue.values.audio import from_float32, wav_header

pytestmark = [pytest.mark.system, pytest.mark.anyio]


@pytest.fixture
def seer(serve, tmp_path: Path):
    """A server with a model that sees and hears."""
    write_tiny_model(tmp_path / "seer.gguf", TinyModel(context=4096))
    write_projector(tmp_path / "mmproj-seer.gguf", sees=True, hears=True)
    return serve("--model", str(tmp_path / "seer.gguf")).ready()


def shown(seed: int) -> dict:
    url = f"data:image/png;base64,{base64.b64encode(picture(seed).data).decode()}"
    return {"type": "image_url", "image_url": {"url": url}}


def played(pitch: float) -> dict:
    pcm = from_float32(sound(1, pitch).data)
    wav = base64.b64encode(wav_header(16_000, len(pcm)) + pcm).decode()
    return {"type": "input_audio", "input_audio": {"data": wav, "format": "wav"}}


def answer(server, *content: dict, status: int = 200) -> dict:
    body = {
        "messages": [{"role": "user", "content": [*content, {"type": "text", "text": "What is it?"}]}],
        "max_tokens": 4,
        "temperature": 0,
        "logprobs": True,
    }
    response = httpx.post(f"{server.url}/v1/chat/completions", json=body, timeout=60)
    assert response.status_code == status, response.text
    result: dict = response.json()
    return result


def logprobs(answer: dict) -> list[float]:
    return [token["logprob"] for token in answer["choices"][0]["logprobs"]["content"]]


def test_what_is_shown_and_played_reaches_the_model(seer) -> None:
    (card,) = httpx.get(f"{seer.url}/v1/models", timeout=60).json()["data"]
    assert card["modalities"] == ["text", "image", "audio"]
    first = answer(seer, shown(1))
    assert first["usage"]["prompt_tokens"] > 34
    for other in ((shown(2),), (played(7.0),), (), (shown(1), played(7.0))):
        assert logprobs(answer(seer, *other)) != pytest.approx(logprobs(first), abs=1e-3)
    assert logprobs(answer(seer, shown(1))) == pytest.approx(logprobs(first), abs=1e-2)


def test_a_damaged_picture_is_refused_and_nothing_ends(seer) -> None:
    restarts = seer.worker()["restarts"]
    damaged = {
        "type": "image_url",
        "image_url": {"url": "data:image/png;base64," + base64.b64encode(b"\x89PNG\r\n\x1a\n??").decode()},
    }
    assert answer(seer, damaged, status=400)["error"]["code"] == "image_unreadable"
    assert answer(seer, shown(1))["choices"]
    assert seer.worker()["restarts"] == restarts


def test_a_model_process_that_dies_over_a_picture_is_an_error_and_the_same_picture_is_seen_afterwards(
    seer,
) -> None:
    """As when llama.cpp aborts: nothing of it can be caught in the process."""
    before = logprobs(answer(seer, shown(4)))
    worker = seer.worker()
    body = {
        "messages": [{"role": "user", "content": [shown(4), {"type": "text", "text": "What is it?"}]}],
        "max_tokens": 4000,
        "ignore_eos": True,
        "stream": True,
    }
    with httpx.stream("POST", f"{seer.url}/v1/chat/completions", json=body, timeout=60) as response:
        lines = (line for line in response.iter_lines() if line.startswith("data: {"))
        while not json.loads(next(lines)[6:])["choices"][0]["delta"].get("content"):
            pass
        os.kill(worker["process"], signal.SIGABRT)
        last = json.loads(list(lines)[-1][6:])
    assert last["error"]["code"] == "worker_lost"
    assert logprobs(answer(seer, shown(4))) == pytest.approx(before, abs=1e-2)
    assert seer.worker()["restarts"] == worker["restarts"] + 1
    assert seer.status()["slots_busy"] == 0


async def test_a_picture_in_a_conversation_is_seen_and_seen_again(seer) -> None:
    async with Client(seer.url) as client:
        kept = await client.upload(picture(3).data, "cat.png")
        talk = await ConversationClient.begin(
            client, options={"sampling": {"max_tokens": 4, "temperature": 0}}
        )
        content = [
            {"type": "file", "blob": kept["hash"]},
            {"type": "text", "text": "What is it?"},
        ]
        await talk.ask(content)
        first = (await talk.last())["usage"]
        await talk.ask("And what colour?")
        second = (await talk.last())["usage"]
        assert first["input"] > 34
        assert second["cached"] >= first["input"] - 8
