"""The bounds of WebSockets, with raw frames over a real connection."""

import logging
import os
import struct
from functools import partial

import pytest
from tests.gateway.connections.bounded_server import HELD, bounded_server

from duologue.gateway.connections import socket_protocol

pytestmark = pytest.mark.anyio

UPGRADE = (
    b"GET /echo HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
)
CONTINUATION, TEXT, BINARY, CLOSE, PING = 0, 1, 2, 8, 9


def frame(kind: int, payload: bytes = b"", *, final: bool = True, size: int | None = None) -> bytes:
    """A frame as a client sends it, with a mask of zeros. `size`: the length it claims."""
    length = len(payload) if size is None else size
    head = bytes([(0x80 if final else 0) | kind])
    if length < 126:
        head += bytes([0x80 | length])
    elif length < 65536:
        head += bytes([0x80 | 126]) + struct.pack("!H", length)
    else:
        head += bytes([0x80 | 127]) + struct.pack("!Q", length)
    return head + bytes(4) + payload


def close_code(received: bytes) -> int:
    """The code of the close frame that everything received ends with."""
    at = received.rindex(b"\x88")
    return int(struct.unpack("!H", received[at + 2 : at + 4])[0])


async def opened(client):
    await client.send(UPGRADE)
    assert b"101" in await client.read(b"\r\n\r\n")


@pytest.mark.parametrize(
    ("name", "sent", "expected"),
    [
        ("invalid UTF-8", frame(TEXT, b"\xff\xfe"), 1007),
        ("invalid UTF-8 in pieces", frame(TEXT, b"\xc3", final=False) + frame(CONTINUATION, b"a"), 1007),
        ("half a character", frame(TEXT, b"a\xc3"), 1007),
        ("a surrogate", frame(TEXT, b"\xed\xa0\x80"), 1007),
        ("a large frame", frame(BINARY, b"", size=2**21), 1009),
        ("a huge frame", frame(BINARY, b"", size=2**62), 1009),
        (
            "a large message",
            frame(BINARY, bytes(2**20), final=False) + frame(CONTINUATION, b"aa", final=False),
            1009,
        ),
        ("an unknown kind", frame(3, b"a"), 1002),
        ("a reserved bit", bytes([0xC1, 0x80]) + bytes(4), 1002),
        ("no mask", b"\x81\x01a", 1002),
        ("a large ping", frame(PING, bytes(126)), 1002),
        ("a ping in pieces", frame(PING, b"", final=False), 1002),
        ("a continuation of nothing", frame(CONTINUATION, b"a"), 1002),
        ("a text within a text", frame(TEXT, b"a", final=False) + frame(TEXT, b"b"), 1002),
        ("a close code of one byte", frame(CLOSE, b"a"), 1002),
        ("a reason that is not text", frame(CLOSE, b"\x03\xe8\xff"), 1007),
    ],
)
async def test_a_wrong_frame_closes_with_its_code_and_no_trace(name, sent, expected, caplog):
    async with bounded_server() as server, server.client() as client:
        await opened(client)
        await client.send(sent)
        assert close_code(await client.read()) == expected
        await server.until(lambda: [one["type"] for one in server.seen[-1:]] == ["websocket.disconnect"])
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


async def test_an_answer_after_a_wrong_frame_is_a_disconnect_and_no_error(caplog):
    async with bounded_server() as server, server.client() as client:
        server.answers = False
        await opened(client)
        await client.send(frame(TEXT, b"first"))
        await server.until(lambda: bool(server.seen))
        [connection] = server.open
        # The application answers before it can learn that the connection was closed.
        server.released.set()
        connection.data_received(frame(3, b"a"))
        assert close_code(await client.read()) == 1002
        await server.until(lambda: not server.open)
    assert [one["type"] for one in server.seen] == ["websocket.receive"]
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


@pytest.mark.parametrize("first", [frame(BINARY, bytes(1025)), frame(BINARY, b"", size=1025)])
async def test_a_path_may_have_a_smaller_limit_for_messages(first):
    async with bounded_server(message_limits={"/ec": 1024}) as server, server.client() as client:
        await opened(client)
        await client.send(frame(BINARY, bytes(1024)))
        assert b"1024" in await client.read(b"1024")
        await client.send(first)
        assert close_code(await client.read()) == 1009


