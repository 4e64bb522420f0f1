import json
import os
import select
import socket
import subprocess
import sys
from contextlib import suppress

import anyio
import pytest
from tests.support.ports import free_port
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from duologue.errors import StartFailed
from duologue.gateway.workers import process
from duologue.values.events import Failed
from duologue.values.messages import user
from duologue.values.requests import ChatRequest
from duologue.wire import worker_protocol
from duologue.wire.worker_protocol import LoadSpec
from duologue.worker.app import DEVICE_LOST


def test_a_taken_port_gives_the_next_free_one():
    with process.listen(free_port()) as first, process.listen(first.getsockname()[1]) as second:
        assert second.getsockname()[1] > first.getsockname()[1]
        assert second.getsockname()[0] == "127.0.0.1"


def test_no_free_port_is_a_sentence(monkeypatch):
    monkeypatch.setattr(process, "PORTS_TRIED", 1)
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        pytest.raises(StartFailed, match="DUOLOGUE_WORKER_PORT_BASE"),
    ):
        process.listen(taken.getsockname()[1])


@pytest.mark.system
@pytest.mark.anyio
async def test_a_started_worker_listens_where_it_says_and_is_gone_afterwards():
    loadout = LoadSpec("worker_0", "scripted")
    async with process.started(loadout, "secret", free_port()) as running:
        with socket.create_connection(("127.0.0.1", running.port)):
            pass
    assert running.process.returncode is not None
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", running.port)).close()


@pytest.mark.system
@pytest.mark.anyio
async def test_a_worker_is_not_started_from_what_lies_in_the_folder_one_stands_in(monkeypatch, tmp_path):
    for place in ("duologue/__init__.py", "duologue/worker/__init__.py", "duologue/worker/__main__.py"):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text("import os; os._exit(66)" if "main" in place else "")
    monkeypatch.chdir(tmp_path)
    async with process.started(LoadSpec("worker_0", "scripted"), "secret", free_port()) as running:
        with anyio.fail_after(PATIENCE):
            await running.process.stdin.aclose()
            await running.process.wait()
    assert running.process.returncode == 0


@pytest.mark.system
@pytest.mark.anyio
async def test_a_worker_whose_device_is_lost_says_so_and_ends():
    answers: list[worker_protocol.Up] = []
    async with process.started(LoadSpec("worker_0", "scripted", "m"), "secret", free_port()) as running:
        headers = {"Authorization": "Bearer secret"}
        with anyio.fail_after(PATIENCE):
            async with connect(f"ws://{running.address}/live", additional_headers=headers) as socket:
                while not any(getattr(answer, "state", "") == "ready" for answer in answers):
                    answers += worker_protocol.decode_up(await socket.recv(decode=False))
                request = ChatRequest((user("/say so far\n/lose The card failed."),))
                await socket.send(worker_protocol.encode([worker_protocol.Begin(1, 0, request)]))
                with suppress(ConnectionClosed):  # a process that ends at once sends no goodbye
                    while True:
                        answers += worker_protocol.decode_up(await socket.recv(decode=False))
            await running.process.wait()
    assert running.process.returncode == DEVICE_LOST
    events = [event for each in answers if isinstance(each, worker_protocol.Emit) for event in each.events]
    assert events[-1] == Failed("device_lost", "The card failed.", 503)
    assert answers[-1] == worker_protocol.Closed(1)


PATIENCE = 60.0
"""Seconds after which a worker counts as one that never ends."""
GATEWAY = """
import anyio, json, os, sys
from duologue.gateway.workers import process
from duologue.wire.worker_protocol import LoadSpec

async def main():
    async with process.started(LoadSpec("w", "scripted"), "secret", int(sys.argv[1])) as running:
        print(json.dumps(running.process.pid), flush=True)
        await anyio.sleep_forever()

anyio.run(main)
"""


@pytest.mark.system
def test_a_worker_whose_gateway_was_killed_ends():
    gateway = subprocess.Popen([sys.executable, "-c", GATEWAY, str(free_port())], stdout=subprocess.PIPE)
    assert gateway.stdout is not None
    worker = json.loads(gateway.stdout.readline())
    watch = os.pidfd_open(worker)
    gateway.kill()
    gateway.wait()
    gateway.stdout.close()
    # A process descriptor becomes readable when its process ends. That comes within the second it was promised in, but
    # a worker that is still being imported looks only then, and on a busy machine that may be long.
    assert select.select([watch], [], [], PATIENCE)[0], "the worker outlived its gateway"
    os.close(watch)
