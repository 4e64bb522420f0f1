"""Frames of every caller, judged in one thread.

A thread hop costs a good part of what a frame does, so whatever waits when the thread is free goes over together. Owns
the order; knows no call and no gate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol, TypeVar

import anyio

from duologue.engines.contracts import Detector, DetectorEngine

T = TypeVar("T")


class BlockingRunner(Protocol):
    """Who runs blocking steps: a lane, or whoever stands in for one."""

    async def run(self, step: Callable[[], T]) -> T: ...


class _Job:
    def __init__(self, detector: Detector, frames: Sequence[bytes], anew: bool) -> None:
        self.detector = detector
        self.frames = frames
        self.anew = anew
        self.done = False
        self.judged: list[float] = []
        self.failure: Exception | None = None

    def work(self) -> None:
        try:
            if self.anew:
                self.detector.reset()
            self.judged = [self.detector.probability(frame) for frame in self.frames]
        except Exception as error:  # noqa: BLE001 (raised where the frames came from)
            self.failure = error
        self.done = True


def _work(jobs: Sequence[_Job]) -> None:
    for job in jobs:
        job.work()


class VadBatcher:
    """Judges frames in the lane it is given. One batch at a time; whoever finds it idle takes all that wait along."""

    def __init__(self, lane: BlockingRunner) -> None:
        self._lane = lane
        self._waiting: list[_Job] = []
        self._busy = False
        self._free = anyio.Event()

    async def open(self, engine: DetectorEngine) -> Detector:
        """A detector of one caller's own."""
        return await self._lane.run(engine.open)

    @staticmethod
    def close(engine: DetectorEngine, detector: Detector) -> None:
        """The caller is gone: the engine has the detector back."""
        engine.release(detector)

    async def probabilities(
        self, detector: Detector, frames: Sequence[bytes], *, anew: bool = False
    ) -> list[float]:
        """How likely each of these frames is speech, 0 to 1; `anew`: the detector forgets what it heard before them."""
        job = _Job(detector, frames, anew)
        self._waiting.append(job)
        try:
            while not job.done:
                if self._busy:
                    await self._free.wait()
                else:
                    await self._batch()
        finally:
            await self._leave(job)
        if job.failure is not None:
            raise job.failure
        return job.judged

    async def _leave(self, job: _Job) -> None:
        """Nobody uses the job's detector any more when this returns, whoever was cancelled."""
        if job in self._waiting:
            self._waiting.remove(job)
            return
        with anyio.CancelScope(shield=True):
            while not job.done:
                await self._free.wait()

    async def _batch(self) -> None:
        jobs, self._waiting = self._waiting, []
        self._busy = True
        try:
            # Others wait for this batch: a caller who hangs up in it does not take it along.
            with anyio.CancelScope(shield=True):
                await self._lane.run(partial(_work, jobs))
        finally:
            self._busy = False
            self._free.set()
            self._free = anyio.Event()
