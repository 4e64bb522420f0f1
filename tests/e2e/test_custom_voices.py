"""A voice of one's own in every request that has a voice: the speaker of tones takes the pitch of the recording."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from tests.e2e.test_speech import SCRIPTED, voiced
from tests.support.sample_files import tone, wav_file
from websockets.sync.client import connect

from duologue.engines.scripted.speaker import frequency_of, pitch_of
from duologue.values.audio import to_float32

pytestmark = pytest.mark.system

PLACE = "/api/assets/ref_audio"
HERTZ = 500.0
SAID = "one"
ASKED = f"/say {SAID}"
PITCH = pitch_of(SAID, HERTZ)
SOUND = tone(16_000, 1.5, HERTZ)
RECORDING = base64.b64encode(to_float32(SOUND)).decode()


@pytest.fixture(scope="module")
def cloning(lasting: Callable[..., Any]) -> Any:
    """A server whose speaker imitates recordings."""
    options = json.dumps({"clones": True})
    return voiced(lasting("--engine", "scripted", **SCRIPTED, DUOLOGUE_VOICE__SPEAKER__OPTIONS=options))


@pytest.fixture(scope="module")
def plain(lasting: Callable[..., Any]) -> Any:
    """A server whose speaker does not."""
    return voiced(lasting("--engine", "scripted", **SCRIPTED))


def keep(server: Any) -> str:
    """Keep the recording: its id."""
    sent = {"name": "Me", "audio_base64": base64.b64encode(wav_file(SOUND)).decode(), "consent": True}
    row = httpx.post(f"{server.url}{PLACE}", json=sent).raise_for_status().json()
    return str(row["id"])


@pytest.fixture
def own(cloning: Any) -> Iterator[str]:
    id = keep(cloning)
    yield id
    httpx.delete(f"{cloning.url}{PLACE}/{id}")


def heard(pcm: bytes) -> float:
    """Hz of a word of the speaker, at 24 kHz, without the pause after it."""
    return frequency_of(pcm[: 2 * 5700]) * 24_000 / 16_000


def chat(server: Any, **fields: Any) -> tuple[dict[str, Any], float]:
    """The last message of a spoken reply on the chat socket, and what it sounded like."""
    request = {"messages": [{"role": "user", "content": ASKED}], "streaming": False, **fields}
    with connect(f"{server.url.replace('http', 'ws')}/ws/chat", max_size=2**24) as socket:
        socket.send(json.dumps(request))
        while (message := json.loads(socket.recv(30)))["type"] != "done":
            assert message["type"] != "error", message
    return message, heard(base64.b64decode(message["audio_data"]))


def test_a_text_is_spoken_in_a_voice_of_ones_own(cloning: Any, own: str) -> None:
    body = {"input": SAID, "response_format": "pcm"}
    for voice in (own, {"id": own}):
        answer = httpx.post(f"{cloning.url}/v1/audio/speech", json=body | {"voice": voice}).raise_for_status()
        assert heard(answer.content) == pytest.approx(PITCH, rel=0.02)
        assert "Duologue-Voice-Note" not in answer.headers
    assert heard(httpx.post(f"{cloning.url}/v1/audio/speech", json=body).content) < PITCH * 0.8


def test_the_voices_are_listed_with_those_of_the_speaker(cloning: Any, own: str) -> None:
    listed = httpx.get(f"{cloning.url}/v1/audio/voices").json()
    assert listed["custom"] == [{"id": own, "name": "Me", "shared": False}]
    assert httpx.get(f"{cloning.url}{PLACE}").json()["clones"] is True


def test_a_completion_is_spoken_in_it(cloning: Any, own: str) -> None:
    body = {
        "model": "",
        "messages": [{"role": "user", "content": ASKED}],
        "modalities": ["text", "audio"],
        "audio": {"voice": own, "format": "pcm16"},
    }
    answer = httpx.post(f"{cloning.url}/v1/chat/completions", json=body).raise_for_status().json()
    sound = base64.b64decode(answer["choices"][0]["message"]["audio"]["data"])
    assert heard(sound) == pytest.approx(PITCH, rel=0.02)


@pytest.mark.parametrize("source", ["id", "request", "system message"])
def test_a_reply_on_the_chat_socket_is_spoken_in_it(cloning: Any, own: str, source: str) -> None:
    speech: dict[str, Any] = {"enabled": True, "audio_format": "s16"}
    fields: dict[str, Any] = {"tts": speech}
    if source == "id":
        speech["voice"] = own
    elif source == "request":
        speech |= {"ref_audio_data": RECORDING, "voice": "high"}
    else:
        sample = {"type": "audio", "data": RECORDING, "sample_rate": 16000}
        fields["messages"] = [
            {"role": "system", "content": [{"type": "text", "text": "Speak like this."}, sample]},
            {"role": "user", "content": ASKED},
        ]
    done, pitch = chat(cloning, **fields)
    assert pitch == pytest.approx(PITCH, rel=0.02)
    assert done["voice"] == (own if source == "id" else None)
    assert ("voice_note" in done) == (source != "id")
    assert "tts.ref_audio_data" not in done.get("ignored", ())


def test_a_call_is_spoken_in_it(cloning: Any, own: str) -> None:
    with connect(f"{cloning.url.replace('http', 'ws')}/ws/voice", max_size=2**24) as socket:
        socket.send(json.dumps({"type": "start", "voice": own, "greeting": SAID}))
        sound = b""
        while len(sound) < 2 * 5700:
            message = socket.recv(30)
            if isinstance(message, bytes):
                sound += message
            else:
                assert json.loads(message)["type"] not in ("error", "voice")
    assert heard(sound) == pytest.approx(PITCH, rel=0.02)


def test_a_speaker_that_cannot_imitate_it_says_who_speaks_instead(plain: Any) -> None:
    id = keep(plain)
    answer = httpx.post(
        f"{plain.url}/v1/audio/speech", json={"input": SAID, "voice": id, "response_format": "pcm"}
    )
    assert "the voice low speaks instead" in answer.headers["Duologue-Voice-Note"]
    for speech in ({"voice": id}, {"ref_audio_data": RECORDING}, {"ref_audio_data": "AAAAAA=="}):
        done, pitch = chat(plain, tts={"enabled": True, "audio_format": "s16", **speech})
        assert pitch == pytest.approx(pitch_of(SAID, 220.0), rel=0.02)
        assert (done["voice"], "the voice low speaks instead" in done["voice_note"]) == ("low", True)
    with connect(f"{plain.url.replace('http', 'ws')}/ws/voice") as socket:
        socket.send(json.dumps({"type": "start", "voice": id}))
        while (message := json.loads(socket.recv(30)))["type"] != "voice":
            assert message["type"] != "error", message
    assert (message["voice"], "speaks instead" in message["voice_note"]) == ("low", True)


def test_a_recording_that_cannot_be_used_is_refused_with_its_reason(cloning: Any) -> None:
    silence = base64.b64encode(bytes(4 * 32_000)).decode()
    with connect(f"{cloning.url.replace('http', 'ws')}/ws/chat") as socket:
        for data, code in ((silence, "voice_sample_silent"), ("AAAAAA==", "voice_sample_short")):
            fields = {"tts": {"enabled": True, "ref_audio_data": data}}
            socket.send(json.dumps({"messages": [{"role": "user", "content": ASKED}], **fields}))
            assert json.loads(socket.recv(30))["code"] == code


def test_a_voice_that_is_not_there_is_refused_and_a_call_goes_on_without_it(cloning: Any) -> None:
    voice = "voice_" + "0" * 32
    answer = httpx.post(f"{cloning.url}/v1/audio/speech", json={"input": SAID, "voice": voice})
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "voice_not_found")
    with connect(f"{cloning.url.replace('http', 'ws')}/ws/voice") as socket:
        socket.send(json.dumps({"type": "start", "voice": voice}))
        while (message := json.loads(socket.recv(30)))["type"] != "voice":
            assert message["type"] != "error", message
    assert message["voice"] == "low"
