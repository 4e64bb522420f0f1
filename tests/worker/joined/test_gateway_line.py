"""A line to a gateway: broken connections, leases, other processes of the gateway, refusals."""

from __future__ import annotations

from functools import partial

import anyio
import anyio.abc
import pytest
from tests.support.join_gateway import JoinedSession, JoinGateway
from tests.support.joined_parts import begin, ended, spec, working

from duologue.values.events import Done
from duologue.wire.machines.join_protocol import Refuse
from duologue.worker.joined.exit_codes import NOT_LET_IN
from duologue.worker.joined.joined_worker import REFUSED_SECONDS, JoiningWorker

pytestmark = pytest.mark.anyio


def has_text(session: JoinedSession, length: int) -> bool:
    return len(session.text(1)) > length


async def test_nothing_of_a_reply_is_lost_when_its_connection_breaks():
    gateway = JoinGateway()
    count = 400
    async with gateway.serving(), working(spec(gateway)):
        session = await gateway.session()
        await session.send(begin(1, f"/pace 1\n/repeat {count} word "))
        for part in range(1, 6):
            await session.until(partial(has_text, length=part * 5 * count // 8))
            gateway.cut()
        await session.until(lambda session: session.closed(1))
        assert session.text(1) == "word " * count
        assert [type(event) for event in session.events(1)].count(Done) == 1
        assert session.connections > 1
        assert len(gateway.sessions) == 1


async def test_what_runs_ends_with_the_lease_and_a_new_session_begins():
    gateway = JoinGateway(lease_s=0.05)
    async with gateway.serving(), working(spec(gateway)) as worker:
        first = await gateway.session()
        await first.until_ready()
        await first.send(begin(1, "/hang"))
        await first.until(lambda session: session.events(1))
        gateway.refusal = Refuse("busy", "Later.", 0.01)
        gateway.cut()
        while worker.worker.running:  # noqa: ASYNC110
            await anyio.sleep(0.01)
        gateway.refusal = None
        second = await gateway.session(1)
        await second.until_ready()
        assert second.join.session != first.join.session


async def test_a_gateway_that_was_started_again_gets_a_fresh_session():
    gateway = JoinGateway()
    async with gateway.serving(), working(spec(gateway)) as worker:
        session = await gateway.session()
        await session.until_ready()
        await session.send(begin(1, "/hang"))
        await session.until(lambda session: session.events(1))
        gateway.forget("g2")
        fresh = await gateway.session()
        await fresh.until_ready()
        assert fresh.join.session != session.join.session
        assert worker.worker.running == 0


async def test_a_key_that_is_refused_ends_the_worker_with_a_sentence(caplog: pytest.LogCaptureFixture):
    gateway = JoinGateway()
    async with gateway.serving():
        assert await ended(JoiningWorker(spec(gateway, key="another"))) == NOT_LET_IN
    assert "does not let this worker in" in caplog.text


@pytest.mark.parametrize("fingerprints", [(), ("0" * 64,)])
async def test_a_server_without_tls_that_is_joined_by_https_ends_the_worker_with_what_helps(
    fingerprints: tuple[str, ...], caplog: pytest.LogCaptureFixture
):
    async def answer(stream: anyio.abc.ByteStream) -> None:
        async with stream:
            await stream.receive()
            await stream.send(b"HTTP/1.1 400 Bad Request\r\n\r\nInvalid HTTP request received.")

    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    port = listener.extra(anyio.abc.SocketAttribute.local_port)
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, answer)
        url = f"https://127.0.0.1:{port}"
        assert (
            await ended(JoiningWorker(spec(JoinGateway(), url=url, fingerprints=fingerprints))) == NOT_LET_IN
        )
        tasks.cancel_scope.cancel()
    assert "does not speak HTTPS" in caplog.text


async def test_a_refusal_for_good_ends_the_worker(caplog: pytest.LogCaptureFixture):
    gateway = JoinGateway()
    gateway.refusal = Refuse("protocol", "Install the same version on both.")
    async with gateway.serving():
        assert await ended(JoiningWorker(spec(gateway))) == NOT_LET_IN
    assert "Install the same version" in caplog.text


async def test_a_refusal_for_now_is_asked_again():
    gateway = JoinGateway()
    gateway.refusal = Refuse("full", "Too many workers.", 0.0)
    async with gateway.serving(), working(spec(gateway)):
        await gateway.until_dialled(3)
        gateway.refusal = None
        await (await gateway.session()).until_ready()


async def test_a_key_that_is_revoked_ends_a_worker_that_was_let_in_at_once(caplog: pytest.LogCaptureFixture):
    gateway = JoinGateway()
    codes: list[int] = []
    async with gateway.serving():
        worker = JoiningWorker(spec(gateway))

        async def run() -> None:
            codes.append(await worker.run())

        with anyio.fail_after(REFUSED_SECONDS / 2):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(run)
                await (await gateway.session()).until_ready()
                gateway.is_revoked = True
                gateway.cut()
    assert codes == [NOT_LET_IN]
    assert "does not let this worker in" in caplog.text


@pytest.mark.parametrize("socket", ["live", "bulk"])
async def test_what_cannot_be_read_ends_the_session_on_either_socket(socket: str):
    gateway = JoinGateway()
    async with gateway.serving(), working(spec(gateway)):
        first = await gateway.session()
        await first.until_ready()
        await (first.bulk if socket == "bulk" else first.live).send(b"no message")
        second = await gateway.session(1)
        await second.send(begin(1, "/say still here"))
        await second.until(lambda session: session.closed(1))
        assert second.text(1) == "still here"
