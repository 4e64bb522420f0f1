"""Workers that drain, are held, and are replaced."""

import anyio
import pytest
from tests.gateway.scheduling.test_pool import REQUEST, Workers, heard, lent, running

from duologue.errors import Problem, Unavailable
from duologue.values.events import Done, TextDelta
from duologue.values.messages import user
from duologue.values.requests import ChatRequest
from duologue.wire import worker_protocol

pytestmark = pytest.mark.anyio
LONG = ChatRequest((user("hang"),))


async def test_a_drained_worker_ends_what_runs_and_takes_nothing_new_until_it_is_resumed(monkeypatch):
    async with running(monkeypatch, Workers()) as (pool, _):
        with pool.lease("m") as lease:
            await lent(lease)
            pool.drain("w", "by an admin")
            with pool.lease("m") as refused, pytest.raises(Unavailable, match="an admin drains it"):
                await lent(refused)
            lease.begin(0, REQUEST, "r")
            assert await heard(lease) == [TextDelta("hello"), Done("stop")]
        assert await pool.emptied("w")
        assert (pool.workers["w"].draining, pool.workers["w"].note) == (True, "by an admin")
        assert [card.name for card in pool.cards()] == ["m"], "it is still known"
        pool.resume("w")
        assert (pool.workers["w"].draining, pool.workers["w"].note) == (False, "")
        with pool.lease("m") as lease:
            await lent(lease)


async def test_requests_wait_for_a_worker_that_is_held(monkeypatch):
    async with running(monkeypatch, Workers()) as (pool, until):
        pool.hold("w", "restarting")
        granted = anyio.Event()

        async def wait() -> None:
            with pool.lease("m") as lease:
                await lent(lease)
                granted.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait)
            await until(lambda: len(pool.scheduler.entries()) == 1)
            assert not granted.is_set()
            pool.restart("w")
            with anyio.fail_after(60):
                await granted.wait()
        assert not pool.workers["w"].draining


async def test_a_worker_that_drains_still_does_so_after_it_fell(monkeypatch):
    workers = Workers()
    async with running(monkeypatch, workers) as (pool, until):
        pool.drain("w")
        workers.die()
        await until(lambda: pool.workers["w"].restarts == 1 and pool.ready)
        with pool.lease("m") as lease, pytest.raises(Unavailable):
            await lent(lease)


async def test_waiting_for_a_worker_to_be_empty_ends_with_the_grace(monkeypatch):
    async with running(monkeypatch, Workers()) as (pool, _):
        with pool.lease("m") as lease:
            await lent(lease)
            lease.begin(0, LONG, "r")
            assert not await pool.emptied("w", grace=0.01)


async def test_another_worker_beside_the_old_one_stands_for_it(monkeypatch):
    async with running(monkeypatch, Workers()) as (pool, _):
        with anyio.fail_after(60):
            new = await pool.beside("w", "replaces w")
        assert (new.worker, new.state, new.added, new.note) == ("worker_1", "ready", False, "replaces w")
        assert pool.load_spec(new.worker).model == pool.load_spec("w").model
        await pool.retire("w")
        assert list(pool.workers) == ["worker_1"]
        with pool.lease("m") as lease:
            await lent(lease)


async def test_another_worker_that_fails_is_removed_and_the_old_one_stays(monkeypatch):
    workers = Workers()
    async with running(monkeypatch, workers) as (pool, _):
        workers.report = worker_protocol.Report("w", "failed", detail="Too little memory.")
        with anyio.fail_after(60), pytest.raises(Unavailable, match="Too little memory"):
            await pool.beside("w")
        assert list(pool.workers) == ["w"]
        assert pool.ready


async def test_what_is_being_unloaded_cannot_be_resumed(monkeypatch):
    async with running(monkeypatch, Workers()) as (pool, until):
        async with anyio.create_task_group() as tasks:
            with pool.lease("m") as lease:
                await lent(lease)
                tasks.start_soon(pool.retire, "w")
                await until(lambda: pool.workers["w"].retiring)
                with pytest.raises(Problem) as refusal:
                    pool.resume("w")
                assert (refusal.value.code, refusal.value.status) == ("worker_retiring", 409)
        with pytest.raises(KeyError):
            pool.resume("w")
        assert not pool.cards()
