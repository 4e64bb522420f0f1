"""A detector by loudness alone: quiet, noise and something louder than noise."""

import math
from array import array

import pytest

from duologue.engines.contracts import FRAME
from duologue.engines.registry import load_detector
from duologue.engines.vad.energy import EnergyDetector

pytestmark = pytest.mark.anyio


def tone(level: float) -> bytes:
    """A frame of a tone at this level (dBFS)."""
    height = 32768.0 * 10 ** (level / 20) * math.sqrt(2)
    values = [round(height * math.sin(2 * math.pi * 440 * at / 16000)) for at in range(FRAME)]
    return array("h", [max(-32768, min(32767, value)) for value in values]).tobytes()


def judged(detector: EnergyDetector, level: float, frames: int) -> list[float]:
    return [detector.probability(tone(level)) for _ in range(frames)]


def test_silence_is_no_speech():
    assert max(judged(EnergyDetector(), -90.0, 30)) < 0.1


def test_a_voice_in_a_quiet_room_is_heard_at_once_and_for_a_long_sentence():
    detector = EnergyDetector()
    judged(detector, -60.0, 30)
    for _ in range(20):
        assert min(judged(detector, -20.0, 10)) > 0.9
        judged(detector, -55.0, 1)  # the gap between two words


def test_steady_noise_is_soon_taken_for_the_room():
    detector = EnergyDetector()
    assert judged(detector, -50.0, 400)[-1] < 0.1


def test_over_noise_a_voice_has_to_stand_out():
    detector = EnergyDetector()
    judged(detector, -45.0, 600)
    assert judged(detector, -40.0, 1)[0] < 0.2
    assert judged(detector, -15.0, 1)[0] > 0.9


def test_a_new_caller_begins_anew():
    detector = EnergyDetector()
    judged(detector, -30.0, 600)
    detector.reset()
    assert judged(detector, -30.0, 1)[0] > 0.9


def test_a_frame_of_another_length_is_none():
    with pytest.raises(ValueError, match="512 samples"):
        EnergyDetector().probability(b"\0\0")


async def test_it_is_loaded_by_its_name():
    engine = await load_detector("energy", {})
    assert engine.open().probability(tone(-90.0)) < 0.5
    await engine.close()
