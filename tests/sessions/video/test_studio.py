"""Drawing for one call: in portions, in turn with others, and what is told of failures."""

import anyio
import pytest
from tests.support.film_parts import AVATAR, NamedEncoders

from duologue.engines.scripted.video import ScriptedVideoEngine, ScriptedVideoOptions
from duologue.errors import Busy, EngineFailed, Problem, TooLarge
from duologue.fair_lane import FairLane
from duologue.sessions.speech.drawing_lane import WAITING_PER_CALL, drawing_lane
from duologue.sessions.speech.kept_sound import KeptSound
from duologue.sessions.video.studio import LARGEST_CLIP, SoundSoFar, Studio
from duologue.values.mouth import MouthKey

pytestmark = pytest.mark.anyio


async def studio(
    lane: FairLane | None = None, user: str = "one", size: int = 0, **options: object
) -> tuple[Studio, NamedEncoders]:
    figure = await ScriptedVideoEngine(ScriptedVideoOptions(**options)).prepare(AVATAR)  # type: ignore[arg-type]
    encoders = NamedEncoders(size)
    return Studio(figure, lane or drawing_lane(), encoders, user), encoders


def sound(samples: int) -> SoundSoFar:
    kept = KeptSound()
    kept.add(bytes(samples * 2), (), (MouthKey(0, open=100), MouthKey(samples, open=100)))
    return SoundSoFar.of(kept)


async def test_a_stretch_shows_the_mouth_of_its_samples():
    drawing, _ = await studio()
    frames = await drawing.stretch(5, 100, 10, sound(24_000))
    assert frames.sizes == (1,) * 10
    assert set(frames.data) == {255}


async def test_a_clip_has_all_frames_of_its_sound_and_the_sound():
    drawing, encoders = await studio()
    data = await drawing.clip(60_000, 16_000, sound(60_000))
    greys, _, samples = data.partition(b"|")
    assert len(greys) == 63
    assert int(samples) == 60_000
    assert encoders.open == 0


async def test_the_avatar_at_rest_is_drawn_once_around():
    drawing, _ = await studio(idle_frames=70)
    frames = await drawing.idle()
    assert len(frames.sizes) == 70
    assert set(frames.data) == {16}


async def test_others_draw_between_the_portions_of_a_clip():
    lane = drawing_lane()
    order: list[str] = []
    long, _ = await studio(lane, "one")
    short, _ = await studio(lane, "other")

    async def clip() -> None:
        await long.clip(240_000, 0, sound(240_000))
        order.append("clip")

    async def stretch() -> None:
        await short.stretch(0, 0, 5, sound(24_000))
        order.append("stretch")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(clip)
        tasks.start_soon(stretch)
    assert order == ["stretch", "clip"]


async def test_a_clip_that_is_too_large_is_refused():
    drawing, _ = await studio(size=LARGEST_CLIP)
    with pytest.raises(TooLarge):
        await drawing.clip(100, 0, sound(100))


@pytest.mark.parametrize("what", ["clip", "stretch", "idle"])
async def test_a_failure_is_a_problem_and_frees_the_engine_and_the_encoder(what):
    drawing, encoders = await studio(fail="draw")
    with pytest.raises(EngineFailed):
        await {
            "clip": lambda: drawing.clip(100, 0, sound(100)),
            "stretch": lambda: drawing.stretch(0, 0, 1, sound(100)),
            "idle": lambda: drawing.idle(),
        }[what]()
    assert encoders.open == 0
    assert drawing._lane.running == 0


async def test_an_error_of_a_library_is_told_without_its_text(monkeypatch):
    drawing, _ = await studio()
    monkeypatch.setattr(drawing.figure, "frames", lambda stretch: 1 / 0)
    with pytest.raises(Problem) as failed:
        await drawing.stretch(0, 0, 1, sound(100))
    assert failed.value.code == EngineFailed.code
    assert "zero" not in failed.value.message


async def test_a_call_may_not_fill_the_queue_of_the_engine():
    lane = drawing_lane()
    drawing, _ = await studio(lane)
    async with anyio.create_task_group() as tasks, lane.turn("another"):
        for _ in range(WAITING_PER_CALL):
            tasks.start_soon(drawing.stretch, 0, 0, 1, sound(100))
        while lane.waiting < WAITING_PER_CALL:
            await anyio.lowlevel.checkpoint()
        with pytest.raises(Busy) as refused:
            await drawing.stretch(0, 0, 1, sound(100))
        assert refused.value.code == "video_busy"
