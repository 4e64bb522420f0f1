"""WAV sound of every kind, as mono float32 at 16 kHz."""

import cmath
import math
import struct
import sys
from array import array

import pytest
from tests.support.sample_files import loudness
from tests.support.sample_files import wav as wav_file

from duologue.errors import BadRequest, TooLarge, Unsupported
from duologue.media import wav

NEEDED = "sound at another rate needs PyAV: pip install 'duologue[voice]'"


@pytest.mark.parametrize(
    "shape", [{}, {"channels": 2, "bits": 24}, {"bits": 8}, {"bits": 32, "floats": True}]
)
def test_sound_at_the_right_rate_needs_no_further_package(shape, monkeypatch):
    monkeypatch.setitem(sys.modules, "av", None)
    heard = wav.read_wav(wav_file(16_000, **shape))
    assert heard.duration == 500
    assert loudness(heard.samples) == pytest.approx(0.5, rel=0.02)
    assert wav.at_rate(heard.samples, 16_000) == heard.samples


@pytest.mark.parametrize("read", [wav.read_wav, wav.pieces, lambda data: wav.at_rate(data, 44_100)])
def test_sound_at_another_rate_is_refused_without_the_extra(read, monkeypatch):
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(Unsupported, match=r"44,100 Hz .* pip install 'duologue\[voice\]'.*16,000") as refused:
        read(wav_file(44_100))
    assert refused.value.code == "sound_unsupported"


@pytest.mark.parametrize("rate", [22_050, 24_000, 44_100, 48_000, 96_000])
def test_a_change_of_rate_keeps_what_is_heard_and_lets_nothing_fold_back(rate):
    pytest.importorskip("av", reason=NEEDED)
    for hertz in (300, 1000, 4000, 7000):
        assert abs(decibels(rate, hertz, at=hertz)) < 1, hertz
    for hertz in (9000, 9500, 10_500):
        assert decibels(rate, hertz, at=16_000 - hertz) < -40, hertz


def decibels(rate: int, hertz: int, *, at: int) -> float:
    """How loud a tone of `hertz` at `rate` is at the frequency `at` of the sound that is made of it."""
    data = array("f", [0.5 * math.sin(2 * math.pi * hertz * n / rate) for n in range(rate)]).tobytes()
    made = array("f", wav.at_rate(data, rate))[2000:-2000]
    turned = (value * cmath.exp(-2j * math.pi * at * n / wav.RATE) for n, value in enumerate(made))
    return 20 * math.log10(max(abs(sum(turned)) * 2 / len(made), 1e-9) / 0.5)


@pytest.mark.parametrize(
    ("rate", "shape"),
    [
        (16_000, {}),
        (8_000, {"bits": 8}),
        (22_050, {"bits": 32, "channels": 6}),
        (44_100, {"channels": 2}),
        (48_000, {"bits": 24}),
        (48_000, {"bits": 24, "channels": 2, "extensible": True}),
        (48_000, {"bits": 32, "floats": True, "channels": 2}),
        (96_000, {"bits": 64, "floats": True}),
    ],
)
def test_every_kind_sounds_the_same(rate, shape):
    if rate != wav.RATE:
        pytest.importorskip("av", reason=NEEDED)
    heard = wav.read_wav(wav_file(rate, **shape))
    assert heard.duration == 500
    assert len(heard.samples) == 4 * 8000
    assert loudness(heard.samples) == pytest.approx(0.5, rel=0.02)


def test_sound_at_the_right_rate_is_not_filtered():
    samples = struct.pack("<4h", 0, 16_384, -16_384, -32_768)
    data = wav_file(seconds=4 / 16_000)[:-8] + samples
    assert list(array("f", wav.read_wav(data).samples)) == [0, 0.5, -0.5, -1]


def test_channels_are_mixed():
    data = wav_file(channels=2, seconds=0.001)
    silent_right = bytearray(data)
    for at in range(len(data) - 64, len(data), 4):
        silent_right[at + 2 : at + 4] = b"\0\0"
    assert loudness_of_first(silent_right) == pytest.approx(loudness_of_first(data) / 2)


def loudness_of_first(data: bytes | bytearray) -> float:
    return max(abs(value) for value in array("f", wav.read_wav(bytes(data)).samples))


@pytest.mark.parametrize(("hertz", "at_most"), [(12_000, 0.02), (15_000, 0.01)])
def test_what_the_rate_cannot_carry_is_taken_out(hertz, at_most):
    pytest.importorskip("av", reason=NEEDED)
    assert loudness(wav.read_wav(wav_file(44_100, hertz=hertz)).samples) < at_most


def test_long_sound_has_no_seams():
    pytest.importorskip("av", reason=NEEDED)
    heard = array("f", wav.read_wav(wav_file(11_025, seconds=2 * wav.PIECE + 2, hertz=200)).samples)
    assert len(heard) == (2 * wav.PIECE + 2) * wav.RATE
    for seam in (wav.PIECE * wav.RATE, 2 * wav.PIECE * wav.RATE):
        for place in range(seam - 40, seam + 40):
            at = place * 11_025 / wav.RATE
            assert heard[place] == pytest.approx(0.5 * math.sin(2 * math.pi * 200 * at / 11_025), abs=0.002)


def test_a_length_the_recorder_never_wrote_is_the_rest_of_the_file():
    data = bytearray(wav_file())
    for unknown in (0, 0xFFFFFFFF):
        data[40:44] = struct.pack("<I", unknown)
        assert wav.read_wav(bytes(data)).duration == 500


def test_other_chunks_are_passed_over():
    data = wav_file()
    odd = b"LIST" + struct.pack("<I", 3) + b"abc\0"
    assert wav.read_wav(data[:12] + odd + data[12:]).duration == 500


def test_the_duration_is_told_by_the_beginning():
    data = wav_file(44_100, channels=2, seconds=2)
    assert wav.duration(data[:64], len(data)) == 2000
    assert wav.duration(b"RIFF", 4) == 0


@pytest.mark.parametrize("data", [b"", b"RIFF1234WAVE", b"RIFF1234WAVEdata\0\0\0\0", wav_file(seconds=0)])
def test_a_broken_file_is_refused(data):
    with pytest.raises(BadRequest) as refused:
        wav.read_wav(data)
    assert refused.value.code == "sound_unreadable"


def test_less_than_one_sample_is_no_sound():
    pytest.importorskip("av", reason=NEEDED)
    with pytest.raises(BadRequest, match="holds no sound"):
        wav.read_wav(wav_file(96_000, seconds=2 / 96_000))


def test_a_compressed_file_is_refused():
    data = bytearray(wav_file())
    data[20:22] = struct.pack("<H", 0x55)
    with pytest.raises(Unsupported, match="compressed"):
        wav.read_wav(bytes(data))


def test_more_than_half_an_hour_is_refused():
    data = bytearray(wav_file(seconds=0.5))
    data[24:28] = struct.pack("<I", 4)
    with pytest.raises(TooLarge, match="30 minutes"):
        wav.read_wav(bytes(data))
