"""The scripted video engine: grey frames as bright as the mouth is open, and the steps."""

import pytest

from duologue.engines.registry import load_video
from duologue.engines.scripted.video import (
    DARKEST,
    WHITE,
    ScriptedVideoEngine,
    ScriptedVideoOptions,
    grey_of,
)
from duologue.engines.video_contracts import Stretch, VideoEngine
from duologue.errors import EngineFailed, StartFailed, Unsupported
from duologue.values.avatars import AvatarSource
from duologue.values.mouth import MouthKey

pytestmark = pytest.mark.anyio

FACE = AvatarSource("a", "drawn", "d1", look="plain")
OPENING = (MouthKey(0, open=0), MouthKey(24_000, open=100))


async def greys(engine, stretch):
    figure = await engine.prepare(FACE)
    async with figure.frames(stretch) as frames:
        return [frame[0] async for frame in frames]


async def test_a_frame_is_as_bright_as_the_mouth_is_open_at_its_sample():
    engine = await load_video("scripted", {"rate": 10, "size": 8})
    assert isinstance(engine, VideoEngine)
    whole = await greys(engine, Stretch(0, 11, mouth=OPENING))
    assert (whole[0], whole[10]) == (DARKEST, WHITE)
    assert whole == sorted(whole)
    assert await greys(engine, Stretch(5, 3, at=12_000, mouth=OPENING)) == whole[5:8]
    assert grey_of(Stretch(0, 1), 0, 10) == DARKEST


async def test_a_figure_is_kept_by_its_digest():
    engine = await load_video("scripted", {})
    assert await engine.prepare(FACE) is await engine.prepare(FACE)


async def test_the_frames_have_the_size_of_the_figure():
    figure = await (await load_video("scripted", {"size": 6})).prepare(FACE)
    async with figure.frames(Stretch(0, 1)) as frames:
        assert [len(frame) async for frame in frames] == [figure.width * figure.height * 3]


async def test_leaving_early_ends_the_work():
    figure = await ScriptedVideoEngine(ScriptedVideoOptions(size=6)).prepare(FACE)
    async with figure.frames(Stretch(0, 1000)) as frames:
        async for _ in frames:
            break
    assert (figure.drawn, figure.open) == (1, 0)


async def test_it_fails_where_the_script_says():
    with pytest.raises(StartFailed):
        await load_video("scripted", {"fail": "load"})
    with pytest.raises(EngineFailed):
        await (await load_video("scripted", {"fail": "prepare"})).prepare(FACE)
    with pytest.raises(EngineFailed):
        await greys(await load_video("scripted", {"fail": "draw", "fail_at": 2}), Stretch(0, 5))
    with pytest.raises(Unsupported):
        await (await load_video("scripted", {})).prepare(AvatarSource("v", "figure", "d2"))