async def test_other_paths_keep_the_limit_of_the_server():
    async with bounded_server(message_limits={"/other": 1024}) as server, server.client() as client:
        await opened(client)
        await client.send(frame(BINARY, bytes(1025)))
        assert b"1025" in await client.read(b"1025")


async def test_messages_in_pieces_are_put_together():
    pieces = [frame(CONTINUATION, b"ab", final=False)] * 10_000
    async with bounded_server() as server, server.client() as client:
        await opened(client)
        await client.send(
            frame(TEXT, b"ab", final=False) + b"".join(pieces) + frame(PING) + frame(CONTINUATION, b"c")
        )
        assert b"20003" in await client.read(b"20003")
        await client.send(frame(TEXT, b"whole"))
        assert b"5" in await client.read(b"5")
        await client.send(
            frame(BINARY, b"a", final=False) + frame(CONTINUATION, b"") + frame(TEXT, b"\xc3\xa9")
        )
        assert b"1" in await client.read(b"1")
    assert server.seen[0]["text"] == "ab" * 10_001 + "c"
    assert [one.get("bytes") or one.get("text") for one in server.seen[1:4]] == ["whole", b"a", "é"]


@pytest.mark.parametrize(
    ("name", "sent", "arrived"),
    [
        ("part of a frame", frame(BINARY, bytes(600), size=1000), 600),
        ("a part of a message", frame(BINARY, bytes(600), final=False), 600),
        (
            "parts of a message",
            frame(BINARY, bytes(300), final=False) + frame(CONTINUATION, bytes(300), final=False),
            600,
        ),
        ("a message that nobody has read", frame(BINARY, bytes(10)) + frame(BINARY, bytes(600)), 600),
    ],
)
async def test_what_a_socket_has_not_delivered_counts_for_its_user(name, sent, arrived):
    """With room for it; without; and when the connection ends."""
    async with bounded_server(in_flight=2000) as server:
        server.reads = False
        async with server.client() as client:
            await opened(client)
            await client.send(sent)
            await server.until(lambda: server.ledger.held("ada") >= arrived)
            server.released.set()
        await server.until(lambda: server.ledger.held("ada") == 0)
    async with bounded_server(in_flight=500) as server, server.client() as client:
        server.reads = False
        await opened(client)
        await client.send(sent)
        received = await client.read()
        assert close_code(received) == 1013
        assert b"limits.in_flight_mb" in received
        server.released.set()
        await server.until(lambda: server.ledger.held("ada") == 0)


async def test_messages_that_were_delivered_leave_room_for_the_next():
    message = frame(BINARY, bytes(300), final=False) + frame(CONTINUATION, bytes(300))
    async with bounded_server(in_flight=1000) as server, server.client() as client:
        await opened(client)
        for _ in range(5):
            await client.send(message)
            assert b"600" in await client.read(b"600")
        await client.send(frame(TEXT, "é".encode() * 10) * 40)
        await server.until(lambda: len(server.seen) == 45 and server.ledger.held("ada") == 0)


async def test_a_server_that_stops_sends_the_end_of_an_answer_before_it_closes():
    async with bounded_server() as server, server.client() as client:
        server.answers = False
        await opened(client)
        await client.send(frame(TEXT, b"first"))
        await server.until(lambda: bool(server.seen))
        [connection] = server.open
        connection.shutdown()
        connection.shutdown()
        server.released.set()
        received = await client.read()
    assert received.startswith(b"\x81\x015")
    assert close_code(received) == 1012


async def test_a_server_that_stops_closes_a_socket_without_an_answer_at_once(monkeypatch):
    monkeypatch.setattr(socket_protocol, "LAST_MESSAGE_SECONDS", 1e6)
    async with bounded_server() as server, server.client() as client:
        await opened(client)
        await client.send(frame(TEXT, b"first"))
        assert b"5" in await client.read(b"5")
        await server.until(lambda: len(server.open) == 1)
        server.open[0].shutdown()
        assert close_code(await client.read()) == 1012


async def test_a_server_that_stops_leaves_alone_a_socket_that_its_client_is_closing():
    async with bounded_server() as server, server.client() as client:
        await opened(client)
        await server.until(lambda: len(server.open) == 1)
        [connection] = server.open
        # Over TLS, or with a client that reads nothing, it stays open like this for long.
        connection.data_received(frame(CLOSE, struct.pack("!H", 1000)))
        connection.shutdown()
        assert close_code(await client.read()) == 1000


