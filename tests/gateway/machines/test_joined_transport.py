"""Connections of a worker on another machine that break, and come back or do not."""

from __future__ import annotations

import anyio
import pytest
from tests.gateway.machines.join_server import NAME, REQUEST, JoinServer, events_of, granted
from tests.support.joined_stand_in import JoinedStandIn

from duologue.gateway.machines.joined_transport import JoinedTransport
from duologue.gateway.workers.connection import LeaseInbox, WorkerConnection
from duologue.values.events import Done, TextDelta
from duologue.wire import worker_protocol

pytestmark = pytest.mark.anyio


async def test_a_connection_that_breaks_loses_no_event_and_no_slot():
    server = JoinServer()
    async with server.running(), anyio.create_task_group() as tasks:
        worker = JoinedStandIn(server.address)
        async with worker.joined():
            await worker.ready(slots=1)
            await server.until(NAME, "ready")
            with server.pool.lease("mini") as lease:
                await granted(lease)
                lease.begin(0, REQUEST, "r1")
                await worker.until(lambda: bool(worker.leases()))
                [number] = worker.leases()
                worker.cut()
                await server.until(NAME, "unreachable")
                assert server.pool.scheduler.busy(NAME) == 1
                # While nobody listens: kept, and sent again.
                for letter in "abc":
                    await worker.send(worker_protocol.Emit(number, (TextDelta(letter),)))
                await worker.dial(tasks)
                await server.until(NAME, "ready")
                await worker.send(
                    worker_protocol.Emit(number, (Done("stop"),)), worker_protocol.Closed(number)
                )
                assert await events_of(lease, 4) == [*map(TextDelta, "abc"), Done("stop")]
            assert server.pool.workers[NAME].restarts == 0
        tasks.cancel_scope.cancel()


async def test_nothing_begins_on_a_worker_out_of_reach_and_waiting_requests_get_it_when_it_is_back():
    server = JoinServer()
    async with server.running(), anyio.create_task_group() as tasks:
        worker = JoinedStandIn(server.address)
        async with worker.joined():
            await worker.ready(slots=1)
            await server.until(NAME, "ready")
            worker.cut()
            await server.until(NAME, "unreachable")
            with server.pool.lease("mini") as lease:
                assert server.pool.scheduler.is_waiting(lease.ticket)
                await worker.dial(tasks)
                await granted(lease)
        tasks.cancel_scope.cancel()


def test_an_engine_is_not_blamed_for_a_connection_that_is_broken():
    """With a lease longer than the limit of a silent engine its replies ended before the worker could come back."""
    now = 0.0
    transport = JoinedTransport(NAME, 1000.0, lambda: now)
    connection = WorkerConnection(transport, lambda report: None, stall_limit=10.0, clock=lambda: now)
    stream = connection.begin(0, 0, REQUEST, LeaseInbox(), "r1", lambda closed: None)
    for _ in range(100):
        now += 1.0
        assert not connection._engine_hangs()
    assert not stream.ended
    transport._broken_at = None
    now += 9.0
    connection._engine_hangs()
    assert not stream.ended
    now += 2.0
    connection._engine_hangs()
    assert stream.ended
