"""The event loop's end of a pair of sockets."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import anyio
import pytest
from msgspec import Struct

from duologue.engines.message_socket import MessageSocket
from duologue.engines.message_stream import MessageReader, pack

pytestmark = pytest.mark.anyio


class Note(Struct, tag="note"):
    text: str


@pytest.fixture
def pair() -> Iterator[tuple[MessageSocket[Note], socket.socket]]:
    near, far = socket.socketpair()
    with near, far:
        yield MessageSocket[Note](near, Note, limit=1_000_000), far


async def test_messages_come_as_they_were_sent(pair: tuple[MessageSocket[Note], socket.socket]) -> None:
    near, far = pair
    far.sendall(pack(Note("one")) + pack(Note("two"))[:5])
    assert await near.receive() == Note("one")
    far.sendall(pack(Note("two"))[5:])
    assert await near.receive() == Note("two")


async def test_a_message_may_be_longer_than_the_sockets_buffer(
    pair: tuple[MessageSocket[Note], socket.socket],
) -> None:
    near, far = pair
    far.setblocking(False)
    reader = MessageReader[Note](Note)
    long = Note("x" * 3_000_000)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(near.send, pack(long))
        while (message := reader.take()) is None:
            await anyio.wait_readable(far)
            reader.add(far.recv(65536))
    assert message == long


async def test_the_other_end_is_alive_until_it_closes(
    pair: tuple[MessageSocket[Note], socket.socket],
) -> None:
    near, far = pair
    assert near.alive
    far.close()
    assert not near.alive
    with pytest.raises(EOFError):
        await near.receive()


@pytest.mark.parametrize("data", [b"\x00\x00\x00\x01\xc1", b"\xff\xff\xff\xff"])
async def test_what_is_no_message_is_the_end(
    pair: tuple[MessageSocket[Note], socket.socket], data: bytes
) -> None:
    near, far = pair
    far.sendall(data)
    with pytest.raises(EOFError):
        await near.receive()


async def test_a_closed_end_is_noticed_by_the_other(pair: tuple[MessageSocket[Note], socket.socket]) -> None:
    near, far = pair
    near.close()
    assert far.recv(1) == b""
