"""A worker that joins gateways over real sockets on loopback, with the scripted engine."""

from __future__ import annotations

from contextlib import AsyncExitStack

import anyio
import pytest
from tests.gateway.machines.join_server import JoinServer
from tests.support.join_gateway import JoinGateway
from tests.support.joined_parts import PATIENCE, begin, ended, spec, working

from duologue.wire import worker_protocol
from duologue.wire.worker_protocol import Beat, Cancel, LoadSpec
from duologue.worker.joined import gateway_line, joined_worker
from duologue.worker.joined.exit_codes import DISMISSED, HANGS, LOAD_FAILED, RESTART
from duologue.worker.joined.joined_worker import JoiningWorker

pytestmark = pytest.mark.anyio


async def test_a_worker_joins_says_who_it_is_and_answers():
    gateway = JoinGateway()
    async with gateway.serving(), working(spec(gateway)):
        session = await gateway.session()
        await session.until_ready()
        assert (session.join.machine, session.join.worker, session.join.engine) == (
            "attic",
            "attic_0",
            "scripted",
        )
        await session.send(begin(1, "/say Hello there."))
        await session.until(lambda session: session.closed(1))
        assert session.text(1) == "Hello there."


async def test_a_large_request_comes_over_the_bulk_socket_and_a_beat_is_answered():
    gateway = JoinGateway()
    async with gateway.serving(), working(spec(gateway)):
        session = await gateway.session()
        message = begin(1, "/say big\n" + "x" * 300_000)
        for fragment in worker_protocol.fragments(1, worker_protocol.encode([message])):
            await session.send(fragment, bulk=True)
        await session.send(Beat(7))
        await session.until(lambda session: session.closed(1))
        assert session.text(1) == "big"
        assert worker_protocol.Beaten(7) in session.said


async def test_two_gateways_share_a_slot_and_hear_of_each_other():
    one, other = JoinGateway("g1"), JoinGateway("g2")
    async with one.serving("127.0.0.2"), other.serving("127.0.0.3"):
        one.gateways = other.gateways = (one.address, other.address)
        async with working(spec(one, insecure_http=True)):
            at_one, at_other = await one.session(), await other.session()
            await at_one.until_ready()
            await at_other.until_ready()
            assert at_other.join.joined == ("g1",)
            await at_one.send(begin(1, "/hang", slot=3))
            await at_other.until(lambda session: session.elsewhere == [(3,)])
            await at_other.send(begin(1, "/say mine now", slot=3), begin(2, "/say at once", slot=4))
            await at_other.until(lambda session: session.closed(2))
            assert at_other.events(1) == []
            await at_one.send(Cancel(1))
            await at_other.until(lambda session: session.closed(1))
            assert at_other.text(1) == "mine now"
            await at_other.until(lambda session: session.elsewhere[-1] == ())
            await at_one.until(lambda session: session.elsewhere and session.elsewhere[-1] == ())


async def test_a_gateway_that_comes_later_is_joined_and_one_that_is_gone_is_left():
    one, other = JoinGateway("g1"), JoinGateway("g2")
    async with one.serving("127.0.0.2"), working(spec(one, insecure_http=True)) as worker:
        await (await one.session()).until_ready()
        async with other.serving("127.0.0.3"):
            other.gateways = (one.address, other.address)
            await one.tell_gateways([one.address, other.address])
            await (await other.session()).until_ready()
            await one.tell_gateways([one.address])
            # Its connection still lives: it stays.
            await (await other.session()).send(begin(1, "/say still here"))
            await (await other.session()).until(lambda session: session.closed(1))
        while other.address in worker.addresses:  # noqa: ASYNC110
            await anyio.sleep(0.01)
        assert worker.addresses == {one.address}


async def test_the_same_gateway_by_two_addresses_is_joined_once():
    gateway = JoinGateway()
    async with gateway.serving("127.0.0.2"), working(spec(gateway, insecure_http=True)):
        session = await gateway.session()
        await session.until_ready()
        # The same server behind another path is another address.
        await gateway.tell_gateways([gateway.address, gateway.address + "/again"])
        twice = await gateway.session(1)
        await twice.until(lambda session: session.gone)
        assert twice.for_good
        await session.send(begin(1, "/say still here"))
        await session.until(lambda session: session.closed(1))


