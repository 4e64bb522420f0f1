"""The features of Whisper for the last eight seconds of a turn: a log-mel spectrogram, as Smart Turn was trained on.

Called by `smart_turn` in its thread. The sound is normalised first, silence in front included, because the training did.
Tested against numbers of the reference implementation (transformers' WhisperFeatureExtractor).
"""

from __future__ import annotations

from functools import cache
from typing import Any

from duologue.engines.audio.pcm import to_floats
from duologue.values.audio import HEARD_RATE

SECONDS = 8
SAMPLES = SECONDS * HEARD_RATE
BANDS = 80
WINDOW = 400
"""Samples of one spectrum, 25 ms."""
HOP = 160
"""Samples from one spectrum to the next, 10 ms."""
FRAMES = SAMPLES // HOP
LINEAR_UP_TO = 1000.0
"""Hz up to which Slaney's mel scale is linear, with 15 mel for it; above it is logarithmic."""
MEL_PER_HERTZ = 0.015
LOGARITHMIC = 27.0
"""Mel for a factor of 6.4 in frequency above that."""
QUIETEST = 1e-10
RANGE = 8.0
"""Powers of ten below the loudest value at which values are cut off."""


def log_mel(pcm: bytes) -> Any:
    """The features of the last eight seconds of a sound, silence put in front of a shorter one: float32, BANDS x FRAMES."""
    import numpy

    values = to_floats(pcm)[-SAMPLES:]
    sound = numpy.pad(values, (SAMPLES - len(values), 0))
    sound = (sound - sound.mean()) / numpy.sqrt(sound.var() + 1e-7)
    sound = numpy.pad(sound, WINDOW // 2, mode="reflect")
    frames = numpy.lib.stride_tricks.sliding_window_view(sound, WINDOW)[::HOP][:FRAMES]
    window, (frequencies, weights, starts) = _tables()
    power = numpy.abs(numpy.fft.rfft(frames * window)) ** 2
    # Not a product of matrices: numpy's library would divide it among threads that spin, at twice the processor time.
    bands = numpy.add.reduceat(power[:, frequencies] * weights, starts, axis=1).T
    levels = numpy.log10(numpy.maximum(bands, QUIETEST))
    levels = numpy.maximum(levels, levels.max() - RANGE)
    return ((levels + 4) / 4).astype(numpy.float32)


@cache
def _tables() -> tuple[Any, tuple[Any, Any, Any]]:
    """The window of a spectrum, and the bands: the frequencies of all of them in a row, their weights, and where each band starts."""
    import numpy

    window = (0.5 - 0.5 * numpy.cos(2 * numpy.pi * numpy.arange(WINDOW) / WINDOW)).astype(numpy.float32)
    edges = _hertz(numpy.linspace(0, _mel(HEARD_RATE / 2), BANDS + 2))
    low, centre, high = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    frequencies = numpy.linspace(0, HEARD_RATE / 2, WINDOW // 2 + 1)
    rising, falling = (frequencies - low) / (centre - low), (high - frequencies) / (high - centre)
    # Each triangle has the same area, so that noise gives the same level in every band.
    bands = numpy.maximum(0, numpy.minimum(rising, falling)) * 2 / (high - low)
    band, frequency = numpy.nonzero(bands)
    return window, (frequency, bands[band, frequency], numpy.searchsorted(band, numpy.arange(BANDS)))


def _mel(hertz: float) -> float:
    import numpy

    octaves = numpy.log(hertz / LINEAR_UP_TO) / numpy.log(6.4)
    return float(LINEAR_UP_TO * MEL_PER_HERTZ + LOGARITHMIC * octaves)


def _hertz(mel: Any) -> Any:
    import numpy

    over = (mel - LINEAR_UP_TO * MEL_PER_HERTZ) / LOGARITHMIC
    return numpy.where(over < 0, mel / MEL_PER_HERTZ, LINEAR_UP_TO * numpy.exp(over * numpy.log(6.4)))
