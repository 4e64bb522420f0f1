"""Clips and segments, read back with PyAV: every frame at its sample."""

import io
import math
from array import array
from itertools import pairwise

import av
import pytest
from av.video.frame import PictureType

from duologue.engines.scripted.video import DARKEST, ScriptedFigure, ScriptedVideoOptions
from duologue.sessions.video.muxer import ClipMuxer, VideoEncoders
from duologue.threads import ThreadLane
from duologue.values.audio import SPOKEN_RATE

pytestmark = pytest.mark.anyio

LOUD = 128


def tone(seconds: float) -> bytes:
    count = round(seconds * SPOKEN_RATE)
    return array("h", (round(20_000 * math.sin(at * 0.3)) for at in range(count))).tobytes()


def silence(seconds: float) -> bytes:
    return bytes(2 * round(seconds * SPOKEN_RATE))


def grey(value: int, side: int = 64) -> bytes:
    return bytes((value,)) * (side * side * 3)


def read_clip(data: bytes):
    """Each frame's time and grey, and each sample's time and whether it is loud."""
    with av.open(io.BytesIO(data)) as file:
        frames = [(frame.time, frame.to_ndarray(format="gray")[5, 5]) for frame in file.decode(video=0)]
    with av.open(io.BytesIO(data)) as file:
        sound, first = [], None
        for piece in file.decode(audio=0):
            first = piece.time if first is None else first
            sound.extend(piece.to_ndarray()[0].tolist())
    return frames, first, sound


async def clip_of(frames, pcm, rate=25, side=64, piece=10):
    muxer = ClipMuxer(side, side, rate, ThreadLane(1))
    data = b""
    for at in range(0, len(frames), piece):
        until = (at + piece) * SPOKEN_RATE // rate * 2
        data += await muxer.write(frames[at : at + piece], pcm[at * SPOKEN_RATE // rate * 2 : until])
    return data + await muxer.finish()


async def test_a_picture_is_seen_when_its_sound_is_heard():
    frames = [grey(255 if 40 <= number < 50 else DARKEST) for number in range(100)]
    data = await clip_of(frames, silence(1.6) + tone(0.4) + silence(2))
    seen, first, sound = read_clip(data)
    assert len(seen) == 100
    assert all(after > before for (before, _), (after, _) in pairwise(seen))
    bright = [time for time, value in seen if value > LOUD]
    loud = [at for at, level in enumerate(sound) if abs(level) > 0.2]
    assert bright == pytest.approx([1.6 + number / 25 for number in range(10)], abs=0.001)
    assert first + loud[0] / 48_000 == pytest.approx(bright[0], abs=0.005)
    assert first + loud[-1] / 48_000 == pytest.approx(bright[-1] + 0.04, abs=0.005)


@pytest.mark.parametrize(("rate", "side"), [(25, 64), (30, 66), (12, 70)])
async def test_picture_and_sound_are_equally_long(rate, side):
    frames = [grey(number % 255, side) for number in range(rate * 2)]
    data = await clip_of(frames, tone(2), rate, side, piece=7)
    with av.open(io.BytesIO(data)) as file:
        assert (file.streams.video[0].width, file.streams.video[0].format.name) == (side, "yuv420p")
        assert (file.streams.audio[0].rate, file.streams.audio[0].codec_context.name) == (48_000, "aac")
    seen, _, sound = read_clip(data)
    assert len(seen) == rate * 2
    assert len(sound) / 48_000 == pytest.approx(2, abs=1 / rate)


async def test_a_clip_plays_while_it_arrives():
    muxer = ClipMuxer(64, 64, 10, ThreadLane(1))
    early = b"".join([await muxer.write([grey(at)] * 10, tone(1)) for at in range(4)])
    whole = early + await muxer.finish()
    assert b"moof" in early
    assert early.count(b"moof") >= 2, "a fragment each second"
    assert whole.startswith(early)


async def test_a_clip_whose_sound_comes_last_is_the_same_clip():
    figure = ScriptedFigure(ScriptedVideoOptions(size=64))
    async with VideoEncoders(ThreadLane(1)).clip(figure) as clip:
        for number in range(50):
            await clip.add(grey(255 if number >= 25 else DARKEST))
        data = await clip.finish(silence(1) + tone(1))
    seen, first, sound = read_clip(data)
    loud = next(at for at, level in enumerate(sound) if abs(level) > 0.2)
    assert first + loud / 48_000 == pytest.approx(
        next(time for time, value in seen if value > LOUD), abs=0.005
    )
    assert data.count(b"moof") == 2


async def test_a_segment_is_decoded_by_itself_frame_by_frame():
    figure = ScriptedFigure(ScriptedVideoOptions(size=64))
    async with VideoEncoders(ThreadLane(1)).segment(figure) as segment:
        for number in range(25):
            await segment.add(grey(number * 10))
        film = await segment.finish()
    assert len(film.sizes) == 25
    assert sum(film.sizes) == len(film.data)
    assert all(film.sizes)
    assert film.data.startswith(b"\0\0\0\1")
    decoder = av.CodecContext.create("h264", "r")
    seen, at = [], 0
    for size in film.sizes:
        # Each frame alone, and in order: no later one is needed for it.
        seen += decoder.decode(av.Packet(film.data[at : at + size]))
        at += size
    seen += decoder.decode(None)
    kinds = [PictureType(frame.pict_type) for frame in seen]
    assert kinds == [PictureType.I] + [PictureType.P] * 24
    assert [int(frame.to_ndarray(format="gray")[5, 5]) for frame in seen] == pytest.approx(
        [number * 10 for number in range(25)], abs=6
    )