async def test_a_worker_that_stops_finishes_what_runs_and_says_goodbye():
    gateway = JoinGateway()
    codes: list[int] = []
    async with gateway.serving():
        worker = JoiningWorker(spec(gateway, drain_s=PATIENCE))

        async def run() -> None:
            codes.append(await worker.run())

        with anyio.fail_after(PATIENCE):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(run)
                session = await gateway.session()
                await session.until_ready()
                await session.send(begin(1, "/pace 1\n/repeat 200 word "))
                await session.until(lambda session: session.text(1))
                worker.stop()
                await session.until(lambda session: session.gone)
    assert codes == [0]
    assert session.for_good
    assert session.reports[-1].state == "stopping"
    assert session.text(1) == "word " * 200
    assert session.closed(1)


async def test_a_model_that_cannot_be_loaded_is_told_before_the_worker_ends():
    gateway = JoinGateway()
    broken = LoadSpec("attic_0", "llama", "m", {"model": "/nowhere.gguf"})
    async with gateway.serving():
        worker = JoiningWorker(spec(gateway, load_spec=broken, retry_s=0.5))
        assert await ended(worker) == LOAD_FAILED
        session = await gateway.session()
        assert any(report.state == "failed" for report in session.reports)
        assert session.gone
        assert not session.for_good


@pytest.mark.parametrize(("restart", "code"), [(True, RESTART), (False, DISMISSED)])
async def test_an_admin_may_restart_or_remove_it(restart: bool, code: int) -> None:
    gateway = JoinGateway()
    async with gateway.serving():
        worker = JoiningWorker(spec(gateway))
        codes: list[int] = []

        async def run() -> None:
            codes.append(await worker.run())

        with anyio.fail_after(PATIENCE):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(run)
                session = await gateway.session()
                await session.until_ready()
                await session.send(begin(1, "/hang"))
                await session.until(lambda session: session.events(1))
                await session.send(worker_protocol.Dismiss(restart))
                await session.until(lambda session: session.gone)
        assert codes == [code]
        assert session.for_good is not restart


async def test_workers_of_one_name_that_join_at_once_are_all_there_soon():
    """Each takes the place of the one before, which is not out of reach but not all there yet. A worker that lost its place so waited for a lease."""
    server = JoinServer(lease_s=3600.0)
    async with server.running():
        url = f"http://{server.address}"
        async with AsyncExitStack() as workers:
            for _ in range(6):
                await workers.enter_async_context(working(spec(JoinGateway(), url=url)))
            for number in range(1, 7):
                await server.until("attic/attic_0" + (f".{number}" if number > 1 else ""), "ready")


async def test_the_gateway_of_a_line_is_none_that_was_joined_by_another_address():
    gateway = JoinGateway()
    async with gateway.serving(), working(spec(gateway)) as worker:
        await (await gateway.session()).until_ready()
        [line] = worker._lines.values()
        assert (line.gateway, worker.introduction(line.number, "session", 0).joined) == ("g1", ())


@pytest.mark.parametrize("kind", ["session", "restart"])
async def test_an_engine_that_hangs_keeps_no_worker_from_coming_back(
    kind: str, monkeypatch: pytest.MonkeyPatch
):
    """Such a call cannot be cancelled: the line waited for its end, and never dialled again."""
    monkeypatch.setattr(gateway_line, "HANGS_AFTER", 0.01)
    monkeypatch.setattr(joined_worker, "ENDS_WITHIN", 0.01)
    codes: list[int] = []
    ended = anyio.Event()

    def end_process(code: int) -> None:
        codes.append(code)
        ended.set()

    async def hang(*_: object) -> None:
        with anyio.CancelScope(shield=True):
            await ended.wait()

    monkeypatch.setattr("duologue.worker.joined.joined_worker.os._exit", end_process)
    gateway = JoinGateway()
    async with gateway.serving(), working(spec(gateway, drain_s=0.01)) as worker:
        monkeypatch.setattr(worker.worker, "generate", hang)
        session = await gateway.session()
        await session.until_ready()
        await session.send(begin(1, "/say hi"))
        while not worker.worker.running:  # noqa: ASYNC110
            await anyio.sleep(0.01)
        if kind == "restart":
            await session.send(worker_protocol.Dismiss(restart=True))
        else:
            gateway.forget("g2")
        await ended.wait()
    assert codes[0] == (RESTART if kind == "restart" else HANGS)
