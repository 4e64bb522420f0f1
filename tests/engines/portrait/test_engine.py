"""The engine `portrait`: what it draws and what it refuses, how it shares its thread, and what it keeps."""

import anyio
import msgspec
import pytest
from tests.support.vrm_file import PORTRAIT_LANDMARKS, portrait

from duologue.engines.portrait import engine as module
from duologue.engines.portrait.engine import BATCH, KEPT, PortraitEngine, PortraitOptions
from duologue.engines.registry import load_video
from duologue.engines.video_contracts import Stretch, VideoEngine
from duologue.errors import NotFound, StartFailed, Unsupported
from duologue.faces.catalogue import LOOKS
from duologue.values.avatars import AvatarSource, Landmarks
from duologue.values.mouth import MouthKey

pytestmark = pytest.mark.anyio

MIRA = AvatarSource("mira", "drawn", "d0", look="mira")
TALKING = (MouthKey(0), MouthKey(4800, open=90), MouthKey(9600, open=90), MouthKey(24_000))


async def drawn(figure, stretch):
    async with figure.frames(stretch) as frames:
        return [frame async for frame in frames]


async def test_a_drawn_face_opens_its_mouth_when_its_keys_say_so():
    engine = await load_video("portrait", {"size": 96})
    assert isinstance(engine, VideoEngine)
    figure = await engine.prepare(MIRA)
    talking = await drawn(figure, Stretch(0, 12, mouth=TALKING))
    idle = await drawn(figure, Stretch(0, 12))
    assert {len(frame) for frame in talking} == {96 * 96 * 3}
    assert talking[0] == idle[0]
    assert talking[7] != idle[7]


async def test_a_stretch_continues_where_the_one_before_ended():
    figure = await PortraitEngine(PortraitOptions(size=64)).prepare(MIRA)
    whole = await drawn(figure, Stretch(10, 14, mouth=TALKING))
    assert whole[:6] == await drawn(figure, Stretch(10, 6, mouth=TALKING))
    assert whole[6:] == await drawn(figure, Stretch(16, 8, at=6 * 960, mouth=TALKING))


async def test_leaving_ends_the_work_within_a_batch(monkeypatch):
    painted = 0

    class Painter:
        def paint(self, pose):
            nonlocal painted
            painted += 1
            return bytes(3)

    monkeypatch.setattr(module, "LookPainter", lambda *_: Painter())
    figure = await PortraitEngine(PortraitOptions(size=64)).prepare(MIRA)
    with anyio.CancelScope() as scope:
        async with figure.frames(Stretch(0, 10_000)) as frames:
            async for _ in frames:
                scope.cancel()
                await anyio.lowlevel.checkpoint()
    assert painted <= BATCH


async def test_the_last_few_avatars_stay_prepared():
    engine = PortraitEngine(PortraitOptions(size=64))
    figures = [
        await engine.prepare(AvatarSource("a", "drawn", str(at), look=LOOKS[0])) for at in range(KEPT + 1)
    ]
    last = AvatarSource("a", "drawn", str(KEPT), look=LOOKS[0])
    assert await engine.prepare(last) is figures[-1]
    first = AvatarSource("a", "drawn", "0", look=LOOKS[0])
    assert await engine.prepare(first) is not figures[0]


async def test_a_marked_picture_is_drawn():
    marks = msgspec.convert(PORTRAIT_LANDMARKS, Landmarks)
    face = AvatarSource("p", "picture", "p0", data=portrait(240), landmarks=marks)
    figure = await PortraitEngine(PortraitOptions(size=96)).prepare(face)
    talking = await drawn(figure, Stretch(0, 12, mouth=TALKING))
    assert talking[7] != talking[0]
    assert len(talking[0]) == 96 * 96 * 3


async def test_what_it_does_not_draw_is_a_sentence():
    engine = PortraitEngine(PortraitOptions(size=64))
    with pytest.raises(Unsupported, match="in browsers only"):
        await engine.prepare(AvatarSource("v", "figure", "d"))
    with pytest.raises(NotFound, match="no drawn face 'nobody'"):
        await engine.prepare(AvatarSource("n", "drawn", "d", look="nobody"))
    with pytest.raises(StartFailed, match="Did you mean 'size'"):
        await load_video("portrait", {"siez": 4})
