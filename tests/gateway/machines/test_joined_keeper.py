"""A worker of another machine in a pool: its processes, one after another."""

from __future__ import annotations

import anyio
import pytest
from msgspec.structs import replace
from tests.gateway.machines.join_server import NAME, PATIENCE, REQUEST, JoinServer, granted
from tests.support.joined_stand_in import JOIN, JoinedStandIn

from duologue.errors import Problem
from duologue.wire import worker_protocol
from duologue.wire.machines.join_protocol import FOR_GOOD, GOING, SESSION_UNKNOWN, Refuse

pytestmark = pytest.mark.anyio


async def test_a_new_process_takes_the_place_of_a_lost_one_and_requests_keep_waiting():
    server = JoinServer()
    async with server.running():
        first = JoinedStandIn(server.address)
        async with first.joined():
            await first.ready(slots=1)
            await server.until(NAME, "ready")
            first.cut()
            await server.until(NAME, "unreachable")
            with server.pool.lease("mini") as lease:
                second = JoinedStandIn(server.address, join=replace(JOIN, session="another-session-of-it"))
                async with second.joined():
                    await second.ready()
                    await granted(lease)
                    lease.begin(0, REQUEST, "r1")
                    await second.until(lambda: bool(second.leases()))
            assert list(server.pool.workers) == [NAME]
            assert server.pool.workers[NAME].restarts == 1


async def test_a_worker_that_is_restarted_is_told_to_end_and_counted_as_asked():
    server = JoinServer()
    async with server.running():
        worker = JoinedStandIn(server.address)
        async with worker.joined():
            await worker.ready()
            await server.until(NAME, "ready")
            server.pool.restart(NAME, "rolling")
            await worker.until(lambda: worker_protocol.Dismiss(restart=True) in worker.received)
            await worker.sockets["live"].close(GOING)
            with anyio.fail_after(PATIENCE):
                while not server.pool.workers[NAME].restarts:
                    await server.pool.changed()
            # It was told to come back, so no lease of a lost connection is running out.
            assert server.joins.lease_left(NAME) is None
        again = JoinedStandIn(server.address, join=replace(JOIN, session="another-session-of-it"))
        async with again.joined():
            await again.ready()
            await server.until(NAME, "ready")


async def test_a_worker_that_is_removed_is_told_to_stay_away():
    server = JoinServer()
    async with server.running(), anyio.create_task_group() as tasks:
        worker = JoinedStandIn(server.address)
        async with worker.joined():
            await worker.ready()
            await server.until(NAME, "ready")
            tasks.start_soon(server.pool.remove, NAME)
            await worker.until(lambda: worker_protocol.Dismiss() in worker.received)
            await worker.sockets["live"].close(GOING)
        assert not server.pool.workers


async def test_a_worker_that_left_for_good_is_not_waited_for():
    server = JoinServer()
    async with server.running():
        worker = JoinedStandIn(server.address)
        async with worker.joined():
            await worker.ready(slots=1)
            await server.until(NAME, "ready")
            with server.pool.lease("mini") as first, server.pool.lease("mini") as second:
                await granted(first)
                assert server.pool.scheduler.is_waiting(second.ticket)
                await worker.sockets["live"].close(GOING, FOR_GOOD)
                await server.until(NAME, "")
                with pytest.raises(Problem) as refused:
                    await granted(second)
                assert refused.value.code == "worker_lost"
    assert not server.pool.workers
    assert [(row.reach, row.ended) for row in server.joins.workers()] == [("gone", "it has left")]
    assert server.acts == [("worker.join", NAME), ("worker.lost", NAME)]


async def test_slots_that_work_elsewhere_are_not_granted():
    server = JoinServer()
    async with server.running():
        worker = JoinedStandIn(server.address)
        async with worker.joined():
            await worker.ready(slots=2)
            await server.until(NAME, "ready")
            await worker.send(worker_protocol.SlotsElsewhere((0,)))
            with anyio.fail_after(PATIENCE):
                while server.pool.scheduler.busy(NAME) != 1:
                    await server.pool.slot_released()
            with server.pool.lease("mini") as one, server.pool.lease("mini") as two:
                await granted(one)
                assert server.pool.scheduler.is_waiting(two.ticket)
                await worker.send(worker_protocol.SlotsElsewhere(()))
                await granted(two)


async def test_a_session_that_has_ended_does_not_go_on_and_its_process_may_begin_another():
    server = JoinServer()
    async with server.running():
        worker = JoinedStandIn(server.address)
        async with worker.joined():
            await worker.ready()
            await server.until(NAME, "ready")
            await worker.sockets["live"].close(GOING)
            await server.until(NAME, "offline")
            for line in ("live", "bulk"):
                _, reply, _ = await worker.open(line)
                assert isinstance(reply, Refuse)
                assert reply.code == SESSION_UNKNOWN
        again = JoinedStandIn(server.address, join=replace(JOIN, session="another-session-of-it"))
        async with again.joined():
            await again.ready()
            await server.until(NAME, "ready")
