"""Connected model servers from end to end: real processes, real sockets, and what may never be written down."""

from __future__ import annotations

import base64
import io
import json
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from PIL import Image
from tests.support.model_server import ModelServer, serving
from websockets.sync.client import connect as open_socket

from duologue.values.audio import wav_header

pytestmark = pytest.mark.system
KEY = "sk-nobody-may-read-this"


def connect(front: Any, server: ModelServer, **more: object) -> dict[str, Any]:
    answer = httpx.post(f"{front.url}/api/upstreams", json={"url": server.url, **more}, timeout=60)
    assert answer.status_code == 201, answer.text
    row: dict[str, Any] = answer.json()
    return row


def chat(front: Any, model: str) -> httpx.Response:
    body = {"model": model, "messages": [{"role": "user", "content": "hi"}]}
    return httpx.post(f"{front.url}/v1/chat/completions", json=body, timeout=60)


def text_of(answer: httpx.Response) -> str:
    assert answer.status_code == 200, answer.text
    text: str = answer.json()["choices"][0]["message"]["content"]
    return text.strip()


def models(front: Any) -> list[str]:
    return [model["id"] for model in httpx.get(f"{front.url}/v1/models", timeout=60).json()["data"]]


def test_two_servers_with_a_model_of_one_name_answer_each_for_itself(serve: Callable[..., Any]) -> None:
    front = serve("--engine", "scripted").ready()
    with ExitStack() as stack:
        first = stack.enter_context(serving(ModelServer([{"id": "llama"}, {"id": "a"}], reply="I am first")))
        second = stack.enter_context(serving(ModelServer([{"id": "llama"}], reply="I am second")))
        connect(front, first, name="one")
        connect(front, second, name="two")
        assert models(front) == ["scripted", "llama", "a", "two/llama"]
        assert text_of(chat(front, "llama")) == "I am first"
        assert text_of(chat(front, "one/llama")) == "I am first"
        assert text_of(chat(front, "two/llama")) == "I am second"
        assert second.asked("/v1/chat/completions")[0].body["model"] == "llama"
        preset = {"llama": {"sampling": {"temperature": 0.25}}}
        httpx.patch(f"{front.url}/api/upstreams/two", json={"presets": preset}, timeout=60).raise_for_status()
        assert text_of(chat(front, "two/llama")) == "I am second"
        assert [asked.body.get("temperature") for asked in second.asked("/v1/chat/completions")] == [
            None,
            0.25,
        ]
        # One process for each server, however many models it has.
        assert front.status()["total_workers"] == 3
        httpx.delete(f"{front.url}/api/upstreams/one", timeout=60)
        assert models(front) == ["scripted", "llama"]
        assert text_of(chat(front, "two/llama")) == "I am second"


def test_a_key_is_in_no_file_and_no_line_and_works_after_a_restart(
    serve: Callable[..., Any], tmp_path: Path
) -> None:
    front = serve("--engine", "scripted", "--log-level", "debug").ready()
    with serving(ModelServer(key=KEY)) as server:
        connect(front, server, name="box", key=KEY)
        assert text_of(chat(front, "llama")) == "Hello there"
        server.key = "changed there"
        assert chat(front, "llama").status_code == 502
        server.key = KEY
        copy = tmp_path / "copy.tar"
        command = [sys.executable, "-m", "duologue", "backup", str(copy), "--data", str(front.data)]
        subprocess.run(command, check=True, timeout=120, capture_output=True)
        front.stop()
        assert KEY not in front.output
        secret = front.data / "upstreams.key"
        written = [path for path in [copy, *front.data.rglob("*")] if path.is_file() and path != secret]
        assert {path.name for path in written} >= {"copy.tar", "duologue.db"}
        for path in written:
            content = path.read_bytes()
            assert KEY.encode() not in content, path
            assert secret.read_bytes() not in content, path
        again = serve("--engine", "scripted", "--data", str(front.data)).ready()
        again.until(lambda: "llama" in models(again), seconds=60)
        assert text_of(chat(again, "llama")) == "Hello there"


