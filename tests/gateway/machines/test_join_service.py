"""Workers of other machines over real sockets: they join, leave, and misbehave."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.gateway.machines.join_server import NAME, REQUEST, JoinServer, events_of, granted
from tests.support.joined_stand_in import JOIN, JoinedStandIn

from duologue.gateway.auth.keys import User
from duologue.gateway.machines import joined_keeper
from duologue.values.events import Done, Failed, TextDelta
from duologue.values.requests import ModelCard
from duologue.wire import worker_protocol
from duologue.wire.machines.join_protocol import SESSION_UNKNOWN, Refuse

pytestmark = pytest.mark.anyio


async def test_a_worker_that_joins_brings_its_model_and_answers_through_the_pool():
    server = JoinServer()
    async with server.running():
        worker = JoinedStandIn(server.address)
        async with worker.joined():
            await worker.ready()
            await server.until(NAME, "ready")
            assert [card.name for card in server.pool.cards()] == ["mini"]
            with server.pool.lease("mini") as lease:
                await granted(lease)
                lease.begin(0, REQUEST, "r1")
                await worker.until(lambda: bool(worker.leases()))
                [number] = worker.leases()
                await worker.send(
                    worker_protocol.Emit(number, (TextDelta("hi"), Done("stop"))),
                    worker_protocol.Closed(number),
                )
                assert await events_of(lease, 2) == [TextDelta("hi"), Done("stop")]
            assert server.pool.scheduler.busy(NAME) == 0
    assert server.acts == [("worker.join", NAME)]


async def test_a_worker_that_stays_away_loses_its_leases_and_its_name():
    server = JoinServer(lease_s=0.2)
    async with server.running():
        worker = JoinedStandIn(server.address)
        async with worker.joined():
            await worker.ready(slots=1)
            await server.until(NAME, "ready")
            with server.pool.lease("mini") as lease:
                await granted(lease)
                lease.begin(0, REQUEST, "r1")
                await worker.until(lambda: bool(worker.leases()))
                worker.cut()
                [failed] = await events_of(lease, 1)
                assert isinstance(failed, Failed)
                assert failed.code == "worker_lost"
            await server.until(NAME, "")
            # With its old session it is not let in again, with a new one it is.
            _, reply, _ = await worker.open("live")
            assert isinstance(reply, Refuse)
            assert reply.code == SESSION_UNKNOWN
        again = JoinedStandIn(server.address, join=replace(JOIN, session="another-session-of-it"))
        async with again.joined():
            await again.ready()
            await server.until(NAME, "ready")
    assert server.acts[:3] == [("worker.join", NAME), ("worker.lost", NAME), ("worker.join", NAME)]


async def test_a_second_worker_of_a_name_gets_a_number():
    server = JoinServer()
    async with server.running():
        first = JoinedStandIn(server.address)
        second = JoinedStandIn(server.address, join=replace(JOIN, session="another-session-of-it"))
        async with first.joined(), second.joined():
            await first.ready()
            await second.ready()
            await server.until(NAME, "ready")
            await server.until(f"{NAME}.2", "ready")


async def test_a_revoked_key_ends_its_workers():
    server = JoinServer()
    async with server.running():
        worker = JoinedStandIn(server.address)
        async with worker.joined():
            await worker.ready()
            await server.until(NAME, "ready")
            server.revoke["user_worker"]()
            await server.until(NAME, "")
            assert [row.ended for row in server.joins.workers()] == ["its key was revoked"]


async def test_a_key_that_joins_without_end_or_asks_for_old_sessions_keeps_no_other_out():
    server = JoinServer(workers=1)
    hostile = User("user_hostile", "worker", "hostile", "key_hostile")
    async with server.running():
        for number in range(1000):
            joined = server.joins.enter(replace(JOIN, session=f"another-session-{number}"), hostile)
        assert isinstance(joined, Refuse)
        assert joined.code == "busy"
        server.revoke["user_hostile"]()
        # As every worker does after a start of the server.
        old, honest = (
            replace(JOIN, received=5, joined=("g1",)),
            User("user_worker", "worker", "worker", "key_worker"),
        )
        for _ in range(1000):
            refused = server.joins.enter(old, honest)
            assert isinstance(refused, Refuse)
            assert refused.code == SESSION_UNKNOWN
        worker = JoinedStandIn(server.address)
        async with worker.joined():
            await worker.ready()
            await server.until(NAME, "ready")


async def test_a_message_that_is_nested_without_end_breaks_the_protocol(caplog: pytest.LogCaptureFixture):
    server = JoinServer()
    async with server.running():
        worker = JoinedStandIn(server.address)
        async with worker.joined():
            await worker.ready()
            await server.until(NAME, "ready")
            # [{"type": "closed", "lease": 1, "x": [[[[...
            nested = b"\x91\x83\xa4type\xa6closed\xa5lease\x01\xa1x" + b"\x91" * 100_000
            await worker.lines["live"].send(nested)
            await server.until(NAME, "offline")
    assert "broke the protocol" in caplog.text
    assert "could not be run" not in caplog.text


CARD = ModelCard("mini", "scripted", 2048)
HOSTILE: dict[str, list[worker_protocol.Up]] = {
    "a thousand events too many": [worker_protocol.Emit(1, (TextDelta("x"),) * 200)] * 5,
    "a lease without events": [worker_protocol.Emit(1, ())],
    "leases that nobody began": [worker_protocol.Emit(99, (TextDelta("x"),)), worker_protocol.Closed(77)],
    "a billion slots": [worker_protocol.Report("x", "ready", card=replace(CARD, slots=10**9))],
    "reports without end": [
        worker_protocol.Report("x", "loading", progress=float(n % 2)) for n in range(500)
    ],
    "fragments without end": [worker_protocol.Fragment(n, b"x" * 60_000) for n in range(200)],
    "slots that do not exist": [worker_protocol.SlotsElsewhere((5, -1, 10**12))],
    "an answer that nobody asked for": [worker_protocol.AskAnswered(5, code="x", status=7)],
}


@pytest.mark.parametrize("kind", HOSTILE)
async def test_a_hostile_worker_harms_nobody_else(kind: str, monkeypatch: pytest.MonkeyPatch):
    # It does not go when it is told to, and the server would wait for it at its own end.
    monkeypatch.setattr(joined_keeper, "DISMISS_SECONDS", 0.1)
    server = JoinServer()
    async with server.running():
        honest = JoinedStandIn(
            server.address, key="honest", join=replace(JOIN, worker="other", session="s" * 20)
        )
        hostile = JoinedStandIn(server.address)
        async with honest.joined(), hostile.joined():
            await hostile.ready()
            await server.until(NAME, "ready")
            with server.pool.lease("mini") as lease:
                await granted(lease)
                lease.begin(0, REQUEST, "r1")
                await hostile.until(lambda: bool(hostile.leases()))
                for message in HOSTILE[kind]:
                    await hostile.send(message)
            await honest.ready()
            await server.until("box/other", "ready")
            server.pool.drop(NAME)
            with server.pool.lease("mini") as lease:
                await granted(lease)
                lease.begin(0, REQUEST, "r2")
                await honest.until(lambda: bool(honest.leases()))
