"""A process that has imported the gateway, and forks itself for every `duologue serve` that a test starts.

Two thirds of a start are imports, and the tests start hundreds of servers. What is forked is a process as any other: it has its
own arguments, environment, folder and signals, runs `duologue`'s own `__main__`, and starts its workers as always. `Server` in
`tests/e2e/conftest.py` calls `fork_gateway`; this file is also the program that it starts. The program ends, and ends what it
forked, when the process that started it is gone. It has no thread: a process with threads cannot fork safely.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

PRELOADED = (
    "aiosqlite",
    "anyio._backends._asyncio",
    "duologue.cli.main",
    "duologue.conversations.api",
    "duologue.conversations.runs.service",
    "duologue.conversations.service",
    "duologue.gateway.server",
    "duologue.gateway.usage.usage_routes",
    "duologue.store.backup.daily_copies",
    "duologue.store.schema.migrate",
    "duologue.store.stores",
    "duologue.store.users",
    "duologue.supervisor.parent",
    "duologue.tools.builtin.catalogue",
    "duologue.tools.mcp.registry",
    "duologue.tools.routes",
    "duologue.tools.toolbox",
    "encodings.idna",
    "prometheus_client",
    "pydantic.v1",
    "sqlalchemy.dialects.postgresql.asyncpg",
    "sqlalchemy.dialects.sqlite.aiosqlite",
    "sqlalchemy.ext.asyncio",
    "typer._adapters",
    "tzdata.zoneinfo",
    "tzlocal",
    "uvicorn.lifespan.on",
    "uvicorn.loops.uvloop",
    "uvicorn.protocols.http.auto",
)
NUMBER = struct.Struct("!i")
"""A process id, and later the exit code."""


class ForkedProcess:
    """A forked gateway, with those parts of `subprocess.Popen` that tests use."""

    def __init__(self, pid: int, stdout: IO[str], report: socket.socket) -> None:
        self.pid = pid
        self.stdout = stdout
        self.returncode: int | None = None
        self._report = report

    def poll(self) -> int | None:
        """The exit code, negative for a signal; None while it runs."""
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code once it has ended. Raises `subprocess.TimeoutExpired`."""
        if self.returncode is None:
            if not select.select([self._report], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("duologue", timeout or 0)
            self.returncode = _number(self._report)
            self._report.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class _Client:
    """The fork server of this test process, started with the first gateway."""

    def __init__(self) -> None:
        self._control: socket.socket | None = None
        self._lock = threading.Lock()

    def control(self) -> socket.socket:
        with self._lock:
            if self._control is None:
                self._control, other = socket.socketpair()
                with other:
                    subprocess.Popen([sys.executable, "-P", __file__], stdin=other.fileno())
            return self._control


_client = _Client()


def fork_gateway(arguments: Sequence[str], folder: Path, environment: Mapping[str, str]) -> ForkedProcess:
    """Start `duologue` with these arguments and this environment, and no other, in `folder`; `stdout` has stderr too."""
    report, other = socket.socketpair()
    reader, writer = os.pipe()
    with other, open(writer, "wb") as output:
        socket.send_fds(_client.control(), [b"!"], [output.fileno(), other.fileno()])
    request = {"arguments": list(arguments), "folder": str(folder), "environment": dict(environment)}
    report.sendall(json.dumps(request).encode() + b"\n")
    return ForkedProcess(_number(report), open(reader, encoding="utf-8"), report)


def _number(report: socket.socket) -> int:
    """The next number. Raises EOFError when the fork server is gone."""
    data = report.recv(NUMBER.size, socket.MSG_WAITALL)
    if len(data) < NUMBER.size:
        raise EOFError("The fork server of the tests has ended.")
    number: int = NUMBER.unpack(data)[0]
    return number


class _ForkServer:
    """The gateways that run, by process id, each with the socket that gets its exit code."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._wakeup, self._bell = socket.socketpair()
        self._children: dict[int, socket.socket] = {}

    def serve(self) -> bool:
        """Fork for every request. True in the forked process; False when the tests are over."""
        self._wakeup.setblocking(False)
        self._bell.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        signal.set_wakeup_fd(self._bell.fileno(), warn_on_full_buffer=False)
        # Ctrl-C in a terminal is for the tests; this process ends with them.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        while True:
            readable, _, _ = select.select([self._control, self._wakeup], [], [])
            if self._wakeup in readable:
                with suppress(BlockingIOError):
                    self._wakeup.recv(4096)
                self._reap()
            if self._control in readable:
                _, descriptors, _, _ = socket.recv_fds(self._control, 1, 2)
                if len(descriptors) != 2:
                    for process in self._children:
                        os.kill(process, signal.SIGTERM)
                    return False
                if self._fork(*descriptors):
                    return True

    def _fork(self, output: int, report_number: int) -> bool:
        """True in the new process."""
        report = socket.socket(fileno=report_number)
        with report.makefile("rb") as lines:
            request = json.loads(lines.readline())
        child = os.fork()
        if child:
            os.close(output)
            report.sendall(NUMBER.pack(child))
            self._children[child] = report
            return False
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for inherited in (self._control, self._wakeup, self._bell, report, *self._children.values()):
            inherited.close()
        for standard in (1, 2):
            os.dup2(output, standard)
        os.close(output)
        os.chdir(request["folder"])
        os.environ.clear()
        os.environ.update(request["environment"])
        sys.argv = ["duologue", *request["arguments"]]
        return True

    def _reap(self) -> None:
        while self._children:
            process, status = os.waitpid(-1, os.WNOHANG)
            if not process:
                return
            with self._children.pop(process) as report, suppress(OSError):
                report.sendall(NUMBER.pack(os.waitstatus_to_exitcode(status)))


def main() -> None:
    control = socket.socket(fileno=os.dup(0))
    # Forked processes have nothing to read.
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    for name in PRELOADED:
        # What cannot be imported here cannot be imported there, where the test sees why.
        with suppress(Exception):
            importlib.import_module(name)
    # A collection would write to every object, which copies the pages that the processes share.
    gc.collect()
    gc.freeze()
    if _ForkServer(control).serve():
        runpy.run_module("duologue", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
