"""Frames of several callers, in one thread."""

import anyio
import pytest
from anyio.lowlevel import checkpoint
from tests.support.call_parts import Inline, Loudness, speech

from duologue.sessions.speech.vad_batcher import VadBatcher

pytestmark = pytest.mark.anyio

LOUD, QUIET = speech(0.032), bytes(1024)


class Slow:
    """A lane in which every step waits until it may."""

    def __init__(self):
        self.steps = 0
        self.go = anyio.Event()

    async def run(self, step):
        self.steps += 1
        await self.go.wait()
        return step()


class Remembering:
    """A detector that tells how much it has heard since it was reset."""

    def __init__(self):
        self.heard = 0

    def probability(self, frame):
        self.heard += 1
        return self.heard / 10

    def reset(self):
        self.heard = 0


class Broken:
    def probability(self, frame):
        raise RuntimeError("no model")

    def reset(self):
        pass


async def test_frames_are_judged_in_order():
    batcher = VadBatcher(Inline())
    detector = await batcher.open(Loudness())
    assert await batcher.probabilities(detector, [LOUD, QUIET, LOUD]) == [0.95, 0.02, 0.95]


async def test_what_waits_goes_over_together():
    lane = Slow()
    batcher = VadBatcher(lane)
    probabilities = {}

    async def caller(number, frames):
        probabilities[number] = await batcher.probabilities(Remembering(), frames)

    async with anyio.create_task_group() as tasks:
        for number in range(5):
            tasks.start_soon(caller, number, [LOUD] * (number + 1))
        await checkpoint()
        await checkpoint()
        lane.go.set()
    assert [len(probabilities[number]) for number in range(5)] == [1, 2, 3, 4, 5]
    assert lane.steps == 2  # the first, and all who came meanwhile


async def test_a_caller_who_hangs_up_takes_nobody_along():
    lane = Slow()
    batcher = VadBatcher(lane)
    probabilities = []

    async def leader():
        await batcher.probabilities(Remembering(), [LOUD])

    async def other():
        probabilities.append(await batcher.probabilities(Remembering(), [LOUD]))

    async with anyio.create_task_group() as tasks:
        scope = anyio.CancelScope()

        async def scoped():
            with scope:
                await leader()

        tasks.start_soon(scoped)
        await checkpoint()
        tasks.start_soon(other)
        await checkpoint()
        scope.cancel()
        await checkpoint()
        lane.go.set()
    assert probabilities == [[0.1]]


async def test_whoever_leaves_leaves_no_work_for_a_detector_that_others_may_have_next():
    lane = Slow()
    batcher = VadBatcher(lane)
    detectors = [Remembering() for _ in range(3)]
    left = []

    async def caller(number, scope):
        with scope:
            await batcher.probabilities(detectors[number], [LOUD])
        left.append((number, detectors[number].heard))

    scopes = [anyio.CancelScope() for _ in detectors]
    async with anyio.create_task_group() as tasks:
        for number, scope in enumerate(scopes):
            tasks.start_soon(caller, number, scope)
        await checkpoint()
        await checkpoint()
        scopes[1].cancel()
        scopes[0].cancel()
        for _ in range(5):
            await checkpoint()
        assert left == [(1, 0)]
        lane.go.set()
    assert sorted(left) == [(0, 1), (1, 0), (2, 1)]


async def test_an_engine_that_keeps_its_detectors_has_them_back():
    class Keeping(Loudness):
        back = None

        def release(self, detector):
            self.back = detector

    engine = Keeping()
    batcher = VadBatcher(Inline())
    detector = await batcher.open(engine)
    batcher.close(engine, detector)
    assert engine.back is detector


async def test_a_detector_may_begin_anew():
    batcher = VadBatcher(Inline())
    detector = Remembering()
    await batcher.probabilities(detector, [LOUD] * 5)
    assert await batcher.probabilities(detector, [LOUD], reset=True) == [0.1]


async def test_a_broken_detector_fails_only_whose_it_is():
    batcher = VadBatcher(Inline())
    with pytest.raises(RuntimeError, match="no model"):
        await batcher.probabilities(Broken(), [LOUD])
    assert await batcher.probabilities(Remembering(), [LOUD]) == [0.1]
