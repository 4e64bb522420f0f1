"""A rolling restart over workers that run in the test's own loop."""

import anyio
import pytest
from tests.gateway.scheduling.test_pool import REQUEST, Workers, heard, lent, running

from duologue.errors import Problem
from duologue.gateway.life.replacement import WorkerMemory
from duologue.gateway.life.rolling_restart import RollingRestart
from duologue.wire import worker_protocol

pytestmark = pytest.mark.anyio
ROOM, NO_ROOM = WorkerMemory(10**9, 0, 10**10), WorkerMemory(10**9, 0, 10**9)


def restart(pool, tasks, memory=ROOM, **options) -> RollingRestart:
    async def measured(status):
        return memory

    rolling = RollingRestart([pool], measured, **options)
    rolling.use(tasks)
    return rolling


async def ended(rolling: RollingRestart) -> None:
    with anyio.fail_after(60):
        while rolling.progress.running:
            await anyio.wait_all_tasks_blocked()


async def test_with_room_the_new_worker_is_ready_before_the_old_one_goes_and_a_reply_is_not_cut(monkeypatch):
    moved = []
    async with running(monkeypatch, Workers()) as (pool, until), anyio.create_task_group() as tasks:
        rolling = restart(pool, tasks, moved=lambda old, new: moved.append((old, new)))
        with pool.lease("m") as lease:
            await lent(lease)
            rolling.start(["w"])
            await until(lambda: "worker_1" in pool.workers and pool.workers["w"].retiring)
            assert (rolling.progress.current, rolling.progress.way) == ("w", "beside")
            with pool.lease("m") as other:
                await lent(other)  # at the new one, at once
            lease.begin(0, REQUEST, "r")
            await heard(lease)
        await ended(rolling)
        assert (rolling.progress.done, rolling.progress.problem) == (("w",), "")
        assert list(pool.workers) == ["worker_1"]
        assert moved == [("w", "worker_1")]
        tasks.cancel_scope.cancel()


async def test_without_room_the_worker_ends_what_it_runs_and_requests_wait(monkeypatch):
    async with running(monkeypatch, Workers()) as (pool, until), anyio.create_task_group() as tasks:
        rolling = restart(pool, tasks, NO_ROOM)
        with pool.lease("m") as lease:
            await lent(lease)
            rolling.start(["w"])
            await until(lambda: pool.workers["w"].draining)
            lease.begin(0, REQUEST, "r")
            await heard(lease)
        with pool.lease("m") as waiting:
            await lent(waiting)
        await ended(rolling)
        assert list(pool.workers) == ["w"]
        assert (pool.workers["w"].restarts, pool.workers["w"].draining) == (1, False)
        tasks.cancel_scope.cancel()


async def test_a_restart_ends_at_a_worker_that_does_not_come_back_and_keeps_the_others(monkeypatch):
    workers = Workers()
    async with running(monkeypatch, workers) as (pool, _), anyio.create_task_group() as tasks:
        workers.report = worker_protocol.Report("w", "failed", detail="Too little memory.")
        rolling = restart(pool, tasks)
        rolling.start(["w", "x"])
        await ended(rolling)
        assert "Too little memory" in rolling.progress.problem
        assert rolling.progress.left == ("x",)
        assert pool.ready, "the old one serves on"
        tasks.cancel_scope.cancel()


async def test_there_is_one_restart_at_a_time(monkeypatch):
    async with running(monkeypatch, Workers()) as (pool, _), anyio.create_task_group() as tasks:
        rolling = restart(pool, tasks)
        rolling.start(["w"])
        with pytest.raises(Problem) as refusal:
            rolling.start(["w"])
        assert (refusal.value.code, refusal.value.status) == ("restart_running", 409)
        await ended(rolling)
        rolling.start(["gone"])
        await ended(rolling)
        assert rolling.progress.done == ("gone",)
        tasks.cancel_scope.cancel()
