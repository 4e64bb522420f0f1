"""The sockets of workers on other machines: what opens them, and who is refused."""

from __future__ import annotations

import anyio
import pytest
from msgspec.structs import replace
from tests.gateway.machines.join_server import NAME, PATIENCE, JoinServer
from tests.support.joined_stand_in import JOIN, JoinedStandIn
from websockets.exceptions import ConnectionClosed, InvalidStatus

from duologue.wire import worker_protocol
from duologue.wire.machines.join_protocol import (
    ALREADY_JOINED,
    GOING,
    SESSION_UNKNOWN,
    Gateways,
    Refuse,
    Welcome,
    decode_gateways,
)

pytestmark = pytest.mark.anyio


async def test_a_session_belongs_to_its_key():
    server = JoinServer()
    async with server.running():
        worker = JoinedStandIn(server.address)
        async with worker.joined():
            thief = JoinedStandIn(server.address, key="other")
            _, reply, _ = await thief.open("bulk")
            assert isinstance(reply, Refuse)
            assert reply.code == SESSION_UNKNOWN


async def test_a_server_that_lets_nobody_join_names_the_setting():
    server = JoinServer(join=False)
    async with server.running():
        with pytest.raises(InvalidStatus) as refused:
            await JoinedStandIn(server.address).connect("live")
        assert refused.value.response.status_code == 404
        assert b"machines.join" in (refused.value.response.body or b"")


@pytest.mark.parametrize(
    ("oldest", "newest", "code"), [(1, 6, "worker_too_old"), (8, 9, "worker_too_new"), (7, 12, "")]
)
async def test_versions_are_agreed_on(oldest: int, newest: int, code: str):
    server = JoinServer()
    async with server.running():
        worker = JoinedStandIn(server.address, join=replace(JOIN, oldest=oldest, newest=newest))
        _, reply, _ = await worker.open("live")
        assert (reply.code if isinstance(reply, Refuse) else "") == code
        if not isinstance(reply, Refuse):
            assert reply.protocol == worker_protocol.PROTOCOL


async def test_a_voice_is_refused_for_good_where_the_server_has_none():
    server = JoinServer()
    async with server.running():
        voice = replace(JOIN, worker="voice", engine="voice", model="voice")
        _, reply, _ = await JoinedStandIn(server.address, join=voice).open("live")
        assert isinstance(reply, Refuse)
        assert (reply.code, reply.retry_s) == ("no_voice", None)
        assert "voice.enabled" in reply.message


async def test_a_worker_that_comes_by_a_second_address_does_not_take_its_own_place():
    server = JoinServer()
    async with server.running():
        worker = JoinedStandIn(server.address)
        async with worker.joined():
            await worker.ready()
            await server.until(NAME, "ready")
            worker.cut()
            await server.until(NAME, "unreachable")
            twice = replace(JOIN, session="another-session-of-it", joined=("g1",))
            _, reply, _ = await JoinedStandIn(server.address, join=twice).open("live")
            assert isinstance(reply, Refuse)
            assert (reply.code, reply.retry_s) == (ALREADY_JOINED, 60.0)
            assert server.state(NAME) == "unreachable"


@pytest.mark.parametrize(
    "opening",
    ["", "[]", '{"type":"join"}', "\x00", '{"type":"join_bulk","session":"x"}', '{"x":' + "[" * 60_000],
)
async def test_what_is_no_opening_is_closed(opening: str, caplog: pytest.LogCaptureFixture):
    server = JoinServer()
    async with server.running():
        socket = await JoinedStandIn(server.address).connect("live")
        await socket.send(opening)
        with anyio.fail_after(PATIENCE), pytest.raises(ConnectionClosed):
            await socket.recv()
        assert not server.pool.workers
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


async def test_only_so_many_may_join():
    server = JoinServer(workers=1)
    async with server.running():
        worker = JoinedStandIn(server.address)
        async with worker.joined():
            _, reply, _ = await JoinedStandIn(
                server.address, join=replace(JOIN, worker="other", session="s" * 20)
            ).open("live")
            assert isinstance(reply, Refuse)
            assert reply.code == "too_many_workers"
            assert reply.retry_s


async def test_a_worker_that_says_goodbye_is_gone_at_once():
    server = JoinServer()
    async with server.running():
        worker = JoinedStandIn(server.address)
        async with worker.joined():
            await worker.ready()
            await server.until(NAME, "ready")
            await worker.sockets["live"].close(GOING)
            await server.until(NAME, "offline")


@pytest.mark.parametrize("placed", ["", "worker_0"])
async def test_gateways_that_come_while_a_worker_is_let_in_are_told_to_it_unless_it_was_placed(placed: str):
    server = JoinServer()
    asked: list[int] = []

    def addresses() -> tuple[str, ...]:
        asked.append(1)
        return ("http://one:1", "http://two:1")[: len(asked)]

    server.joins._addresses = addresses
    told: list[Gateways] = []
    async with server.running():
        worker = JoinedStandIn(server.address, join=replace(JOIN, placed=placed))
        socket, reply, _ = await worker.open("live")
        assert isinstance(reply, Welcome)
        await anyio.wait_all_tasks_blocked()
        server.joins.addresses_changed.notify()
        await anyio.wait_all_tasks_blocked()
        server.revoke["user_worker"]()
        with anyio.fail_after(PATIENCE):
            told = [decode_gateways(frame) async for frame in socket if isinstance(frame, str)]
    if placed:
        # It belongs to the gateway that placed it.
        assert (reply.gateways, told) == ((), [])
    else:
        assert reply.gateways == ("http://one:1",)
        assert told == [Gateways(("http://one:1", "http://two:1"))]
