"""The way to a worker of this machine, against a WebSocket server in the test."""

import anyio
import pytest
from websockets.asyncio.server import ServerConnection, serve

from duologue.gateway.workers.heartbeat import PATIENCE
from duologue.gateway.workers.local_transport import LocalTransport

pytestmark = pytest.mark.anyio


async def echo(socket: ServerConnection) -> None:
    async for frame in socket:
        await socket.send(frame)


async def test_frames_go_both_ways_and_pings_are_answered():
    async with serve(echo, "127.0.0.1", 0) as server:
        transport = LocalTransport(f"127.0.0.1:{server.sockets[0].getsockname()[1]}", "secret")
        async with transport.opened() as channels:
            for channel in channels:
                await channel.send(b"frame")
                assert await channel.receive() == b"frame"
            with anyio.fail_after(30):
                await transport.answer()
            assert not any(transport.hangs(loading=False) for _ in range(PATIENCE))


async def test_a_closed_channel_is_the_end_of_its_frames():
    async def leave(socket: ServerConnection) -> None:
        await socket.close()

    async with serve(leave, "127.0.0.1", 0) as server:
        transport = LocalTransport(f"127.0.0.1:{server.sockets[0].getsockname()[1]}", "secret")
        async with transport.opened() as channels:
            with pytest.raises(EOFError):
                await channels.live.receive()
            with pytest.raises(EOFError):
                await channels.live.send(b"frame")
            with pytest.raises(EOFError):
                await transport.answer()


async def test_a_worker_that_refuses_is_an_error_of_the_network():
    def refuse(connection, request):
        return connection.respond(403, "no")

    async with serve(echo, "127.0.0.1", 0, process_request=refuse) as server:
        transport = LocalTransport(f"127.0.0.1:{server.sockets[0].getsockname()[1]}", "secret")
        with pytest.raises(OSError, match="403"):
            async with transport.opened():
                pass
