"""A socket that outlives its connections."""

from __future__ import annotations

import anyio
import pytest

from duologue.linked_socket import LinkedSocket
from duologue.wire.machines.frame_link import FrameLink

PATIENCE = 60


class Pipe:
    """A connection in memory: two ends, and what each has written."""

    def __init__(self) -> None:
        self.to_near, self.from_far = anyio.create_memory_object_stream[bytes](100)
        self.to_far, self.from_near = anyio.create_memory_object_stream[bytes](100)
        self.near = End(self.to_far, self.from_far, self)
        self.far = End(self.to_near, self.from_near, self)
        self.lose_after = -1
        """Frames after which everything is lost; -1: nothing is."""

    def cut(self) -> None:
        for stream in (self.to_near, self.to_far, self.from_near, self.from_far):
            stream.close()


class End:
    def __init__(self, out: object, into: object, pipe: Pipe) -> None:
        self._out, self._in, self._pipe = out, into, pipe

    async def receive(self) -> bytes:
        try:
            return await self._in.receive()  # type: ignore[attr-defined]
        except (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError) as error:
            raise EOFError from error

    async def send(self, frame: bytes) -> None:
        if self._pipe.lose_after == 0:
            self._pipe.cut()
            raise EOFError
        self._pipe.lose_after -= 1
        try:
            await self._out.send(frame)  # type: ignore[attr-defined]
        except (anyio.ClosedResourceError, anyio.BrokenResourceError) as error:
            raise EOFError from error


async def connected(near: LinkedSocket, far: LinkedSocket, pipe: Pipe) -> None:
    """Serve one connection of two sockets until it breaks."""
    near_received, far_received = near.link.received, far.link.received
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(near.serve, pipe.near, far_received)
        tasks.start_soon(far.serve, pipe.far, near_received)


@pytest.mark.anyio
async def test_frames_pass_in_both_directions() -> None:
    near, far = LinkedSocket(), LinkedSocket()
    with anyio.fail_after(PATIENCE):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(connected, near, far, Pipe())
            await near.send(b"question")
            assert await far.receive() == b"question"
            await far.send(b"answer")
            assert await near.receive() == b"answer"
            near.close()
            far.close()
    with pytest.raises(EOFError):
        await near.receive()
    with pytest.raises(EOFError):
        await near.send(b"late")


@pytest.mark.anyio
async def test_nothing_is_lost_over_connections_that_break() -> None:
    near, far = LinkedSocket(), LinkedSocket()
    count = 500
    arrived: list[bytes] = []

    async def keep_connecting() -> None:
        while not near.closed:
            pipe = Pipe()
            pipe.lose_after = 37
            await connected(near, far, pipe)

    async def send() -> None:
        for number in range(count):
            await near.send(b"%d" % number)

    with anyio.fail_after(PATIENCE):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(keep_connecting)
            tasks.start_soon(send)
            # The acknowledgements that come back.
            tasks.start_soon(_drain, near)
            while len(arrived) < count:
                arrived.append(await far.receive())
            near.close()
            far.close()
    assert arrived == [b"%d" % number for number in range(count)]


async def _drain(socket: LinkedSocket) -> None:
    try:
        while True:
            await socket.receive()
    except EOFError:
        return


@pytest.mark.anyio
async def test_a_full_memory_makes_the_sender_wait_for_the_next_connection() -> None:
    near, far = LinkedSocket(FrameLink(limit_frames=2)), LinkedSocket()
    sent: list[int] = []

    async def send() -> None:
        for number in range(3):
            await near.send(b"x")
            sent.append(number)

    with anyio.fail_after(PATIENCE):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(send)
            await anyio.wait_all_tasks_blocked()
            assert sent == [0, 1]
            tasks.start_soon(_drain, near)
            tasks.start_soon(connected, near, far, Pipe())
            for _ in range(2):
                await far.receive()
            far.acknowledge()
            await far.receive()
            assert sent == [0, 1, 2]
            near.close()
            far.close()


@pytest.mark.anyio
async def test_a_new_connection_replaces_one_that_only_seems_to_live() -> None:
    near, far = LinkedSocket(), LinkedSocket()
    dead = Pipe()
    with anyio.fail_after(PATIENCE):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(near.serve, dead.near, 0)
            tasks.start_soon(_drain, near)
            await anyio.wait_all_tasks_blocked()
            await near.send(b"into the void")
            await anyio.wait_all_tasks_blocked()
            tasks.start_soon(connected, near, far, Pipe())
            assert await far.receive() == b"into the void"
            near.close()
            far.close()


@pytest.mark.anyio
async def test_a_peer_without_its_memory_closes_the_link_and_says_why() -> None:
    near = LinkedSocket()
    await near.serve(Pipe().near, 7)
    assert near.closed
    assert "7" in near.broken
    with pytest.raises(EOFError):
        await near.receive()
