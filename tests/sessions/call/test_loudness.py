"""How loud and how bright sound is."""

import math
import random
from array import array

import pytest
from tests.support.call_parts import speech

from duologue.sessions.call.loudness import BLOCK, SILENT, LoudnessEnvelope, level, measure
from duologue.values.audio import HEARD_RATE, SAMPLE_BYTES


def tone(hertz, loudness=8000, offset=0):
    """A frame of it."""
    step = 2 * math.pi * hertz / HEARD_RATE
    return array("h", [offset + round(loudness * math.sin(step * at)) for at in range(512)]).tobytes()


def test_the_level_of_silence_a_tone_and_a_whisper():
    assert level(bytes(1024)) == measure(bytes(1024))[0] == -100.0
    assert level(speech(0.032, 32767)) == pytest.approx(-3.0, abs=0.1)
    assert -62 < level(speech(0.032, 40)) < -60
    assert measure(speech(0.032, 40))[0] == level(speech(0.032, 40))


@pytest.mark.parametrize(("hertz", "brightness"), [(150, -24.6), (600, -12.6), (2000, -2.3), (4000, 3.0)])
def test_a_tone_is_the_brighter_the_higher_it_is_however_loud(hertz, brightness):
    for loudness in (200, 20_000):
        assert measure(tone(hertz, loudness))[1] == pytest.approx(brightness, abs=0.5)


def test_hiss_is_brighter_than_any_voice():
    chance = random.Random(3)
    hiss = array("h", [chance.randint(-3000, 3000) for _ in range(512)]).tobytes()
    assert measure(hiss)[1] == pytest.approx(3.0, abs=0.5)


def test_a_microphones_offset_makes_nothing_dull():
    assert measure(tone(2000, 3000, offset=5000))[1] == pytest.approx(-2.3, abs=0.5)
    assert measure(array("h", [7000] * 512).tobytes())[1] == 0.0


def test_of_a_reply_the_loudest_around_a_place_is_known():
    envelope = LoudnessEnvelope()
    quiet, loud = array("h", [100] * BLOCK), array("h", [10_000] * BLOCK)
    sound = (quiet + loud + quiet + quiet).tobytes()
    for at in range(0, len(sound), 1000):
        envelope.add(sound[at : at + 1000])
    assert envelope.loudest(0, BLOCK - 1) == pytest.approx(level(quiet.tobytes()))
    assert envelope.loudest(0, BLOCK) == pytest.approx(level(loud.tobytes()))
    assert envelope.loudest(2 * BLOCK, 9 * BLOCK) == pytest.approx(level(quiet.tobytes()))
    assert envelope.loudest(len(sound) // SAMPLE_BYTES, 9 * BLOCK) == SILENT
