"""A child lives as long as its job is wanted."""

from __future__ import annotations

import os
import sys

import anyio
import anyio.lowlevel
import pytest
from anyio.streams.buffered import BufferedByteReceiveStream
from tests.support import decoder_jobs as jobs
from tests.support.processes import process_ended

from duologue.decoder import service
from duologue.decoder.frames import ITEM, JobRequest, pack_frame
from duologue.decoder.process import CHUNK, ChildConnection
from duologue.decoder.service import decode, decode_stream

pytestmark = pytest.mark.anyio


async def test_leaving_a_stream_ends_its_process() -> None:
    async with decode_stream(jobs.own_process, b"") as items:
        process = await anext(items)
        assert process != os.getpid()
    await process_ended(process)


async def test_cancelling_a_job_ends_its_process() -> None:
    processes: list[int] = []

    async def read() -> None:
        async with decode_stream(jobs.own_process, b"") as items:
            async for item in items:
                processes.append(item)
                scope.cancel()

    async with anyio.create_task_group() as group:
        scope = group.cancel_scope
        group.start_soon(read)
    await process_ended(processes[0])


GATEWAY = """
import anyio
from tests.support import decoder_jobs
from duologue.decoder import service

async def main():
    async with service.decode_stream(decoder_jobs.own_process, b"") as items:
        print(await anext(items), service._server.process.pid, flush=True)
        await anyio.sleep_forever()

anyio.run(main)
"""


async def test_everything_ends_with_a_gateway_that_is_killed() -> None:
    async with await anyio.open_process([sys.executable, "-c", GATEWAY], stderr=None) as gateway:
        assert gateway.stdout is not None
        line = await BufferedByteReceiveStream(gateway.stdout).receive_until(b"\n", 100)
        child, fork_server = map(int, line.split())
        gateway.kill()
    await process_ended(child)
    await process_ended(fork_server)


async def test_a_job_that_is_cancelled_anywhere_gives_back_its_turn() -> None:
    for seconds in (0, 0.001, 0.005, 0.02, 0.1):
        with anyio.move_on_after(seconds):
            await decode(jobs.stall, bytes(2**20), user="ada")
    assert service._jobs.running == service._jobs.waiting == 0


class ReadySocket:
    """A child that always has something to read, and takes everything at once."""

    def __init__(self, data: bytes = b"") -> None:
        self._data = memoryview(data)
        self.sent = 0

    def recv(self, size: int) -> bytes:
        piece, self._data = bytes(self._data[:size]), self._data[size:]
        return piece

    def send(self, data: memoryview) -> int:
        self.sent += len(data)
        return len(data)


@pytest.mark.parametrize("way", ["receive", "send"])
async def test_the_loop_turns_between_the_pieces_of_a_large_result_or_file(way: str) -> None:
    body = bytes(range(256)) * (40 * CHUNK // 256)
    child = ReadySocket(pack_frame(ITEM, body))
    connection = ChildConnection(child, child, len(body))  # type: ignore[arg-type]
    turns = 0

    async def count_turns() -> None:
        nonlocal turns
        while True:
            await anyio.lowlevel.checkpoint()
            turns += 1

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(count_turns)
        if way == "receive":
            assert await connection.receive() == (ITEM, bytearray(body))
        else:
            await connection.send(JobRequest("job", b"", size=len(body)), body)
            assert child.sent > len(body)
        tasks.cancel_scope.cancel()
    assert turns > 20  # a body of 40 pieces
