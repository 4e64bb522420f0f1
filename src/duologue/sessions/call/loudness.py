"""How loud sound is, and how bright: of a frame that is heard, and of a reply that is played.

Owns the arithmetic on samples. Knows no turn, no detector and no clock.
"""

from __future__ import annotations

import math
from array import array
from operator import mul

from duologue.values.audio import SAMPLE_BYTES, SPOKEN_RATE

SILENT = -100.0
"""dBFS of silence."""
DULLEST = -40.0
"""dB of brightness that are told at the least."""
BLOCK = SPOKEN_RATE * 4 // 125
"""Samples (24 kHz) of a reply of which the level is kept: 32 ms."""


def measured(pcm: bytes) -> tuple[float, float]:
    """How loud 16-bit samples are, in dBFS; and how bright, in dB: the power of their differences against their own. At
    16 kHz that is about -20 for a hum, -12 to 0 for speech, and more for a hiss."""
    values = array("h", pcm)
    count = max(1, len(values))
    energy = sum(map(mul, values, values)) / count
    if energy < 0.11:
        return SILENT, 0.0
    loudness = 10.0 * math.log10(energy / (32768.0 * 32768.0))
    # A microphone's offset would be the dullest sound of all.
    moving = energy - (sum(values) / count) ** 2
    ends = values[0] * values[0] + values[-1] * values[-1]
    differences = 2.0 * energy - (ends + 2.0 * sum(map(mul, values, values[1:]))) / count
    if moving < 0.11 or differences <= 0.0:
        return loudness, 0.0
    return loudness, max(DULLEST, 10.0 * math.log10(differences / moving))


def level(pcm: bytes) -> float:
    """How loud 16-bit samples are, in dBFS; -100 for silence."""
    values = array("h", pcm)
    energy = sum(map(mul, values, values)) / max(1, len(values))
    return SILENT if energy < 0.11 else 10.0 * math.log10(energy / (32768.0 * 32768.0))


class LoudnessEnvelope:
    """How loud a reply is, sample by sample (24 kHz), as far as it was added."""

    def __init__(self) -> None:
        self._levels: list[float] = []
        self._rest = b""

    def add(self, pcm: bytes) -> None:
        """The reply's next samples."""
        sound = self._rest + pcm
        size = BLOCK * SAMPLE_BYTES
        whole = len(sound) // size * size
        self._levels += [level(sound[at : at + size]) for at in range(0, whole, size)]
        self._rest = sound[whole:]

    def loudest(self, start: int, end: int) -> float:
        """Between these samples, in dBFS; -100 where there are none."""
        return max(self._levels[max(0, start) // BLOCK : max(0, end) // BLOCK + 1], default=SILENT)
