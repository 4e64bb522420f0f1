"""The engine around the network, with a stand-in that paints faces in the loudness of what they hear."""

import anyio
import anyio.from_thread
import numpy
import pytest
from tests.support.tiny_video import avatar, speech

from duologue.engines.footage.clip_store import BaseClip, ClipDetails, ClipStore, picture_key
from duologue.engines.musetalk import engine as module
from duologue.engines.musetalk.engine import MuseTalkEngine, MuseTalkOptions, load, weights
from duologue.engines.video_contracts import Stretch, VideoEngine
from duologue.errors import EngineFailed, StartFailed, Unsupported

pytestmark = pytest.mark.anyio
SIZE = 96
LONG = 40
"""Frames of a base clip: more than preparing it may be ahead of the event loop."""


class Painter:
    """Notes what it was asked for. The colour of a face is the number of its first step that has sound."""

    face_side = 16

    def __init__(self):
        self.encoded = 0
        self.heard: list[tuple[int, int]] = []
        self.drawn: list[int] = []

    def encode(self, face):
        self.encoded += 1
        return numpy.zeros((2, 4, 4), numpy.float32)

    def hear(self, sound, steps):
        self.heard.append((len(sound), steps))
        return range(steps)

    def draw(self, latents, heard, windows):
        assert len(latents) == len(windows)
        self.drawn.append(len(windows))
        colours = [next(step for step in window if step is not None) for window in windows]
        return numpy.stack([numpy.full((16, 16, 3), colour, numpy.uint8) for colour in colours])


@pytest.fixture
def painter():
    return Painter()


@pytest.fixture
def engine(painter):
    return MuseTalkEngine(painter, "mark", MuseTalkOptions(size=SIZE), None)


async def pictures(figure, stretch):
    async with figure.frames(stretch) as frames:
        return [numpy.frombuffer(one, numpy.uint8).reshape(SIZE, SIZE, 3) async for one in frames]


def colours(frames):
    return [int(frame[70, 48, 0]) for frame in frames]


async def test_frames_come_in_order_each_with_its_own_window(engine, painter):
    assert isinstance(engine, VideoEngine)
    figure = await engine.prepare(avatar())
    made = await pictures(figure, Stretch(first=0, count=30, pcm=speech(1.4)))
    # The second block's encoding begins with the reply too.
    assert colours(made) == [0, 0, 0, 2, 4, 6, *range(8, 56, 2)]
    assert painter.drawn == [4, 4, 4, 4, 4, 4, 1, 4, 1]
    assert painter.heard == [(19200, 60), (22400, 70)]


async def test_later_blocks_are_encoded_with_two_seconds_before_them(engine, painter):
    figure = await engine.prepare(avatar())
    made = await pictures(figure, Stretch(first=0, count=3, at=5 * 24000, pcm=speech(6.5)))
    assert painter.heard == [(16000 * 32 // 10, 160)]
    assert colours(made) == [96, 98, 100]


async def test_an_idle_stretch_asks_nothing_of_the_network(engine, painter):
    figure = await engine.prepare(avatar())
    made = await pictures(figure, Stretch(first=100, count=40))
    assert len(made) == 40
    assert not painter.drawn
    assert not painter.heard


async def test_frames_behind_the_sound_are_as_they_are(engine):
    figure = await engine.prepare(avatar())
    (still,) = await pictures(figure, Stretch(first=0, count=1))
    made = await pictures(figure, Stretch(first=0, count=8, at=24000, pcm=speech(1.1)))
    assert [bool((frame == still).all()) for frame in made] == [False] * 2 + [True] * 6
    assert len(await pictures(figure, Stretch(first=0, count=2, at=99 * 24000, pcm=speech(1.1)))) == 2


async def test_leaving_draws_no_further_batch(engine, painter):
    figure = await engine.prepare(avatar())
    with anyio.CancelScope() as scope:
        async with figure.frames(Stretch(first=0, count=25, pcm=speech(1))) as frames:
            async for _ in frames:
                scope.cancel()
    assert painter.drawn == [4]


async def test_an_avatar_is_prepared_once_and_the_last_few_are_kept(engine, painter, monkeypatch):
    monkeypatch.setattr(module, "KEPT", 2)
    one = await engine.prepare(avatar("one"))
    assert await engine.prepare(avatar("one")) is one
    for digest in ("two", "one", "three"):
        await engine.prepare(avatar(digest))
    assert painter.encoded == 3
    assert await engine.prepare(avatar("one")) is one
    await engine.prepare(avatar("two"))
    assert painter.encoded == 4


async def test_leaving_stops_the_preparation_of_a_long_clip_and_keeps_nothing_of_it(painter, tmp_path):
    scope, encode = anyio.CancelScope(), painter.encode

    def interrupted(face):
        if painter.encoded == 1:
            anyio.from_thread.run_sync(scope.cancel)
        return encode(face)

    painter.encode = interrupted
    face = avatar()
    frames = numpy.zeros((LONG, SIZE, SIZE, 3), numpy.uint8)
    clips = ClipStore(tmp_path / "clips")
    clips.keep(BaseClip("base", frames, ClipDetails(rate=25, loops=True)))
    clips.use(picture_key(face.data), "base")
    engine = MuseTalkEngine(painter, "mark", MuseTalkOptions(size=SIZE), tmp_path)
    with scope:
        await engine.prepare(face)
    assert scope.cancelled_caught
    assert painter.encoded <= module.AHEAD + 4 < LONG
    painter.encoded = 2
    await engine.prepare(face)
    assert painter.encoded == 2 + LONG, "another call prepares it whole"


async def test_avatars_of_other_kinds_are_refused(engine):
    with pytest.raises(Unsupported, match="people in pictures"):
        await engine.prepare(avatar(kind="figure"))


async def test_a_closed_engine_says_so(engine):
    figure = await engine.prepare(avatar())
    await engine.close()
    with pytest.raises(EngineFailed, match="was closed"):
        await pictures(figure, Stretch(first=0, count=2, pcm=speech(0.5)))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"rat": 25}, "Did you mean 'rate'"),
        ({"rate": 1}, "between 5 and 60"),
        ({"batch": 0}, "between 1 and 64"),
        ({"precision": "int8"}, "must be one of auto"),
        ({"device": "tpu"}, "There is no device 'tpu'"),
    ],
)
async def test_options_that_there_are_not_are_refused_before_anything_is_loaded(options, sentence):
    with pytest.raises(StartFailed, match=sentence):
        await load(options)


async def test_missing_weights_are_found_without_loading_anything(tmp_path):
    with pytest.raises(StartFailed, match="hf download"):
        weights({"models": str(tmp_path)})
