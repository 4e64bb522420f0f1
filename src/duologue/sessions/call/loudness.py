"""Loudness and brightness of 16-bit samples: of the caller's frames, and of the replies that are playing.

Plain arithmetic on `array`; `audio_input.py` and `playback.py` call it.
"""

from __future__ import annotations

import math
from array import array
from operator import mul

from duologue.values.audio import SAMPLE_BYTES, SPOKEN_RATE

SILENT = -100.0
"""dBFS of silence."""
DULLEST = -40.0
"""Lower bound of the brightness, in dB."""
BLOCK = SPOKEN_RATE * 4 // 125
"""Samples (24 kHz) that a level of the envelope stands for: 32 ms."""


def measure(pcm: bytes) -> tuple[float, float]:
    """Level in dBFS, and brightness in dB: the power of the differences between samples relative to their own. At 16 kHz the
    brightness is about -20 for a hum, -12 to 0 for speech, and higher for a hiss."""
    values = array("h", pcm)
    count = max(1, len(values))
    energy = sum(map(mul, values, values)) / count
    if energy < 0.11:
        return SILENT, 0.0
    level_dbfs = 10.0 * math.log10(energy / (32768.0 * 32768.0))
    # Without its mean: a microphone's DC offset would count as the dullest sound of all.
    moving = energy - (sum(values) / count) ** 2
    ends = values[0] * values[0] + values[-1] * values[-1]
    differences = 2.0 * energy - (ends + 2.0 * sum(map(mul, values, values[1:]))) / count
    if moving < 0.11 or differences <= 0.0:
        return level_dbfs, 0.0
    return level_dbfs, max(DULLEST, 10.0 * math.log10(differences / moving))


def level(pcm: bytes) -> float:
    """Level in dBFS; -100 for silence."""
    values = array("h", pcm)
    energy = sum(map(mul, values, values)) / max(1, len(values))
    return SILENT if energy < 0.11 else 10.0 * math.log10(energy / (32768.0 * 32768.0))


class LoudnessEnvelope:
    """The level of a reply over time, as far as it was added."""

    def __init__(self) -> None:
        self._levels: list[float] = []
        self._rest = b""

    def add(self, pcm: bytes) -> None:
        """Append samples (24 kHz)."""
        sound = self._rest + pcm
        size = BLOCK * SAMPLE_BYTES
        whole = len(sound) // size * size
        self._levels += [level(sound[at : at + size]) for at in range(0, whole, size)]
        self._rest = sound[whole:]

    def loudest(self, start: int, end: int) -> float:
        """The highest level between these samples, in dBFS; -100 if there are none."""
        return max(self._levels[max(0, start) // BLOCK : max(0, end) // BLOCK + 1], default=SILENT)
