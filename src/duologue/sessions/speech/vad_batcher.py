"""Runs voice activity detection for all callers in one thread.

A hop to the thread costs a good part of what a frame does, so everything that waits when the thread is free goes over
in one batch. `call/audio_input.py` calls it for every caller.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol, TypeVar

import anyio

from duologue.engines.contracts import Detector, DetectorEngine
from duologue.notifier import Notifier

T = TypeVar("T")


class BlockingRunner(Protocol):
    """Runs a blocking function: `ThreadLane`, or a stand-in for it."""

    async def run(self, step: Callable[[], T]) -> T: ...


class _Job:
    def __init__(self, detector: Detector, frames: Sequence[bytes], reset: bool) -> None:
        self.detector = detector
        self.frames = frames
        self.reset = reset
        self.done = False
        self.probabilities: list[float] = []
        self.failure: Exception | None = None

    def work(self) -> None:
        try:
            if self.reset:
                self.detector.reset()
            self.probabilities = [self.detector.probability(frame) for frame in self.frames]
        except Exception as error:  # noqa: BLE001 (raised by the task that the frames came from)
            self.failure = error
        self.done = True


def _work(jobs: Sequence[_Job]) -> None:
    for job in jobs:
        job.work()


class VadBatcher:
    """Detects speech in the thread it is given, one batch at a time. The task that finds the thread idle runs everything
    that waits; there is no task of its own."""

    def __init__(self, lane: BlockingRunner) -> None:
        self._lane = lane
        self._waiting: list[_Job] = []
        self._busy = False
        self._batch_done = Notifier()

    async def open(self, engine: DetectorEngine) -> Detector:
        """A detector for one caller."""
        return await self._lane.run(engine.open)

    @staticmethod
    def close(engine: DetectorEngine, detector: Detector) -> None:
        """Return a caller's detector to the engine."""
        engine.release(detector)

    async def probabilities(
        self, detector: Detector, frames: Sequence[bytes], *, reset: bool = False
    ) -> list[float]:
        """The probability of speech in each frame, 0 to 1; `reset`: forget the frames before these."""
        job = _Job(detector, frames, reset)
        self._waiting.append(job)
        try:
            while not job.done:
                if self._busy:
                    await self._batch_done.wait()
                else:
                    await self._run_batch()
        finally:
            await self._leave(job)
        if job.failure is not None:
            raise job.failure
        return job.probabilities

    async def _leave(self, job: _Job) -> None:
        """Return once the thread has finished with the job's detector, even when cancelled: the detector is reused next."""
        if job in self._waiting:
            self._waiting.remove(job)
            return
        with anyio.CancelScope(shield=True):
            while not job.done:
                await self._batch_done.wait()

    async def _run_batch(self) -> None:
        jobs, self._waiting = self._waiting, []
        self._busy = True
        try:
            # Other callers wait for this batch, so the one that runs it cannot take it along when it hangs up.
            with anyio.CancelScope(shield=True):
                await self._lane.run(partial(_work, jobs))
        finally:
            self._busy = False
            self._batch_done.notify()
