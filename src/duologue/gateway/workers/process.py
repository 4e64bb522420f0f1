"""Starting and stopping a worker process, and reading its log.

Owns the process, its listening socket, its error stream, and the pipe that closes when the gateway dies. `WorkerKeeper` decides when to start one.
"""

from __future__ import annotations

import logging
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import msgspec
from anyio.abc import Process

from duologue import process_limits
from duologue.errors import StartFailed
from duologue.gateway.workers.interpreter import CODE, environment
from duologue.gateway.workers.process_facts import LogTail
from duologue.tracing import spans
from duologue.wire.worker_protocol import LoadSpec

log = logging.getLogger(__name__)

PORTS_TRIED = 100
STOP_GRACE = 1.0
"""Seconds between SIGTERM and SIGKILL. Together with the gateway's own shutdown it stays under three."""


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

    def __init__(self, process: Process, port: int, log: LogTail) -> None:
        self.process = process
        self.port = port
        self.log = log

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"


@asynccontextmanager
async def started(
    load_spec: LoadSpec, secret: str, port: int, log_settings: tuple[str, str] = ("info", "text")
) -> AsyncIterator[WorkerProcess]:
    """A running worker process, with this log level and format. When the context is left it gets SIGTERM, then SIGKILL.

    The gateway binds the socket and hands it over, so there is no race for the port, and an early connection simply
    waits. The worker's standard input is a pipe held here: it closes when this process dies, even by SIGKILL.
    """
    listener = listen(port)
    bound_port = listener.getsockname()[1]
    tail = LogTail()
    try:
        process = await anyio.open_process(
            # -P: do not import from the current folder, where a file may shadow a library.
            [load_spec.python or sys.executable, "-P", "-m", "duologue.worker"],
            stdin=subprocess.PIPE,
            stdout=None,
            stderr=tail.write_end,
            pass_fds=(listener.fileno(),),
            # Ctrl-C goes to the whole process group of the terminal. The gateway handles it and stops its workers itself.
            start_new_session=True,
            # The operator's settings, including the key, stay in the gateway: a worker gets only its load spec.
            env=environment(load_spec.python)
            | {
                "DUOLOGUE_WORKER_SECRET": secret,
                "DUOLOGUE_WORKER_LOG": ":".join(log_settings),
                "DUOLOGUE_WORKER_SOCKET": str(listener.fileno()),
                "DUOLOGUE_WORKER_LOAD_SPEC": msgspec.json.encode(load_spec).decode(),
            }
            | tracing_variables(load_spec.worker),
        )
    except OSError as error:
        with tail:  # closes it
            pass
        python = load_spec.python or sys.executable
        raise StartFailed(
            f"The worker {load_spec.worker} cannot be started by {python}: {error.strerror or error}.",
            code=CODE,
            param="python",
        ) from error
    finally:
        # Only the worker may hold the socket, so that connections break when it dies.
        listener.close()
        tail.close_write_end()
    process_limits.set_oom_score(process.pid, process_limits.WORKER)
    log.info("worker %s started: process %d, port %d", load_spec.worker, process.pid, bound_port)
    with tail:
        try:
            yield WorkerProcess(process, bound_port, tail)
        finally:
            with anyio.CancelScope(shield=True):
                await _end(process)


def tracing_variables(worker: str) -> dict[str, str]:
    """How the worker traces, and the span that its load belongs to: that of the request that had it started."""
    if (settings := spans.settings_for(worker)) is None:
        return {}
    return {
        "DUOLOGUE_WORKER_TRACING": msgspec.json.encode(settings).decode(),
        "DUOLOGUE_WORKER_TRACEPARENT": spans.traceparent(),
    }


async def _end(process: Process) -> None:
    if process.returncode is None:
        process.terminate()
        with anyio.move_on_after(STOP_GRACE):
            await process.wait()
    if process.returncode is None:
        process.kill()
        await process.wait()
    await process.aclose()
