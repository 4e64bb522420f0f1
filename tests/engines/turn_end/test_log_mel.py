"""The features of Whisper, against numbers of the reference implementation."""

from __future__ import annotations

import numpy
import pytest

from duologue.engines.turn_end.log_mel import BANDS, FRAMES, SAMPLES, log_mel

# transformers 5.23.0, WhisperFeatureExtractor(chunk_length=8), do_normalize=True, of `chirp` with zeros in front.
REFERENCE = [
    (0, 0, -0.29895),
    (5, 400, -0.29895),
    (7, 510, 1.29059),
    (10, 600, 0.55332),
    (20, 700, 0.45209),
    (20, 799, 0.27458),
    (40, 650, 0.53832),
    (60, 650, 0.61806),
    (79, 700, 0.26230),
    (55, 555, 1.34013),
    (33, 799, 0.15738),
]


def chirp() -> bytes:
    """Three seconds: a tone, a rising one, and a high one that comes and goes."""
    time = numpy.arange(48_000) / 16_000
    tone = 0.3 * numpy.sin(2 * numpy.pi * 220 * time)
    rising = 0.2 * numpy.sin(2 * numpy.pi * (500 + 300 * time) * time)
    high = 0.1 * numpy.sin(2 * numpy.pi * 3000 * time) * (time % 0.5 < 0.25)
    return numpy.round((tone + rising + high) * 20_000).astype("<i2").tobytes()


@pytest.mark.parametrize(("band", "frame", "value"), REFERENCE)
def test_the_features_are_those_of_the_reference(band: int, frame: int, value: float) -> None:
    assert log_mel(chirp())[band, frame] == pytest.approx(value, abs=2e-4)


def test_the_range_and_the_mean_are_those_of_the_reference() -> None:
    features = log_mel(chirp())
    assert features.dtype == numpy.float32
    assert features.shape == (BANDS, FRAMES)
    assert (features.min(), features.max()) == pytest.approx((-0.29894614, 1.7010539), abs=2e-4)
    assert features.mean() == pytest.approx(-0.13577197, abs=2e-4)


def test_silence_goes_in_front_of_a_short_sound_and_a_long_one_keeps_its_end() -> None:
    short = chirp()
    padded = bytes(SAMPLES * 2 - len(short)) + short
    assert numpy.array_equal(log_mel(short), log_mel(padded))
    assert numpy.array_equal(log_mel(short), log_mel(b"\x11\x22" * 5000 + padded))
    assert numpy.array_equal(log_mel(short), log_mel(b"\x11\x22" * 5000 + padded + b"\x33")), "half a sample"


@pytest.mark.parametrize("pcm", [b"", b"\x01", bytes(16_000)], ids=["nothing", "half a sample", "silence"])
def test_silence_has_features_too(pcm: bytes) -> None:
    assert numpy.isfinite(log_mel(pcm)).all()
