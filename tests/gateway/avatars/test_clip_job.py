"""A clip's state: progress that only grows, told at each change, and its end."""

import anyio
import pytest

from duologue.errors import EngineFailed
from duologue.gateway.avatars.clip_job import ClipJob
from duologue.values.call_events import ClipProgress

pytestmark = pytest.mark.anyio


@pytest.fixture
async def job(tmp_path) -> ClipJob:
    return ClipJob("c", "anna", "mira", tmp_path / "c.mp4", 5.0)


async def test_progress_grows_from_step_to_step(job):
    seen = []
    for progress in (
        ClipProgress("speaking", 0),
        ClipProgress("speaking", 1),
        ClipProgress("preparing", 1),
        ClipProgress("drawing", 0),
        ClipProgress("drawing", 0.5),
    ):
        job.advance(progress)
        seen.append((job.row().state, job.row().progress))
    assert [state for state, _ in seen] == ["speaking", "speaking", "preparing", "drawing", "drawing"]
    assert seen[-1][1] == pytest.approx(0.6)
    assert [progress for _, progress in seen] == sorted(progress for _, progress in seen)
    job.complete()
    assert (job.row().state, job.row().progress, job.ended) == ("ready", 1.0, True)


async def test_its_events_end_with_it(job):
    frames = []

    async def follow():
        frames.extend([frame async for frame in job.frames()])

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(follow)
        await anyio.lowlevel.checkpoint()
        job.advance(ClipProgress("drawing", 0.5))
        await anyio.lowlevel.checkpoint()
        job.fail(EngineFailed("It broke."))
    assert b'"state":"waiting"' in frames[0]
    assert b'"message":"It broke."' in frames[-1]


async def test_one_that_is_removed_is_cancelled_and_ends_its_events(job):
    async with anyio.create_task_group() as tasks:

        async def follow():
            assert len([frame async for frame in job.frames()]) == 1

        tasks.start_soon(follow)
        await anyio.lowlevel.checkpoint()
        job.remove()
    assert job.scope.cancel_called
