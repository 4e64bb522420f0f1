"""The fork server: restarted when it is gone, and nothing left behind."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys

import anyio
import pytest
from tests.support import decoder_jobs as jobs
from tests.support.processes import process_ended

from duologue.decoder import process as decoder_process
from duologue.decoder import service
from duologue.decoder.frames import STATUS
from duologue.decoder.job import NAME_BYTES, name_of
from duologue.decoder.service import decode, decode_stream
from duologue.errors import Busy

pytestmark = pytest.mark.anyio


async def test_a_killed_fork_server_is_started_again() -> None:
    assert (await decode(jobs.measure, b"abc", "")).size == 3
    process = service._server.process
    assert process is not None
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert (await decode(jobs.measure, b"abcd", "")).size == 4


async def test_the_children_end_with_the_fork_server() -> None:
    async with decode_stream(jobs.own_process, b"") as items:
        child = await anext(items)
        service.close()
        await process_ended(child)


async def test_a_job_is_begun_again_when_the_fork_server_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    results: list[str] = []

    async def run() -> None:
        results.append(await decode(jobs.wait_for_the_second_time, b""))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run)
        await anyio.wait_all_tasks_blocked()
        process = service._server.process
        assert process is not None
        monkeypatch.setenv("SECOND_TIME", "1")
        process.kill()
    assert results == ["done"]


async def test_a_fork_server_that_hangs_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoder_process, "STATUS_SECONDS", 0.1)
    async with decode_stream(jobs.own_process, b"") as items:
        child = await anext(items)
        # After another job the fork server has let go of this child's connection.
        await decode(jobs.measure, b"abc", "")
        hung = service._server.process
        assert hung is not None
        hung.send_signal(signal.SIGSTOP)
        os.kill(child, signal.SIGKILL)
        with pytest.raises(Busy):
            await anext(items)
    assert hung.returncode == -signal.SIGKILL
    assert (await decode(jobs.measure, b"abcd", "")).size == 4


# A fork server whose children outlive SIGKILL, as one does that the kernel or a debugger holds.
UNKILLABLE = """
import os
from duologue.decoder import fork_server

os.kill = lambda process, signal: os.write(1, b"k")
fork_server.ForkServer.end_children = lambda server: None
fork_server.main()
"""


@pytest.mark.system
def test_a_child_is_killed_once_however_long_it_takes_to_end() -> None:
    control, theirs = socket.socketpair()
    with theirs:
        server = subprocess.Popen(
            [sys.executable, "-c", UNKILLABLE], stdin=theirs.fileno(), stdout=subprocess.PIPE
        )
    with control:
        unwanted, report = start_child(control)
        report.close()
        for _ in range(3):  # the loop turns for each of them
            connection, report = start_child(control)
            connection.close()  # it ends without a request
            assert report.recv(STATUS.size, socket.MSG_WAITALL)
            report.close()
        unwanted.close()
    assert server.stdout is not None
    with server.stdout:
        assert server.stdout.read() == b"k"
    server.wait()


def start_child(control: socket.socket) -> tuple[socket.socket, socket.socket]:
    """Its connection, and the socket that reports its end."""
    connection, child_end = socket.socketpair()
    report, server_end = socket.socketpair()
    report.settimeout(60)
    with child_end, server_end:
        name = name_of(jobs.measure).encode().ljust(NAME_BYTES)
        socket.send_fds(control, [name], [child_end.fileno(), server_end.fileno()])
    return connection, report


async def test_a_stream_that_lost_the_fork_server_is_refused() -> None:
    async with decode_stream(jobs.own_process, b"") as items:
        await anext(items)
        service.close()
        with pytest.raises(Busy, match="try again"):
            await anext(items)
