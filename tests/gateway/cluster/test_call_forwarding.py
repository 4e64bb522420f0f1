"""The socket of a call reaches the gateway that has its conversation, as its user's own, once; both directions and the close are passed on."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from ipaddress import ip_address
from typing import Any

import anyio
import pytest
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from duologue.errors import Problem, Unauthorized
from duologue.gateway.cluster.call_forwarding import CallForwarding, passed_on
from duologue.gateway.cluster.forwarding import HopReader, Neighbours
from duologue.gateway.local_ca import CA_FILE, ServerNames, ensure_certificate
from duologue.http.error_responses import refuse
from duologue.values.cluster.gateway_entry import GatewayEntry

pytestmark = pytest.mark.anyio
ONE, TWO = "1" * 32, "2" * 32
SECRET = b"s" * 32
Call = Callable[[WebSocket], Awaitable[None]]


class Gateways:
    """Two gateways: `one` is called, `two` has the conversation `far` and holds its calls by `holds`. `seen`: the sockets that reached it; `answers`: what
    forwarding gave or raised at the first."""

    def __init__(self, holds: Call) -> None:
        self._holds = holds
        self.seen: list[WebSocket] = []
        self.answers: list[Any] = []
        self.answered = anyio.Event()
        self.url = ""
        self.near, self.far = Neighbours(), Neighbours()
        for neighbours, id in ((self.near, ONE), (self.far, TWO)):
            neighbours.gateway, neighbours.secret = id, SECRET
            neighbours.owner = self._owner

    async def _owner(self, name: str) -> str | None:
        return {"conversation:far": TWO, "conversation:lost": "3" * 32}.get(name)

    def one(self) -> Any:
        forward = CallForwarding(self.near)

        async def call(socket: WebSocket) -> None:
            await socket.accept()
            conversation = socket.query_params["conversation"]
            try:
                ending = await forward(socket, conversation, [await socket.receive_text()])
            except Problem as problem:
                self._answer(problem)
                await socket.close(1013, problem.code)
                return
            self._answer(ending)
            if ending is not None and socket.client_state.name == "CONNECTED":
                await socket.close(*ending)

        return HopReader(Starlette(routes=[WebSocketRoute("/ws/chat", call)]), self.near)

    def _answer(self, answer: Any) -> None:
        self.answers.append(answer)
        self.answered.set()

    def two(self) -> Any:
        async def hold(socket: WebSocket) -> None:
            self.seen.append(socket)
            await self._holds(socket)

        return HopReader(Starlette(routes=[WebSocketRoute("/ws/voice", hold)]), self.far)

    @asynccontextmanager
    async def called(self, conversation: str = "far", **options: Any) -> AsyncIterator[ClientConnection]:
        async with connect(f"ws://{self.url}/ws/chat?conversation={conversation}", **options) as socket:
            await socket.send("start")
            yield socket


@pytest.fixture
def joined(serve: Any) -> Any:
    @asynccontextmanager
    async def made(holds: Call, scheme: str = "http", **options: Any) -> AsyncIterator[Gateways]:
        gateways = Gateways(holds)
        async with serve(gateways.one()) as one, serve(gateways.two(), **options) as two:
            gateways.url = one
            entries = [GatewayEntry(TWO, "", f"{scheme}://{two}/", "", 7, 0, 0)]
            gateways.near.living = gateways.far.living = lambda: entries
            yield gateways

    return made


async def echoes(socket: WebSocket) -> None:
    """Says back what it hears; at "bye" it closes."""
    await socket.accept()
    with_bytes = False
    while True:
        message = await socket.receive()
        if message["type"] == "websocket.disconnect":
            return
        if message.get("text") == "bye":
            await socket.close(1013, "call_idle")
            return
        with_bytes = message.get("text") is None
        if with_bytes:
            await socket.send_bytes(message["bytes"])
        else:
            await socket.send_text(message["text"])


async def test_both_directions_and_the_close_are_passed_on(joined):
    async with joined(echoes) as gateways, gateways.called() as socket:
        await socket.send(b"\1\2")
        await socket.send("words")
        assert [await socket.recv() for _ in range(3)] == ["start", b"\1\2", "words"]
        await socket.send("bye")
        with pytest.raises(ConnectionClosed):
            await socket.recv()
        assert (socket.close_code, socket.close_reason) == (1013, "call_idle")


async def test_the_call_goes_on_as_its_users_own_with_the_clients_address(joined):
    async with joined(echoes) as gateways:
        headers = {"Authorization": "Bearer mine", "Cookie": "a=b", "Origin": "http://example.org"}
        async with gateways.called(additional_headers=headers, subprotocols=["duologue"]) as socket:
            await socket.recv()
        (seen,) = gateways.seen
    assert seen.url.path == "/ws/voice"
    assert seen.query_params["conversation"] == "far"
    assert (seen.headers["authorization"], seen.headers["cookie"]) == ("Bearer mine", "a=b")
    assert seen.scope["subprotocols"] == ["duologue"]
    assert "origin" not in seen.headers
    assert seen.client is not None
    assert seen.client == ("127.0.0.1", 0), "the address comes from the signed header, which has no port"


@pytest.mark.parametrize("is_trusted", [True, False])
async def test_over_tls_only_a_gateway_that_is_trusted_gets_the_call(
    joined, tmp_path, monkeypatch, is_trusted
):
    names = ServerNames(frozenset({"localhost"}), frozenset({ip_address("127.0.0.1")}))
    certificate = ensure_certificate(tmp_path, names, datetime.now(UTC))
    if is_trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / CA_FILE))
    async with joined(echoes, "https", ssl_certfile=certificate) as gateways, gateways.called() as socket:
        await socket.send("bye")
        if is_trusted:
            assert await socket.recv() == "start"
        with pytest.raises(ConnectionClosed):
            await socket.recv()
        assert socket.close_reason == ("call_idle" if is_trusted else "gateway_unreachable")
        assert len(gateways.seen) == is_trusted


async def test_a_client_that_leaves_ends_the_call_there(joined):
    left = anyio.Event()
    codes = []

    async def hears_the_end(socket: WebSocket) -> None:
        await socket.accept()
        await socket.send_text("there")
        await socket.receive()
        codes.append((await socket.receive())["code"])
        left.set()

    async with joined(hears_the_end) as gateways:
        async with gateways.called() as socket:
            await socket.recv()
            await socket.close(1000)
        with anyio.fail_after(60):
            await left.wait()
    assert codes == [1000]


async def test_a_client_that_reads_nothing_holds_up_the_one_who_speaks(joined):
    """Otherwise a clip that nobody fetches would pile up at the gateway between."""
    sent, stopped = 0, anyio.Event()
    whole = 200

    async def speaks(socket: WebSocket) -> None:
        nonlocal sent
        await socket.accept()
        try:
            for _ in range(whole):
                with anyio.fail_after(0.5):
                    await socket.send_bytes(bytes(2**20))
                sent += 1
        except (TimeoutError, WebSocketDisconnect):
            pass
        stopped.set()

    async with joined(speaks) as gateways, gateways.called(max_queue=1, compression=None) as socket:
        with anyio.fail_after(60):
            await stopped.wait()
        socket.transport.abort()
    assert sent < whole


async def test_what_nobody_else_has_is_held_here(joined):
    async with joined(echoes) as gateways, gateways.called("near"):
        with anyio.fail_after(60):
            await gateways.answered.wait()
    assert gateways.answers == [None]
    assert not gateways.seen


async def test_a_call_that_was_passed_on_goes_no_further(joined):
    async with (
        joined(echoes) as gateways,
        gateways.called(additional_headers={"x-duologue-hop": "any"}),
    ):
        with anyio.fail_after(60):
            await gateways.answered.wait()
    assert gateways.answers == [None]


async def ends(gateways: Gateways, conversation: str = "far") -> tuple[int | None, str | None]:
    async with gateways.called(conversation) as socket:
        with anyio.fail_after(60), suppress(ConnectionClosed):
            while True:
                await socket.recv()
        return socket.close_code, socket.close_reason


async def test_a_chat_of_a_gateway_that_died_is_lost(joined):
    async with joined(echoes) as gateways:
        assert await ends(gateways, "lost") == (1013, "gateway_gone")


async def test_an_owner_that_does_not_answer_is_said(joined):
    async with joined(echoes) as gateways:
        for address in ("http://127.0.0.1:1", ""):
            entries = [GatewayEntry(TWO, "", address, "", 7, 0, 0)]
            gateways.near.living = lambda entries=entries: entries
            assert await ends(gateways) == (1013, "gateway_unreachable")


async def test_an_owner_whose_connection_breaks_is_said(joined):
    async def breaks(socket: WebSocket) -> None:
        await socket.accept()
        await socket.receive()
        raise OSError("the machine is gone")

    async with joined(breaks) as gateways:
        assert await ends(gateways) == (1013, "gateway_unreachable")


async def test_the_owners_own_refusal_is_passed_on(joined):
    async def refuses(scope: Scope, receive: Receive, send: Send) -> None:
        await refuse(scope, receive, send, Unauthorized("This key is not known here."))

    async def held(socket: WebSocket) -> None:
        await refuses(socket.scope, socket.receive, socket.send)

    async with joined(held) as gateways:
        await ends(gateways)
    (problem,) = gateways.answers
    assert (problem.status, problem.code, problem.message) == (
        401,
        Unauthorized("").code,
        "This key is not known here.",
    )


def test_codes_that_are_never_sent_are_replaced():
    assert [passed_on(code, 1001) for code in (1000, 1006, 1005, 1012, 4403, 2000, 0)] == [
        *(1000, 1001, 1001, 1012, 4403, 1001, 1001)
    ]
