"""Accepting: places, TLS handshakes, plain HTTP where TLS is spoken, and a system without room."""

import errno
import json
import socket
import ssl
from datetime import UTC, datetime

import anyio
import pytest
from tests.gateway.connections.bounded_server import GET, HELD, bounded_server

from duologue.gateway.connections import acceptor
from duologue.gateway.local_ca import CA_FILE, ServerNames, ensure_certificate

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def contexts(tmp_path_factory):
    """The server's context, and a client's that trusts it."""
    folder = tmp_path_factory.mktemp("tls")
    file = ensure_certificate(folder, ServerNames(frozenset({"localhost"}), frozenset()), datetime.now(UTC))
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(file)
    client = ssl.create_default_context()
    client.load_verify_locations(folder / CA_FILE)
    return server, client


async def asked(port, context, **options):
    """The first part of an answer over TLS."""
    options = {
        "tls_hostname": "localhost",
        "ssl_context": context,
        "tls_standard_compatible": False,
    } | options
    async with await anyio.connect_tcp("127.0.0.1", port, **options) as stream:
        await stream.send(GET)
        return await stream.receive()


async def test_an_address_with_too_many_is_told_and_others_are_served():
    async with bounded_server(per_address=2) as server, server.client(HELD), server.client(HELD):
        await server.until(lambda: len(server.open) == 2)
        for _ in range(20):
            async with server.client(GET) as client:
                answer = await client.read()
            assert answer.startswith(b"HTTP/1.1 429 ")
            assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["code"] == "too_many_connections"
        async with await anyio.connect_tcp("127.0.0.1", server.port, local_host="127.0.0.2") as other:
            await other.send(GET)
            assert b"200 OK" in await other.receive()
    assert set(server.log) == {"per_address"}


async def test_when_the_system_has_no_room_accepting_rests_and_goes_on(monkeypatch, contexts):
    attempts = []

    class Full(socket.socket):
        def accept(self):
            attempts.append(1)
            if len(attempts) == 1:
                raise OSError(errno.EMFILE, "too many open files")
            return super().accept()

    monkeypatch.setattr(acceptor, "PAUSE_SECONDS", 0.05)
    monkeypatch.setattr(socket, "create_server", lambda address: listening(Full(), address))
    async with bounded_server(context=contexts[0]) as server:
        assert b"200 OK" in await asked(server.port, contexts[1])
    assert server.log == ["open_files"]
    assert len(attempts) < 10


def listening(made, address):
    made.bind(address)
    made.listen()
    return made


async def test_who_left_before_being_accepted_holds_nobody_up(monkeypatch, contexts):
    attempts = []

    class Left(socket.socket):
        def accept(self):
            attempts.append(1)
            if len(attempts) == 1:
                raise ConnectionAbortedError(errno.ECONNABORTED, "gone")
            return super().accept()

    monkeypatch.setattr(socket, "create_server", lambda address: listening(Left(), address))
    async with bounded_server(context=contexts[0]) as server:
        assert b"200 OK" in await asked(server.port, contexts[1])
    assert server.log == []


async def test_requests_over_tls_are_served(contexts):
    async with (
        bounded_server(context=contexts[0]) as server,
        await anyio.connect_tcp(
            "127.0.0.1",
            server.port,
            tls_hostname="localhost",
            ssl_context=contexts[1],
            tls_standard_compatible=False,
        ) as stream,
    ):
        await stream.send(GET)
        assert b"200 OK" in await stream.receive()
    assert server.log == []


async def test_headers_without_end_over_tls_are_refused(contexts):
    async with (
        bounded_server(context=contexts[0]) as server,
        await anyio.connect_tcp(
            "127.0.0.1",
            server.port,
            tls_hostname="localhost",
            ssl_context=contexts[1],
            tls_standard_compatible=False,
        ) as stream,
    ):
        await stream.send(b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 200_000)
        assert b" 431 " in await stream.receive()
    assert server.log == ["headers"]


@pytest.mark.parametrize("sent", [b"", b"\x16\x03\x01", b"\x16\x03\x01\x02\x00\x01\x00"])
async def test_half_a_handshake_has_a_deadline(contexts, sent):
    async with bounded_server(context=contexts[0], handshake_s=0.1) as server, server.client(sent) as client:
        assert await client.read() == b""
        await server.until(lambda: server.guard.table.count == 0)
    assert server.log == ["handshake"]


async def test_plain_http_on_the_tls_port_is_told_where_to_go(contexts):
    request = b"GET /chat HTTP/1.1\r\nHost: localhost:8006\r\n\r\n"
    async with bounded_server(context=contexts[0]) as server, server.client(request) as client:
        answer = await client.read()
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert "https://localhost:8006/chat" in json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["message"]


@pytest.mark.parametrize("sent", [b"\x00" * 100, b"\x80\x2e\x01\x00\x02", b"\xff", b"\x16" + b"\xff" * 500])
async def test_garbage_on_the_tls_port_is_closed_quietly(contexts, sent, caplog):
    async with bounded_server(context=contexts[0]) as server, server.client(sent) as client:
        assert b"HTTP" not in await client.read()
        await server.until(lambda: server.guard.table.count == 0)
    assert not caplog.records


async def test_handshakes_count_by_address_and_make_room(contexts):
    async with (
        bounded_server(context=contexts[0], per_address=3, total=3) as server,
        server.client() as first,
        server.client(),
        server.client(),
    ):
        await server.until(lambda: server.guard.table.count == 3)
        async with server.client() as client:
            assert await client.read() == b""
        assert server.log == ["per_address"]
        async with await anyio.connect_tcp(
            "127.0.0.1",
            server.port,
            local_host="127.0.0.2",
            tls_hostname="localhost",
            ssl_context=contexts[1],
            tls_standard_compatible=False,
        ) as other:
            await other.send(GET)
            assert b"200 OK" in await other.receive()
        assert await first.read() == b""
    assert server.log == ["per_address", "evicted"]