async def test_a_server_that_stops_does_not_wait_for_an_answer_for_ever(monkeypatch):
    monkeypatch.setattr(socket_protocol, "LAST_MESSAGE_SECONDS", 0.01)
    async with bounded_server() as server, server.client() as client:
        server.answers = False
        await opened(client)
        await client.send(frame(TEXT, b"first"))
        await server.until(lambda: bool(server.seen))
        server.open[0].shutdown()
        assert close_code(await client.read()) == 1012


def is_within_message(server):
    return any(one._is_within_message() for one in server.open)


async def test_a_message_that_is_never_finished_is_closed():
    for sent in (frame(TEXT, b"half", size=100), frame(TEXT, b"half", final=False), b"\x81"):
        async with bounded_server() as server, server.client() as client:
            await opened(client)
            await client.send(sent)
            await server.until(partial(is_within_message, server))
            await server.pass_time(80)
            await server.pass_time(80)
            assert close_code(await client.read()) == 1008
        assert server.log == ["body_rate"]


async def test_a_socket_may_rest_between_messages():
    async with bounded_server() as server, server.client() as client:
        await opened(client)
        await server.pass_time(10_000)
        await client.send(frame(TEXT, b"there"))
        assert b"5" in await client.read(b"5")
    assert server.log == []


async def test_a_client_that_pings_and_never_reads_is_disconnected():
    pings = frame(PING, os.urandom(125)) * 1000
    async with bounded_server() as server, server.client() as client:
        await opened(client)
        for _ in range(200):
            if server.guard.table.count == 0:
                break
            await client.send(pings)
        await server.until(lambda: server.guard.table.count == 0)
    assert server.log == ["unread"]


@pytest.mark.parametrize(
    "sent",
    [
        UPGRADE.replace(b"13", b"7"),
        UPGRADE.replace(b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n", b""),
        UPGRADE.replace(b"AAAAAAAAAAAAAAAAAAAAAA==", b"short"),
        UPGRADE.replace(b"Upgrade: websocket", b"Upgrade: h2c"),
    ],
)
async def test_a_wrong_handshake_is_answered_without_a_trace(sent, caplog):
    async with bounded_server() as server, server.client(sent) as client:
        assert (await client.read(b"\r\n\r\n"))[9:12] in (b"400", b"426", b"404")
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


@pytest.mark.parametrize(
    "sent",
    [
        UPGRADE.replace(b"GET", b"PUT"),
        UPGRADE.replace(b"GET", b"POST").replace(b"\r\n\r\n", b"\r\nContent-Length: 2\r\n\r\n{}"),
        UPGRADE.replace(b"\r\n\r\n", b"\r\nContent-Length: 2\r\n\r\n{}"),
        UPGRADE.replace(b"\r\n\r\n", b"\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        UPGRADE.replace(b"\r\n\r\n", b"\r\nCookie: " + b"a" * 20_000 + b"\r\n\r\n"),
        UPGRADE.replace(b"\r\n\r\n", b"\r\nX: \xff\xfe\r\n\r\n"),
        UPGRADE.replace(b"/echo", b"/echo?" + b"a" * 9000),
        UPGRADE.replace(b"HTTP/1.1", b"HTTP/1.0"),
    ],
)
async def test_a_handshake_that_is_none_is_always_answered(sent, caplog):
    async with bounded_server() as server, server.client(sent) as client:
        assert (await client.read(b"\r\n\r\n"))[9:12] in (b"400", b"101", b"405")
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


async def test_half_a_handshake_falls_under_the_deadline_of_headers():
    async with bounded_server() as server, server.client(UPGRADE[:-4]) as client:
        await server.until(lambda: any(not one._progress._is_fresh for one in server.open))
        await server.pass_time(21)
        assert b" 408 " in await client.read()


async def test_a_socket_keeps_the_place_of_its_connection():
    async with bounded_server(total=1, shared=True) as server:
        async with server.client() as client:
            await opened(client)
            async with server.client(HELD) as other:
                assert b" 503 " in await other.read()
        await server.until(lambda: server.guard.table.count == 0)
