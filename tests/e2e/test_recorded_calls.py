"""Recorded calls, end to end: what the recording plays is what the client heard, and what is left when the server is killed."""

from __future__ import annotations

import contextlib
import io
import json
import math
import signal
from array import array
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from tests.e2e.conftest import Server
from tests.e2e.test_speech import SCRIPTED, voiced

from duologue.client.call import CallClient, open_call
from duologue.client.http import Client

av = pytest.importorskip("av", reason="recording needs: pip install 'duologue[voice]'")
numpy = pytest.importorskip("numpy", reason="both sides are compared with numpy")

pytestmark = pytest.mark.system

SECOND = 24_000
LONG = "One two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen."
SHORT = "Red green blue."
CLICK = array("h", [round(20_000 * math.sin(at * 0.6)) for at in range(800)]).tobytes()
"""A twentieth of a second at 16 kHz: too short to interrupt, and louder than what the codec mixes in from the other side."""
WORDLESS = SCRIPTED | {"DUOLOGUE_VOICE__RECOGNISER__OPTIONS": json.dumps({"default": "xnothing"})}
"""With a recogniser that understands nothing: the scripted one would hear its words in the click, and interrupt."""
PATIENCE = 60.0


class Caller:
    """A client that keeps what its loudspeaker played, and clicks once in the middle of the first reply."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self.played = bytearray()
        self.clicked_at: int | None = None
        """Samples of the first reply that were played when it clicked."""
        self._click = b""
        self.call: CallClient | None = None

    @property
    def recording(self) -> str:
        return next((each["recording_id"] for each in self.messages if each["type"] == "recording"), "")

    def microphone(self, count: int) -> bytes:
        assert self.call is not None
        if self.clicked_at is None and self.call.player.played.get(1, 0) > SECOND // 2:
            self.clicked_at, self._click = self.call.player.played[1], CLICK
        piece, self._click = self._click[: 2 * count], self._click[2 * count :]
        return piece + bytes(2 * count - len(piece))

    def hear(self, spoken: bytes, heard: bytes) -> None:
        self.played += heard

    def ended(self, reply: int) -> bool:
        return any(each["type"] == "reply_done" and each["reply_id"] == reply for each in self.messages)

    async def run(self, until: Callable[[], bool]) -> None:
        assert self.call is not None
        with anyio.fail_after(PATIENCE):
            await self.call.run(self.microphone, self.hear, until)
        assert not self.call.over.is_set(), self.call.problem


def finished(server: Server, id: str) -> dict[str, Any]:
    """The timeline of a recording once it has ended."""
    with httpx.Client(base_url=server.url, timeout=60) as client:
        server.until(lambda: client.get(f"/api/recordings/{id}").json()["ended"] != "")
        timeline: dict[str, Any] = client.get(f"/api/recordings/{id}").json()
    return timeline


def both_sides(server: Server, id: str) -> tuple[Any, Any]:
    """The caller's and the assistant's sound at 24 kHz."""
    answer = httpx.get(f"{server.url}/api/recordings/{id}/sound", timeout=60)
    assert answer.status_code == 200
    assert answer.content[:4] == b"OggS", len(answer.content)
    resampler = av.AudioResampler(format="s16", layout="stereo", rate=SECOND)
    with av.open(io.BytesIO(answer.content), format="ogg") as container:
        frames = [frame for decoded in container.decode(audio=0) for frame in resampler.resample(decoded)]
    both = numpy.concatenate([frame.to_ndarray().reshape(-1, 2) for frame in frames]).astype(float)
    return both[:, 0], both[:, 1]


def alike(one: Any, other: Any) -> float:
    """How alike two sounds are, 1 for the same: at the best of the shifts that a codec brings."""
    count = min(len(one), len(other))
    one, other = one[:count], other[:count]
    size = 2 * count
    products = numpy.fft.irfft(numpy.fft.rfft(one, size) * numpy.conj(numpy.fft.rfft(other, size)), size)
    near = numpy.concatenate([products[:480], products[-480:]])
    return float(near.max() / math.sqrt(float(one @ one) * float(other @ other)))


@pytest.fixture(scope="module")
def speaking(lasting: Callable[..., Any]) -> Any:
    return voiced(lasting("--engine", "scripted", **WORDLESS))


@pytest.fixture(scope="module")
def call(speaking: Any) -> Caller:
    """Two replies: one that the caller stops in the middle of a word, and one that is heard to its end."""
    caller = Caller()

    async def talk() -> None:
        async with (
            Client(speaking.url) as client,
            open_call(client, on_message=caller.messages.append, start={"record": True}) as caller.call,
        ):
            player = caller.call.player
            await caller.call.send("text", text=f"/say {LONG}")
            await caller.run(lambda: player.played.get(1, 0) > 2 * SECOND)
            await caller.call.interrupt()
            await caller.run(lambda: caller.ended(1))
            silent_until = len(caller.played) + 2 * SECOND
            await caller.run(lambda: len(caller.played) >= silent_until)
            await caller.call.send("text", text=f"/say {SHORT}")
            await caller.run(lambda: caller.ended(2) and player.silent)

    anyio.run(talk)
    return caller


@pytest.fixture(scope="module")
def timeline(speaking: Any, call: Caller) -> dict[str, Any]:
    return finished(speaking, call.recording)


def heard_of(timeline: dict[str, Any], reply: int) -> list[dict[str, Any]]:
    return [each for each in timeline["entries"] if each["type"] == "heard" and each["reply"] == reply]


def test_of_each_reply_it_has_as_many_samples_as_were_played(call: Caller, timeline: dict[str, Any]):
    assert call.call is not None
    assert (timeline["kind"], timeline["ended"]) == ("call", "ended")
    for reply in (1, 2):
        heard = heard_of(timeline, reply)
        assert sum(each["samples"] for each in heard) == call.call.player.played[reply]
        assert heard[0]["from_sample"] == 0
    assert call.call.player.played[2] == len(SHORT.split()) * SECOND * 3 // 10


def test_it_sounds_as_it_was_heard_and_a_stopped_reply_ends_where_it_was_stopped(
    speaking: Any, call: Caller, timeline: dict[str, Any]
):
    assert call.call is not None
    _, assistant = both_sides(speaking, call.recording)
    played = numpy.frombuffer(bytes(call.played), numpy.int16).astype(float)
    sounding = numpy.flatnonzero(played)
    gap = numpy.flatnonzero(numpy.diff(sounding) > SECOND // 5)
    begins = [sounding[0], *(sounding[at + 1] for at in gap)]
    for reply, begin in ((1, begins[0]), (2, begins[-1])):
        first, last = heard_of(timeline, reply)[0], heard_of(timeline, reply)[-1]
        start, end = first["sample"], last["sample"] + last["samples"]
        assert alike(assistant[start:end], played[begin : begin + end - start]) > 0.9
        after = assistant[end + SECOND // 20 : end + SECOND // 4]
        assert len(after) == 0 or abs(after).max() < 300, "sound after the end"


def test_both_sides_are_in_step(speaking: Any, call: Caller, timeline: dict[str, Any]):
    caller, _ = both_sides(speaking, call.recording)
    click = int(numpy.flatnonzero(abs(caller) > 6000)[0])
    part = next(
        each
        for each in heard_of(timeline, 1)
        if each["sample"] <= click < each["sample"] + each["samples"] + SECOND // 2
    )
    assert call.clicked_at is not None
    assert abs(part["from_sample"] + click - part["sample"] - call.clicked_at) < SECOND // 4


def test_its_words_are_those_that_were_heard(timeline: dict[str, Any]):
    lines = {line["reply"]: line for line in timeline["lines"] if line["side"] == "assistant"}
    assert LONG.startswith(lines[1]["text"].rstrip("…").strip())
    assert lines[1]["text"] != LONG
    assert lines[2]["text"] == SHORT
    assert [word["text"] for word in lines[2]["words"]] == SHORT.split()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[], Server]]:
    """Starts servers over the same data, one after another."""
    with contextlib.ExitStack() as stack:

        def start() -> Server:
            server = Server(tmp_path, "--engine", "scripted", **WORDLESS)
            stack.callback(server.stop)
            return voiced(server)

        yield start


def test_what_a_killed_server_had_recorded_is_listed_and_can_be_heard(start: Callable[[], Server]):
    server, caller = start(), Caller()

    async def talk() -> None:
        def is_written() -> bool:
            # The sound is written a page of a second at a time, the entries at once.
            files = list(server.data.glob("recordings/*/sound.ogg"))
            return any(file.stat().st_size > 10_000 for file in files)

        async with (
            Client(server.url) as client,
            open_call(client, on_message=caller.messages.append, start={"record": True}) as caller.call,
        ):
            await caller.call.send("text", text=f"/say {LONG} {LONG} {LONG}")
            await caller.run(is_written)
            server.stop(signal.SIGKILL)

    anyio.run(talk)

    server = start()
    [row] = httpx.get(f"{server.url}/api/recordings", timeout=60).json()["recordings"]
    assert (row["id"], row["ended"]) == (caller.recording, "cut")
    assert row["duration"] > 0
    timeline = finished(server, caller.recording)
    first = heard_of(timeline, 1)[0]
    _, assistant = both_sides(server, caller.recording)
    word = assistant[first["sample"] : first["sample"] + SECOND // 5]
    assert abs(word).max() > 2000
