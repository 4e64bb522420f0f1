"""Recordings of voices: of any format, of a useful length, with something to hear in them."""

from __future__ import annotations

import pytest
from tests.support.sample_files import recorded, tone, wav_file

from duologue.errors import BadRequest, TooLarge, Unsupported
from duologue.media.voice_sample import LONGEST, RATE, read_voice_sample, voice_sample_of
from duologue.values.audio import to_float32

NOISE = bytes(2 * RATE) + b"\5\0\xfb\xff" * RATE


def test_a_wav_file_of_the_right_kind_is_kept_as_it_is():
    sound = tone(RATE, 2)
    assert read_voice_sample(wav_file(sound)) == sound


@pytest.mark.parametrize("mime", ["audio/mpeg", "audio/ogg", "audio/flac", "audio/mp4"])
def test_other_formats_become_16_khz(mime):
    pcm = read_voice_sample(recorded(mime, 2.0))
    assert abs(len(pcm) - 4 * RATE) < RATE // 5


def test_another_rate_is_changed():
    pcm = read_voice_sample(wav_file(tone(44_100, 2), 44_100))
    assert abs(len(pcm) - 4 * RATE) < 100


def test_samples_of_a_request_are_read_too():
    sound = tone(RATE, 1.5)
    assert voice_sample_of(to_float32(sound), RATE) == sound


def test_a_recording_of_half_a_second_is_too_short():
    with pytest.raises(BadRequest) as caught:
        read_voice_sample(wav_file(tone(RATE, 0.5)))
    assert caught.value.code == "voice_sample_short"


def test_a_recording_of_more_than_half_a_minute_is_too_long():
    for read in (
        lambda sound: read_voice_sample(wav_file(sound)),
        lambda sound: voice_sample_of(to_float32(sound), RATE),
    ):
        assert len(read(tone(RATE, LONGEST))) == 2 * LONGEST * RATE
        with pytest.raises(TooLarge) as caught:
            read(tone(RATE, LONGEST + 1))
        assert caught.value.code == "voice_sample_long"


@pytest.mark.parametrize(
    "sound", [bytes(4 * RATE), NOISE, b"\x40\x1f" * 2 * RATE, tone(RATE, 0.2) + bytes(4 * RATE)]
)
def test_a_recording_with_nothing_to_hear_is_refused(sound):
    """Silence, the noise of a microphone, a constant voltage, and a click."""
    with pytest.raises(BadRequest) as caught:
        read_voice_sample(wav_file(sound))
    assert caught.value.code == "voice_sample_silent"


def test_numbers_that_are_none_are_silence():
    with pytest.raises(BadRequest) as caught:
        voice_sample_of(b"\0\0\xc0\x7f" * 2 * RATE, RATE)
    assert caught.value.code == "voice_sample_silent"


@pytest.mark.parametrize("data", [b"", b"hello", wav_file(tone(RATE, 2))[:30]])
def test_what_is_no_sound_is_refused(data):
    with pytest.raises((BadRequest, Unsupported)) as caught:
        read_voice_sample(data)
    assert caught.value.code in ("sound_unreadable", "sound_unsupported")
