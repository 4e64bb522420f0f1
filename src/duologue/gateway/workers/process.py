"""Worker processes: started, watched, started again.

Owns the process, its listening socket and the pipe whose end tells it that the gateway is gone. Knows no request.
"""

from __future__ import annotations

import logging
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import msgspec
from anyio.abc import Process

from duologue.errors import StartFailed
from duologue.wire.worker_protocol import LoadSpec

log = logging.getLogger(__name__)

PORTS_TRIED = 100
STOP_GRACE = 1.0
"""Seconds between asking a worker to end and killing it. With what the gateway's own end takes it stays under three."""
STEADY = 10.0
"""Seconds a worker must have lived for its next restart to be immediate again."""
GIVE_UP = 3
"""Starts in a row that ended before the worker was ready, after which requests no longer wait for it."""


def backoff(failures: int) -> float:
    """Seconds to wait before the next start, after this many quick ends in a row: 0, 0.5, 1, 2, ... 30."""
    return 0.0 if failures <= 1 else min(30.0, 0.5 * 2.0 ** (failures - 2))


def retry(failures: int) -> float:
    """Seconds to wait before a model that could not be loaded is tried again: 30, 60, 120, 240, 300 ...

    What kept it from loading may have gone: another process has given its memory back, a disk is there again.
    """
    return min(300.0, 30.0 * 2.0 ** (failures - 1))


def ending(returncode: int | None) -> str:
    """How a process ended, in words for the log."""
    if returncode is None:
        return "it still ran"
    if returncode >= 0:
        return f"exit code {returncode}"
    return f"signal {-returncode}, {signal.strsignal(-returncode)}"


def listen(port: int) -> socket.socket:
    """A loopback socket listening on `port` or the next free one. Raises StartFailed when none is."""
    for candidate in range(port, port + PORTS_TRIED):
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", candidate))
            listener.listen(16)
        except OSError:
            listener.close()
            continue
        return listener
    raise StartFailed(
        f"No free port for a worker between {port} and {port + PORTS_TRIED - 1}. "
        "Set worker_port_base (DUOLOGUE_WORKER_PORT_BASE) to a free range."
    )


class WorkerProcess:
    """A started worker process and where it listens."""

    def __init__(self, process: Process, port: int) -> None:
        self.process = process
        self.port = port

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"


@asynccontextmanager
async def started(
    loadout: LoadSpec, secret: str, port: int, log_settings: tuple[str, str] = ("info", "text")
) -> AsyncIterator[WorkerProcess]:
    """A running worker process, logging at this level and in this form; ended when the context is left, gently
    first and then by force.

    The gateway binds the socket and hands it over, so there is no race for the port and a connection made at once
    simply waits. The worker's standard input is a pipe held here: it closes when this process dies, however it does.
    """
    listener = listen(port)
    actual = listener.getsockname()[1]
    try:
        process = await anyio.open_process(
            # -P: not from the folder the server was started in, where a file may have the name of a library's.
            [sys.executable, "-P", "-m", "duologue.worker"],
            stdin=subprocess.PIPE,
            stdout=None,
            stderr=None,
            pass_fds=(listener.fileno(),),
            # Ctrl-C goes to the whole terminal group; only the gateway may answer it, and ends its workers itself.
            start_new_session=True,
            # The operator's settings, the key among them, are the gateway's: a worker is told what it needs.
            env={key: value for key, value in os.environ.items() if not key.startswith("DUOLOGUE_")}
            | {
                "DUOLOGUE_WORKER_SECRET": secret,
                "DUOLOGUE_WORKER_LOG": ":".join(log_settings),
                "DUOLOGUE_WORKER_SOCKET": str(listener.fileno()),
                "DUOLOGUE_WORKER_LOAD_SPEC": msgspec.json.encode(loadout).decode(),
            },
        )
    finally:
        # The worker alone must hold the socket: when it dies, connections to it must break.
        listener.close()
    log.info("worker %s started: process %d, port %d", loadout.worker, process.pid, actual)
    try:
        yield WorkerProcess(process, actual)
    finally:
        with anyio.CancelScope(shield=True):
            await _end(process)


async def _end(process: Process) -> None:
    if process.returncode is None:
        process.terminate()
        with anyio.move_on_after(STOP_GRACE):
            await process.wait()
    if process.returncode is None:
        process.kill()
        await process.wait()
    await process.aclose()
