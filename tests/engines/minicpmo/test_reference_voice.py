"""Which voice a reply is spoken with, and what is computed of it how often."""

import wave
from pathlib import Path

import numpy
import pytest
from tests.support.minicpmo_stand_in import StockModel

from duologue.engines.minicpmo.reference_voice import (
    KEPT,
    LONGEST,
    ReferenceVoice,
    VocoderVoices,
    choose_voice,
    read_voice,
)
from duologue.errors import BadRequest, NotFound, StartFailed
from duologue.values.messages import AudioPart, Message, system, user
from duologue.values.speech import VoiceSample

ADA, BOB = ReferenceVoice(b"\0\x20" * 16_000), ReferenceVoice(b"\0\x40" * 16_000)
OWN = {"ada": ADA, "bob": BOB}


def test_a_sample_comes_first_then_the_systems_then_the_models_own():
    mine = Message("system", (AudioPart(numpy.full(16_000, 0.1, "<f4").tobytes()),))
    sample = VoiceSample(b"\0\1" * 16_000)
    assert choose_voice("bob", sample, [mine], OWN).pcm == sample.pcm
    assert choose_voice("bob", None, [mine], OWN).sound == pytest.approx(numpy.full(16_000, 0.1), abs=0.001)
    assert choose_voice("bob", None, [system("x"), user("y")], OWN) is BOB
    assert choose_voice("", None, [], OWN) is ADA
    assert choose_voice(None, None, [], OWN) is ADA


def test_a_sound_that_the_user_sends_is_no_voice():
    theirs = Message("user", (AudioPart(numpy.full(16_000, 0.1, "<f4").tobytes()),))
    assert choose_voice("", None, [theirs], OWN) is ADA


def test_a_long_recording_is_used_in_part():
    sample = VoiceSample(b"\0\1" * 16_000 * (LONGEST + 5))
    assert len(choose_voice("", sample, [], {}).pcm) == LONGEST * 32_000


def test_there_may_be_no_voice():
    with pytest.raises(BadRequest, match="no voice of its own"):
        choose_voice("", None, [], {})
    with pytest.raises(NotFound, match="It has: ada, bob"):
        choose_voice("eve", None, [], OWN)


@pytest.mark.parametrize(
    ("pcm", "code"), [(b"\1\0" * 9000, "voice_sample_short"), (bytes(64_000), "voice_sample_silent")]
)
def test_a_recording_that_cannot_be_used_is_refused(pcm, code):
    with pytest.raises(BadRequest) as caught:
        choose_voice("", VoiceSample(pcm), [], OWN)
    assert caught.value.code == code


def test_the_vocoder_computes_each_of_the_last_voices_once():
    model = StockModel()
    vocoder = VocoderVoices(model)
    for voice in (ADA, ADA, BOB, ADA, BOB):
        vocoder.take(voice)
    assert model.voices_computed == 2
    assert model.token2wav_cache is not None
    assert model.token2wav_cache["voice"] == pytest.approx(float(BOB.sound.mean()))
    # A call has used the vocoder meanwhile.
    model.token2wav_cache = None
    vocoder.forget_current()
    vocoder.take(BOB)
    assert model.token2wav_cache is not None
    assert model.voices_computed == 2
    for level in range(1, KEPT + 2):
        vocoder.take(ReferenceVoice(level.to_bytes(2, "little") * 16_000))
    vocoder.take(ADA)
    assert model.voices_computed == 2 + KEPT + 1 + 1


def write(path: Path, rate: int, pcm: bytes) -> Path:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(pcm)
    return path


def test_a_voice_is_read_from_a_file_and_written_for_methods_that_take_files(tmp_path):
    voice = read_voice(write(tmp_path / "ada.wav", 16_000, ADA.pcm))
    assert voice == ADA
    assert read_voice(Path(ADA.write(tmp_path))) == ADA


def test_a_file_of_another_rate_is_resampled(tmp_path):
    pytest.importorskip("av", reason="resampling needs PyAV: pip install 'duologue[voice]'")
    voice = read_voice(write(tmp_path / "ada.wav", 24_000, b"\0\x20" * 24_000))
    assert len(voice.pcm) // 2 == pytest.approx(16_000, abs=100)


def test_a_file_that_is_no_recording_is_refused(tmp_path):
    (tmp_path / "x.wav").write_bytes(b"x")
    for path in (tmp_path / "x.wav", tmp_path / "nowhere.wav"):
        with pytest.raises(StartFailed, match="16-bit WAV"):
            read_voice(path)
