"""Voice activity by loudness alone, for machines without Silero's library, and for whole recordings.

Speech is what is well above the noise of the last seconds; it cannot tell speech from music.
"""

from __future__ import annotations

import math
from typing import Any

from duologue.engines.audio.silence import loudness
from duologue.engines.contracts import FRAME, Detector
from duologue.values.audio import SAMPLE_BYTES

QUIETEST = -65.0
"""dBFS of a silent room; the noise estimate never goes below it."""
ABOVE = 15.0
"""dB above the noise at which the probability of speech is one half."""
RISE, FALL = 0.02, 0.3
"""Smoothing of the noise estimate towards a louder or a quieter frame: up within seconds, down at once."""


class EnergyDetector:
    """Implements `contracts.Detector`."""

    def __init__(self) -> None:
        self._noise = QUIETEST

    def probability(self, frame: bytes) -> float:
        if len(frame) != FRAME * SAMPLE_BYTES:
            raise ValueError(f"a frame has {FRAME} samples, not {len(frame) // SAMPLE_BYTES}")
        level = loudness(frame)
        above = level - self._noise
        # Loud sound raises the noise estimate only slowly: it may be a long sentence.
        step = FALL if level < self._noise else RISE / (1.0 + max(0.0, above) / 10.0)
        self._noise = max(QUIETEST, self._noise + step * (level - self._noise))
        return 1.0 / (1.0 + math.exp(-(above - ABOVE) / 2.0))

    def reset(self) -> None:
        self._noise = QUIETEST


class Energy:
    """Implements `contracts.DetectorEngine`."""

    name = "energy"

    def open(self) -> Detector:
        return EnergyDetector()

    def release(self, detector: Detector) -> None:
        """Nothing to release."""

    async def close(self) -> None:
        """Nothing to free."""


async def load(options: dict[str, Any]) -> Energy:
    """The detector; it has no options."""
    return Energy()
