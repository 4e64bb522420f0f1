import itertools
import math
from array import array

from duologue.engines.audio.silence import is_silence, loudness, peak, pieces, quietest, sounding
from duologue.values.audio import HEARD_RATE


def tone(seconds: float, height: int = 8000) -> bytes:
    return array(
        "h", [round(height * math.sin(at / 5)) for at in range(round(seconds * HEARD_RATE))]
    ).tobytes()


def silence(seconds: float) -> bytes:
    return bytes(2 * round(seconds * HEARD_RATE))


def test_silence_is_as_quiet_as_it_gets_and_full_volume_is_nought():
    assert loudness(silence(0.1)) == -100
    assert loudness(b"") == -100
    assert -1 < loudness(array("h", [32767, -32767] * 100).tobytes()) <= 0


def test_half_a_sample_at_the_end_does_not_count():
    assert loudness(b"\0\0\1") == -100


def test_a_short_sound_makes_a_peak_in_long_silence():
    assert peak(silence(1) + tone(0.03) + silence(1)) > -20 > loudness(silence(1) + tone(0.03) + silence(1))


def test_a_whisper_after_a_loud_voice_is_silence_and_a_word_is_not():
    voice = peak(tone(1))
    assert is_silence(b"", voice)
    assert is_silence(silence(0.4), voice)
    assert is_silence(tone(0.4, height=20), voice)
    assert not is_silence(silence(0.3) + tone(0.05), voice)


def test_the_quietest_place_is_the_middle_of_the_pause():
    sound = tone(1) + silence(0.4) + tone(1)
    assert abs(quietest(sound, 0, len(sound) // 2) / HEARD_RATE - 1.2) < 0.15


def test_a_long_sound_is_cut_in_its_pauses_and_nothing_is_lost():
    sound = (tone(3) + silence(0.5)) * 5
    found = list(pieces(sound, 8 * HEARD_RATE, 4 * HEARD_RATE))
    assert found[0][0] == 0
    assert found[-1][1] == len(sound) // 2
    assert all(one[1] == other[0] for one, other in itertools.pairwise(found))
    assert all(end - start <= 8 * HEARD_RATE for start, end in found)
    for _, end in found[:-1]:
        assert loudness(sound[2 * end - 800 : 2 * end + 800]) == -100


def test_a_short_sound_is_one_piece():
    assert list(pieces(tone(1), HEARD_RATE * 2, HEARD_RATE)) == [(0, HEARD_RATE)]


def test_the_sound_between_pauses_is_found():
    sound = silence(0.2) + tone(0.3) + silence(0.05) + tone(0.2) + silence(0.3) + tone(0.1) + silence(0.5)
    assert [(start / HEARD_RATE, end / HEARD_RATE) for start, end in sounding(sound)] == [
        (0.2, 0.75),
        (1.05, 1.15),
    ]


def test_at_another_rate_the_sound_is_found_in_its_samples():
    assert sounding(silence(0.1) + tone(0.1), HEARD_RATE // 2) == [(1600, 3200)]


def test_in_silence_nothing_sounds():
    assert sounding(b"") == sounding(silence(1)) == []
