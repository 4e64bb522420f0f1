"""A detector that goes by loudness alone: for machines without Silero's library.

Speech is what stands well above the noise of the last seconds. It knows no speech from music, and says so by its name.
Depends on nothing.
"""

from __future__ import annotations

import math
from typing import Any

from duologue.engines.audio.silence import loudness
from duologue.engines.contracts import FRAME, Detector
from duologue.values.audio import SAMPLE_BYTES

QUIETEST = -65.0
"""dBFS below which a room is as good as silent."""
ABOVE = 15.0
"""dB above the noise at which sound is as likely speech as not."""
RISE, FALL = 0.02, 0.3
"""How much of the way to a louder or a quieter frame the noise goes with it: up within seconds, down at once."""


class EnergyDetector:
    def __init__(self) -> None:
        self._noise = QUIETEST

    def probability(self, frame: bytes) -> float:
        if len(frame) != FRAME * SAMPLE_BYTES:
            raise ValueError(f"a frame has {FRAME} samples, not {len(frame) // SAMPLE_BYTES}")
        level = loudness(frame)
        above = level - self._noise
        # Loud sound is taken for noise only slowly: it may be a long sentence.
        step = FALL if level < self._noise else RISE / (1.0 + max(0.0, above) / 10.0)
        self._noise = max(QUIETEST, self._noise + step * (level - self._noise))
        return 1.0 / (1.0 + math.exp(-(above - ABOVE) / 2.0))

    def reset(self) -> None:
        self._noise = QUIETEST


class Energy:
    name = "energy"

    def open(self) -> Detector:
        return EnergyDetector()

    def release(self, detector: Detector) -> None:
        """Nothing is kept."""

    async def close(self) -> None:
        """Nothing is held."""


async def load(options: dict[str, Any]) -> Energy:
    """The detector; it has no options."""
    return Energy()
