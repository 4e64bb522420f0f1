"""A clip: spoken, drawn, encoded, with its progress; and all that ends it early."""

import anyio
import pytest
from tests.sessions.video.test_muxer import LOUD, read_clip
from tests.support.call_parts import Inline

from duologue.engines.scripted.recogniser import ScriptedRecogniser
from duologue.engines.scripted.speaker import ScriptedSpeaker
from duologue.engines.scripted.video import ScriptedVideoEngine, ScriptedVideoOptions
from duologue.errors import BadRequest, Busy, EngineFailed, TooLarge, Unavailable, Unsupported
from duologue.fair_lane import FairLane
from duologue.sessions.speech.speech_engines import SpeechEngines
from duologue.sessions.speech.vad_batcher import VadBatcher
from duologue.sessions.video import clip
from duologue.sessions.video.clip import frame_count, make_clip
from duologue.threads import Refusal
from duologue.values.audio import SPOKEN_RATE
from duologue.values.avatars import AvatarSource, ClipRequest
from duologue.values.call_events import ClipData, ClipProgress, ReplyAudio
from duologue.values.mouth import MouthKey
from duologue.values.speech import SpeechRequest

pytestmark = pytest.mark.anyio

FACE = AvatarSource("a", "drawn", "d1", look="plain")


def request(text="one two three", avatar=FACE):
    return ClipRequest(avatar, SpeechRequest(text))


def parts(**options):
    engines = SpeechEngines(VadBatcher(Inline()), speaker=ScriptedSpeaker())
    engines.video = ScriptedVideoEngine(ScriptedVideoOptions(**options))
    return engines


async def made(engines, asked):
    """The file, and the progress."""
    events = []

    async def send(event):
        events.append(event)

    await make_clip(engines, asked, send)
    data = b"".join(event.data for event in events if isinstance(event, ClipData))
    return data, [event for event in events if isinstance(event, ClipProgress)]


async def test_a_text_becomes_a_clip_as_long_as_its_sound():
    data, progress = await made(parts(), request())
    seen, _, sound = read_clip(data)
    # Three words of the scripted speaker, each 240 ms and a pause of 60 ms.
    assert len(seen) == int(0.9 * 25)
    assert len(sound) / 48_000 == pytest.approx(0.9, abs=1 / 25)
    steps = [event.step for event in progress]
    assert steps == sorted(steps, key=["speaking", "preparing", "drawing"].index)
    assert (progress[0].share, progress[-1].step, progress[-1].share) == (0.0, "drawing", 1.0)


async def test_the_mouth_of_the_speech_is_the_mouth_of_the_clip(monkeypatch):
    keys = (MouthKey(0), MouthKey(12_000), MouthKey(12_001, open=100), MouthKey(24_000, open=100))

    async def speak(engines, asked, controls, send):
        assert asked.mouth
        await send(ReplyAudio(0, 0, bytes(2 * SPOKEN_RATE), (), keys))

    monkeypatch.setattr(clip, "speak", speak)
    seen, _, _ = read_clip((await made(parts(), request()))[0])
    assert [value > LOUD for _, value in seen] == [number >= 13 for number in range(25)]


async def test_a_recording_becomes_a_clip_by_its_words():
    engines = parts()
    engines.recogniser = ScriptedRecogniser(["mama papa"], word_ms=500)
    asked = ClipRequest(FACE, pcm=bytes(2 * 2 * SPOKEN_RATE))
    seen, _, _ = read_clip((await made(engines, asked))[0])
    assert len(seen) == 50
    assert max(value for _, value in seen[:25]) > LOUD > max(value for _, value in seen[40:])


async def test_a_clip_that_is_cancelled_stops_within_a_batch():
    engines = parts(size=512)
    drawn = anyio.Event()

    async def send(event):
        if isinstance(event, ClipProgress) and event.step == "drawing":
            drawn.set()
            await anyio.sleep_forever()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(make_clip, engines, request("one two three " * 20), send)
        await drawn.wait()
        tasks.cancel_scope.cancel()
    figure = engines.video.figures["d1"]
    assert figure.open == 0
    assert figure.drawn * 512 * 512 * 3 <= clip.BATCH


async def test_calls_draw_between_the_seconds_of_a_clip():
    engines = parts()
    order: list[str] = []

    async def send(event):
        if isinstance(event, ClipProgress) and event.step == "drawing":
            order.append("clip")
            if len(order) == 1:
                tasks.start_soon(reply)
                await anyio.wait_all_tasks_blocked()

    async def reply():
        async with engines.drawing.turn("call"):
            order.append("call")

    async with anyio.create_task_group() as tasks:
        await make_clip(engines, request("one two three " * 20), send)
    assert order.count("call") == 1
    assert order.index("call") < len(order) - 1, "the call was kept waiting until the clip was complete"


async def test_a_clip_that_gets_no_turn_is_refused_with_a_sentence():
    engines = parts()
    engines.drawing = FairLane(1, 1, waiting=0, refusal=Refusal("full", "late", "video_busy"))
    async with engines.drawing.turn("call"):
        with pytest.raises(Busy, match="Try again") as refused:
            await made(engines, request())
    assert refused.value.code == "video_busy"


async def test_what_cannot_become_a_clip_is_a_sentence(monkeypatch):
    without = SpeechEngines(VadBatcher(Inline()), speaker=ScriptedSpeaker())
    for engines, asked, kind in (
        (without, request(), Unavailable),
        (parts(), request("  "), BadRequest),
        (parts(), request("..."), BadRequest),
        (parts(), request(avatar=AvatarSource("v", "figure", "d")), Unsupported),
        (parts(fail="draw", fail_at=3), request(), EngineFailed),
        (parts(), request("one xfail"), EngineFailed),
    ):
        with pytest.raises(kind) as refused:
            await made(engines, asked)
        assert refused.value.message.endswith(".")
    monkeypatch.setattr(clip, "LONGEST", 1)
    with pytest.raises(TooLarge) as refused:
        await made(parts(), request("one two three four five"))
    assert refused.value.code == "clip_too_long"


@pytest.mark.parametrize(
    ("samples", "rate", "frames"), [(24_000, 25, 25), (23_999, 25, 24), (1, 25, 1), (36_000, 30, 45)]
)
def test_a_clip_has_as_many_whole_frames_as_its_sound_lasts(samples, rate, frames):
    assert frame_count(samples, rate) == frames
