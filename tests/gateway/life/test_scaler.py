"""More and fewer workers for a model, over workers that run in the test's own loop."""

import anyio
import pytest
from tests.gateway.scheduling.test_pool import Workers, lent, running

from duologue.errors import Busy
from duologue.gateway.life import autoscaling
from duologue.gateway.life.autoscaling import Scale, ScaleLimits
from duologue.gateway.life.replacement import WorkerMemory
from duologue.gateway.life.scaler import Scaler
from duologue.wire import worker_protocol

pytestmark = pytest.mark.anyio


async def room(status):
    return WorkerMemory(10**9, 0, 10**10)


async def no_room(status):
    return WorkerMemory(10**9, 0, 0)


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(autoscaling, "LONG_FOR", 0.0)
    monkeypatch.setattr(autoscaling, "SETTLE", 0.0)


def scaler(pool, memory=room) -> Scaler:
    return Scaler(pool, {"m": ScaleLimits(1, 2, wait=0.0, idle=0.0), "other": ScaleLimits()}, memory)


async def test_a_queue_brings_a_worker_that_is_removed_when_nobody_needs_it(monkeypatch):
    async with running(monkeypatch, Workers()) as (pool, until), anyio.create_task_group() as tasks:
        scale = scaler(pool)
        with pool.lease("m") as lease, pool.lease("m") as waiting:
            await lent(lease)
            await scale.look(tasks)
            await until(
                lambda: len(pool.workers) == 2 and all(s.state == "ready" for s in pool.workers.values())
            )
            await lent(waiting)
            await until(lambda: scale._added == ["worker_1"])
        assert scale.view() == [
            {"model": "m", "workers": 2, "min": 1, "max": 2, "note": "requests were waiting for 15 s"}
        ]
        await scale.look(tasks)
        await scale.look(tasks)
        await until(lambda: list(pool.workers) == ["w"])
        tasks.cancel_scope.cancel()


async def test_without_memory_there_is_no_other_worker_and_admins_see_why(monkeypatch):
    async with running(monkeypatch, Workers()) as (pool, _), anyio.create_task_group() as tasks:
        scale = scaler(pool, no_room)
        with pool.lease("m") as lease, pool.lease("m"):
            await lent(lease)
            await scale.look(tasks)
        assert list(pool.workers) == ["w"]
        assert "no memory" in str(scale.view()[0]["note"])


async def test_a_worker_that_cannot_be_loaded_is_not_tried_again_at_once(monkeypatch):
    workers = Workers()
    async with running(monkeypatch, workers) as (pool, until), anyio.create_task_group() as tasks:
        workers.report = worker_protocol.Report("w", "failed", detail="Too little memory.")
        scale = scaler(pool)
        with pool.lease("m") as lease, pool.lease("m"):
            await lent(lease)
            await scale.look(tasks)
            await until(lambda: "could not be loaded" in str(scale.view()[0]["note"]))
            await scale.look(tasks)
        assert list(pool.workers) == ["w"]
        tasks.cancel_scope.cancel()


async def test_a_worker_of_another_machine_is_not_sent_away(monkeypatch):
    """It was the last one of the list, and its process ended for good."""
    async with running(monkeypatch, Workers()) as (pool, until), anyio.create_task_group() as tasks:
        other = pool.add(pool.load_spec("w"))
        await until(lambda: all(status.state == "ready" for status in pool.workers.values()))
        other.joined = True
        scale = scaler(pool)
        for _ in range(3):
            await scale.look(tasks)
            await anyio.wait_all_tasks_blocked()
        assert list(pool.workers) == ["w", other.worker]
        assert scale.view()[0]["workers"] == 1
        tasks.cancel_scope.cancel()


async def test_one_that_was_unloaded_meanwhile_is_not_removed_again(monkeypatch):
    async with running(monkeypatch, Workers()) as (pool, until):
        other = pool.add(pool.load_spec("w"))
        await until(lambda: all(status.state == "ready" for status in pool.workers.values()))
        statuses = list(pool.workers.values())
        await pool.remove(other.worker)
        await scaler(pool)._remove(statuses, Scale(-1, "one worker was dispensable"))
        assert list(pool.workers) == ["w"]


async def test_memory_that_nobody_can_tell_ends_nothing(monkeypatch):
    async def hangs(status):
        raise Busy("Finding out what this machine has took too long.")

    async with running(monkeypatch, Workers()) as (pool, _), anyio.create_task_group() as tasks:
        scale = scaler(pool, hangs)
        with pool.lease("m") as lease, pool.lease("m"):
            await lent(lease)
            await scale.look(tasks)
        assert list(pool.workers) == ["w"]
        assert "took too long" in str(scale.view()[0]["note"])


async def test_models_without_a_range_are_left_alone(monkeypatch):
    async with running(monkeypatch, Workers()) as (pool, _):
        fixed = Scaler(pool, {"m": ScaleLimits()}, room)
        assert fixed.view() == []
        with anyio.fail_after(60):
            await fixed.run()