def test_a_server_that_dies_in_a_reply_is_a_sentence_and_answers_again_when_it_is_back(
    serve: Callable[..., Any],
) -> None:
    front = serve("--engine", "scripted").ready()
    server = ModelServer(breaks=True)
    with serving(server):
        connect(front, server)
        body = {"model": "llama", "stream": True, "messages": [{"role": "user", "content": "hi"}]}
        broken = httpx.post(f"{front.url}/v1/chat/completions", json=body, timeout=60).text
        assert "Hello" in broken
        assert "upstream_failed" in broken
    down = chat(front, "llama")
    assert (down.status_code, down.json()["error"]["code"]) == (502, "upstream_unreachable")
    server.breaks = False
    with serving(server):
        assert text_of(chat(front, "llama")) == "Hello there"
    assert front.status()["restarts"] == 0


def test_a_huge_list_of_models_is_cut_and_the_server_stays_quick(serve: Callable[..., Any]) -> None:
    front = serve("--engine", "scripted").ready()
    with serving(ModelServer([{"id": f"model-{number}"} for number in range(20_000)])) as server:
        row = connect(front, server)
        assert len(row["models"]) == 1000
        assert len(models(front)) == 1001
        assert text_of(chat(front, "model-999")) == "Hello there"
        unknown = chat(front, "model-19999")
        assert unknown.status_code == 404
        assert len(unknown.text) < 2000


def test_a_slow_server_delays_nobody_else(serve: Callable[..., Any]) -> None:
    front = serve("--engine", "scripted").ready()
    with serving(ModelServer()) as server:
        connect(front, server)
        server.silent.set()
        body = {"model": "llama", "stream": True, "messages": [{"role": "user", "content": "hi"}]}
        with httpx.stream("POST", f"{front.url}/v1/chat/completions", json=body, timeout=60):
            assert text_of(chat(front, "scripted")) != ""


def test_only_what_the_settings_name_is_looked_for(serve: Callable[..., Any]) -> None:
    with serving(ModelServer([{"id": "m", "owned_by": "library"}])) as server:
        front = serve("--engine", "scripted", DUOLOGUE_DISCOVER=json.dumps([server.url])).ready()
        [found] = httpx.get(f"{front.url}/api/upstreams/discovered", timeout=60).json()["found"]
        assert (found["kind"], found["url"], found["models"]) == ("ollama", server.url + "/v1", ["m"])


OMNI = {
    "id": "omni",
    "architecture": {
        "input_modalities": ["text", "image", "audio", "video"],
        "output_modalities": ["text", "audio"],
    },
}
SPEECH = bytes(range(250)) * 400
WAV = base64.b64encode(wav_header(16_000, 3200) + b"\x10\x00" * 1600).decode()
CLIP = base64.b64encode(b"\0\0\0\x18ftypmp42" + bytes(200)).decode()


def picture() -> str:
    file = io.BytesIO()
    Image.new("RGB", (8, 8), "red").save(file, "PNG")
    return f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}"


def test_pictures_sound_and_video_go_through_two_servers_to_the_one_that_takes_them(
    serve: Callable[..., Any],
) -> None:
    with serving(ModelServer([OMNI])) as server:
        middle = serve("--upstream", server.url).ready()
        front = serve("--upstream", middle.url).ready()
        [row] = httpx.get(f"{front.url}/v1/models", timeout=60).json()["data"]
        assert row["modalities"] == ["text", "image", "audio", "video"]
        assert (row["outputs"], row["untold"]) == (["text", "audio"], [])
        content = [
            {"type": "text", "text": "What is this?"},
            {"type": "image_url", "image_url": {"url": picture()}},
            {"type": "input_audio", "input_audio": {"data": WAV, "format": "wav"}},
            {"type": "video_url", "video_url": {"url": f"data:video/mp4;base64,{CLIP}"}},
        ]
        body = {"messages": [{"role": "user", "content": content}]}
        answer = httpx.post(f"{front.url}/v1/chat/completions", json=body, timeout=60)
        assert text_of(answer) == "Hello there"
        [asked] = server.asked("/v1/chat/completions")
        [message] = asked.body["messages"]
        assert [part["type"] for part in message["content"]] == [
            "text",
            "image_url",
            "input_audio",
            "video_url",
        ]
        assert message["content"][1:] == content[1:]


