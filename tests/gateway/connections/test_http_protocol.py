"""The bounds of HTTP requests, with raw bytes over a real connection."""

import json
import logging

import pytest
from tests.gateway.connections.bounded_server import GET, HEAD, HELD, bounded_server

pytestmark = pytest.mark.anyio

CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
MEGABYTE = b"a" * 2**20


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


def code(answer: bytes) -> str:
    return str(json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["code"])


@pytest.mark.parametrize(
    ("name", "sent", "expected"),
    [
        ("headers", [b"GET / HTTP/1.1\r\n", b"a:b\r\n" * 200_000], 431),
        ("one header", [b"GET / HTTP/1.1\r\nHost: x\r\nX: ", MEGABYTE], 431),
        ("one name", [b"GET / HTTP/1.1\r\nHost: x\r\n", MEGABYTE], 431),
        ("large headers", [b"GET / HTTP/1.1\r\n", (b"X: " + b"a" * 30_000 + b"\r\n") * 3, b"\r\n"], 431),
        ("an address", [b"GET /", MEGABYTE], 414),
        ("an address of some KB", [b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n"], 414),
        ("a query", [b"GET /?", MEGABYTE], 414),
        ("line ends", [b"\r\n" * 2**19], 431),
        ("an extension of a chunk", [CHUNKED, b"1;", MEGABYTE], 431),
        ("trailers", [CHUNKED, b"1\r\nx\r\n0\r\n", b"a:b\r\n" * 200_000], 431),
        ("one trailer", [CHUNKED, b"1\r\nx\r\n0\r\na: ", MEGABYTE], 431),
    ],
)
async def test_what_has_no_end_is_refused(name, sent, expected):
    async with bounded_server() as server, server.client() as client:
        for data in sent:
            await client.send(data)
        answer = await client.read()
    assert (status(answer), b"connection: close" in answer) == (expected, True)
    assert code(answer) == {431: "headers_too_large", 414: "request_line_too_long"}[expected]


async def test_the_error_has_the_shape_of_its_path():
    request = b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n" + b"a: b\r\n" * 101 + b"\r\n"
    async with bounded_server() as server, server.client(request) as client:
        answer = await client.read()
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["type"] == "invalid_request_error"


async def test_a_request_at_the_bounds_is_served():
    line = b"GET /hello?" + b"a" * (1024 - len(b"/hello?")) + b" HTTP/1.1\r\nHost: x\r\n"
    async with bounded_server(request_line_kb=1, header_kb=1, headers=3) as server:
        fields = b"X: " + b"a" * 1000 + b"\r\nY: b\r\n"
        async with server.client(line + fields + b"\r\n") as client:
            assert b"hello" in await client.read(b"hello")
        async with server.client(line + fields + b"Z: c\r\n\r\n") as client:
            assert status(await client.read()) == 431


async def test_trailers_are_no_headers():
    request = b"POST /headers HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nsecret: a\r\n\r\n"
    async with bounded_server() as server, server.client(request) as client:
        assert b"secret" not in await client.read(b"transfer-encoding")


H2C = b" HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\n"
"""How Java's client begins every connection, also with a request that has a body."""


@pytest.mark.parametrize("sent_at_once", [True, False])
@pytest.mark.parametrize("size", [b"5", b"100000"])
async def test_a_request_that_offers_another_protocol_keeps_its_body(size, sent_at_once):
    head = b"POST /size" + H2C + b"Content-Length: " + size + b"\r\n\r\n"
    body = b"a" * int(size)
    async with bounded_server() as server, server.client(head + body if sent_at_once else head) as client:
        if not sent_at_once:
            await server.until(lambda: any(connection.cycle for connection in server.open))
            await client.send(body)
        assert (await client.read(b"\r\n\r\n" + size)).endswith(b"\r\n\r\n" + size)
        await client.send(GET)
        assert b"hello" in await client.read(b"hello")


async def test_the_body_of_a_request_that_offers_another_protocol_is_no_request():
    head = b"POST /size" + H2C + b"Content-Length: %d\r\n\r\n" % len(GET)
    async with bounded_server() as server, server.client(head) as client:
        await server.until(lambda: any(connection.cycle for connection in server.open))
        await client.send(GET)
        await client.send(b"GET /large HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        answers = await client.read()
    assert answers.count(b"HTTP/1.1 200 OK") == 2
    assert b"hello" not in answers


async def test_trailers_of_a_request_that_offers_another_protocol_are_no_headers():
    sent = b"POST /headers" + H2C + b"Transfer-Encoding: chunked\r\n\r\n"
    trailers = b"secret: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n"
    async with bounded_server() as server, server.client(sent + b"1\r\nx\r\n0\r\n" + trailers) as client:
        answer = await client.read(b"transfer-encoding")
    assert (status(answer), b"http2-settings" in answer, b"secret" in answer) == (200, True, False)


async def test_a_tunnel_is_refused():
    sent = b"CONNECT example.org:443 HTTP/1.1\r\nHost: example.org\r\n\r\n"
    async with bounded_server() as server, server.client(sent) as client:
        answer = await client.read()
    assert (status(answer), code(answer)) == (400, "invalid_http")


async def test_tiny_chunks_are_a_body():
    body = b"1\r\nx\r\n" * 50_000 + b"0\r\n\r\n"
    async with bounded_server() as server, server.client(CHUNKED + body) as client:
        assert b"50000" in await client.read(b"50000")


async def test_requests_sent_at_once_are_answered_in_order_up_to_a_bound():
    async with bounded_server() as server:
        async with server.client(GET * 10) as client:
            answers = b""
            while answers.count(b"\r\n\r\nhello") < 10:
                answers += await client.read(b"hello")
        async with server.client(HELD + GET * 1000) as client:
            await server.until(lambda: "pipeline" in server.log)
            server.released.set()
            answers = await client.read()
    assert answers.count(b"200 OK") == 17
    assert server.log == ["pipeline"]


@pytest.mark.parametrize(
    "sent",
    [
        b"POST /size HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /size HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef",
        b"POST /size HTTP/1.1\r\nHost: x\r\nContent-Length: 5, 6\r\n\r\nabcdef",
        b"POST /size HTTP/1.1\r\nHost: x\r\nContent-Length: +5\r\n\r\nabcde",
        b"POST /size HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\nabcde",
        b"POST /size HTTP/1.1\r\nHost: x\r\nContent-Length : 5\r\n\r\nabcde",
        b"POST /size HTTP/1.1\r\nHost: x\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
        b"POST /size HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
        b"POST /size HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        b"POST /size HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5x\r\nabcde\r\n0\r\n\r\n",
        b"POST /size HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\na\r\n0\r\n\r\n",
        b"POST /size HTTP/1.1\r\nHost: x\r\n Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"GET /hello HTTP/1.1\r\nHost: x\r\nX: a\x00b\r\n\r\n",
        b"GET /hello HTTP/1.1\rHost: x\r\r",
        b"GET /hello HTTP/9.9\r\nHost: x\r\n\r\n",
        b"GET /h\xc3\xa9llo\x00 HTTP/1.1\r\nHost: x\r\n\r\n",
        b"FROB /hello HTTP/1.1\r\nHost: x\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"nonsense\r\n",
    ],
)
async def test_what_is_not_http_is_refused_with_a_sentence(sent, caplog):
    async with bounded_server() as server, server.client(sent) as client:
        answer = await client.read()
    assert (status(answer), code(answer)) == (400, "invalid_http")
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


async def test_a_tls_hello_is_closed_without_a_word():
    async with bounded_server() as server, server.client(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc") as client:
        assert await client.read() == b""
    assert server.log == []


async def test_a_refused_client_that_goes_on_sending_can_read_why():
    async with bounded_server(header_kb=1) as server, server.client() as client:
        await client.send(b"GET / HTTP/1.1\r\nX: " + b"a" * 100_000)
        await client.send(b"a" * 500_000)
        assert status(await client.read()) == 431


async def test_the_request_before_a_refused_one_is_answered():
    async with bounded_server() as server, server.client(HELD + b"nonsense\r\n") as client:
        await server.until(lambda: server.log == ["invalid"])
        await server.pass_time(60)
        server.released.set()
        answer = await client.read()
    assert answer.count(b"HTTP/1.1") == 1
    assert answer.endswith(b"held")


# Time


async def test_a_connection_that_sends_nothing_is_closed():
    async with bounded_server() as server, server.client() as client:
        await server.until(lambda: len(server.open) == 1)
        await server.pass_time(29)
        assert server.log == []
        await server.pass_time(2)
        assert await client.read() == b""
        await server.until(lambda: server.guard.table.count == 0)
    assert server.log == ["first_byte"]


@pytest.mark.parametrize(
    ("start", "byte"),
    [
        (b"G", b""),
        (b"GET /hello", b"a"),
        (b"GET /hello HTTP/1.1\r\nHost: x\r\nX", b"a"),
        (b"\r\n", b"\r\n"),
    ],
)
async def test_headers_that_come_one_byte_at_a_time_are_refused_in_the_end(start, byte):
    async with bounded_server() as server, server.client(start) as client:
        await server.until(lambda: any(not one._progress._is_fresh for one in server.open))
        for _ in range(4):
            await server.pass_time(4.9)
            await client.send(byte)
        assert server.log == []
        await server.pass_time(2)
        answer = await client.read()
    assert (status(answer), code(answer)) == (408, "request_timeout")


async def test_a_half_sent_body_is_refused_and_the_application_is_told():
    sent = HEAD + b"Content-Length: 100\r\n\r\nhalf"
    async with bounded_server() as server, server.client(sent) as client:
        await server.until(lambda: any(one._progress.body == 4 for one in server.open))
        await server.pass_time(70)
        answer = await client.read()
        await server.until(lambda: server.seen == ["ClientDisconnect"])
    assert (status(answer), code(answer)) == (408, "request_timeout")
    assert server.log == ["body_rate"]


async def uploaded(server, client, sizes, seconds):
    """Send pieces of these sizes, with a pause of some seconds after each."""
    total = 0
    for size in sizes:
        total += size
        await client.send(b"a" * size)
        await server.until(lambda total=total: any(one._progress.body == total for one in server.open))
        await server.pass_time(seconds)


async def test_a_slow_upload_that_goes_on_is_served():
    async with bounded_server() as server, server.client(HEAD + b"Content-Length: 1000001\r\n\r\n") as client:
        await uploaded(server, client, [100_000] * 10, 50)
        await client.send(b"a")
        assert b"1000001" in await client.read(b"1000001")
    assert server.log == []


async def test_an_upload_that_becomes_too_slow_is_refused():
    async with bounded_server() as server, server.client(HEAD + b"Content-Length: 1000000\r\n\r\n") as client:
        await uploaded(server, client, [100_000, 100], 30)
        await server.pass_time(130)
        assert status(await client.read()) == 408
    assert server.log == ["body_rate"]


async def test_a_body_has_an_end_in_time():
    async with (
        bounded_server(body_s=100) as server,
        server.client(HEAD + b"Content-Length: 10000000\r\n\r\n") as client,
    ):
        await uploaded(server, client, [200_000] * 3, 40)
        assert status(await client.read()) == 408
    assert server.log == ["body_time"]


async def test_a_client_that_reads_nothing_is_disconnected():
    request = b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n"
    async with bounded_server() as server, server.client(request):
        await server.until(lambda: any(one.transport.get_write_buffer_size() for one in server.open))
        await server.pass_time(30)
        assert server.guard.table.count == 1
        await server.pass_time(61)
        await server.until(lambda: server.guard.table.count == 0)
    assert server.log == ["unread"]


async def test_an_answer_that_takes_long_is_waited_for():
    async with bounded_server() as server, server.client(HELD) as client:
        await server.until(lambda: any(one._is_answering() for one in server.open))
        await server.pass_time(10_000)
        server.released.set()
        assert b"held" in await client.read(b"held")
    assert server.log == []


# Room


async def test_idle_connections_make_room_for_new_ones():
    async with bounded_server(total=5) as server, server.client() as first, server.client(GET) as second:
        await second.read(b"hello")
        async with server.client(), server.client(), server.client():
            await server.until(lambda: server.guard.table.count == 5)
            async with server.client(GET) as client:
                assert b"hello" in await client.read(b"hello")
                assert await first.read() == b""
    assert server.log == ["evicted"]


async def test_who_is_being_answered_is_not_closed_for_others():
    async with (
        bounded_server(total=2, shared=True) as server,
        server.client(HELD) as one,
        server.client(HELD) as other,
    ):
        await server.until(lambda: sum(a._is_answering() for a in server.open) == 2)
        async with server.client(GET) as client:
            answer = await client.read()
        assert (status(answer), code(answer)) == (503, "too_many_connections")
        server.released.set()
        assert b"held" in await one.read(b"held")
        assert b"held" in await other.read(b"held")
        async with server.client(GET) as client:
            assert b"hello" in await client.read(b"hello")


async def test_an_upgrade_behind_an_answer_that_is_due_is_refused():
    upgrade = b"GET /echo HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n"
    async with bounded_server() as server, server.client(HELD + upgrade) as client:
        await server.until(lambda: server.log == ["pipeline"])
        server.released.set()
        assert (await client.read()).endswith(b"held")