def test_a_model_that_speaks_is_heard_through_two_servers(serve: Callable[..., Any]) -> None:
    with serving(ModelServer([OMNI], speech=SPEECH)) as server:
        middle = serve("--upstream", server.url).ready()
        front = serve("--upstream", middle.url).ready()
        body: dict[str, Any] = {
            "messages": [{"role": "user", "content": "hi"}],
            "modalities": ["text", "audio"],
            "audio": {"voice": "Cherry", "format": "wav"},
        }
        answer = httpx.post(f"{front.url}/v1/chat/completions", json=body, timeout=60)
        assert answer.status_code == 200, answer.text
        message = answer.json()["choices"][0]["message"]
        assert message["content"] is None
        assert message["audio"]["transcript"].strip() == "Hello there"
        assert base64.b64decode(message["audio"]["data"]).endswith(SPEECH)
        assert server.asked("/v1/chat/completions")[-1].body["audio"] == {
            "format": "pcm16",
            "voice": "Cherry",
        }

        body |= {"stream": True, "audio": {"format": "pcm16"}}
        lines = httpx.post(f"{front.url}/v1/chat/completions", json=body, timeout=60).text.splitlines()
        chunks = [json.loads(line[6:]) for line in lines if line.startswith("data: {")]
        pieces = [chunk["choices"][0]["delta"].get("audio", {}) for chunk in chunks if chunk["choices"]]
        assert b"".join(base64.b64decode(piece.get("data", "")) for piece in pieces) == SPEECH
        assert "".join(piece.get("transcript", "") for piece in pieces).strip() == "Hello there"
        # Two servers pass on that nobody chose a voice; the last one must be told some.
        assert server.asked("/v1/chat/completions")[-1].body["audio"] == {"format": "pcm16", "voice": "alloy"}

        with open_socket(f"ws://127.0.0.1:{front.port}/ws/chat") as socket:
            asked = {"tts": {"enabled": True}, "audio_format": "s16", "messages": body["messages"]}
            socket.send(json.dumps(asked))
            heard: list[dict[str, Any]] = []
            while not heard or heard[-1]["type"] not in ("done", "error"):
                heard.append(json.loads(socket.recv(timeout=30)))
        assert heard[-1]["type"] == "done", heard[-1]
        assert heard[-1]["text"].strip() == "Hello there"
        assert b"".join(base64.b64decode(each.get("audio_data") or "") for each in heard) == SPEECH


def test_a_refused_picture_is_named_and_one_that_cannot_be_taken_is_not_sent(
    serve: Callable[..., Any],
) -> None:
    front = serve("--engine", "scripted").ready()
    architecture = {"input_modalities": ["text"], "output_modalities": ["text"]}
    with serving(
        ModelServer([{"id": "reads", "architecture": architecture}, {"id": "silent"}, OMNI])
    ) as server:
        connect(front, server)
        content = [{"type": "image_url", "image_url": {"url": picture()}}]
        body = {"messages": [{"role": "user", "content": content}]}
        url = f"{front.url}/v1/chat/completions"
        assert httpx.post(url, json=body | {"model": "reads"}, timeout=60).status_code == 400
        assert server.asked("/v1/chat/completions") == []
        # Of the other model the server says nothing, so it is tried.
        assert text_of(httpx.post(url, json=body | {"model": "silent"}, timeout=60)) == "Hello there"
        hearing = [{"type": "input_audio", "input_audio": {"data": WAV, "format": "wav"}}]
        heard = {"model": "omni", "messages": [{"role": "user", "content": hearing}]}
        assert text_of(httpx.post(url, json=heard, timeout=60)) == "Hello there"
        server.status, server.error = 400, {"error": {"message": "silent is not a multimodal model"}}
        refused = httpx.post(url, json=body | {"model": "silent"}, timeout=60)
        error = refused.json()["error"]
        assert (refused.status_code, error["code"]) == (400, "modality_unsupported")
        assert error["param"] == "messages[0].content[0]"


def test_the_settings_say_what_a_silent_upstream_takes(serve: Callable[..., Any]) -> None:
    with serving(ModelServer()) as server:
        settings = {
            "DUOLOGUE_UPSTREAM__MODALITIES": "audio, video",
            "DUOLOGUE_UPSTREAM__OUTPUTS": '["audio"]',
        }
        front = serve("--upstream", server.url, **settings).ready()
        [row] = httpx.get(f"{front.url}/v1/models", timeout=60).json()["data"]
        assert (row["modalities"], row["outputs"]) == (["text", "audio", "video"], ["text", "audio"])
