"""The program that forks decoders: `python -m duologue.decoder.fork_server`, started by `process`.

It imports the libraries of a job before the first one and forks a child for each job, which shares their memory and starts in
a few milliseconds. It never touches a file's bytes itself. Standard input is a socket: a message is the name of a job, and
carries two more sockets, one for the job and one for its end. When the second is closed at the other side the child is
killed; when the child ends, its exit status is written there. The end of standard input is the end of this process and of
all children. There is no event loop and no thread: a process with threads cannot fork safely. `engines/fork_server.py` says why it
is a program of its own.
"""

from __future__ import annotations

import gc
import importlib
import os
import select
import signal
import socket
import sys
from contextlib import suppress

from duologue.decoder.child import run_child
from duologue.decoder.frames import STATUS
from duologue.decoder.job import MEGABYTE, NAME_BYTES, find_job, limits_of, types_of
from duologue.process_limits import peak_memory

IDLE_SECONDS = 300
"""Without a job for so long the process ends; the next job starts another."""
NICE = 5
"""Decoding runs at a lower priority than the gateway and the workers."""


class ForkServer:
    """The children that run, by process id, each with the socket that reports its end; None once the gateway has closed it."""

    def __init__(self, control: socket.socket, wakeup: socket.socket) -> None:
        self._control = control
        self._wakeup = wakeup
        self._children: dict[int, socket.socket | None] = {}
        self._known: set[str] = set()

    def serve(self) -> None:
        """Fork a child for every job that arrives, until the other end of `control` closes, or nothing has come for long."""
        while True:
            reports = [report for report in self._children.values() if report is not None]
            watched = [self._control, self._wakeup, *reports]
            readable, _, _ = select.select(watched, [], [], None if self._children else IDLE_SECONDS)
            if not readable and not self._children:
                return
            if self._wakeup in readable:
                with suppress(BlockingIOError):
                    self._wakeup.recv(4096)
            self._reap()
            for process, report in self._children.items():
                # Nothing is ever sent here: the gateway has closed it.
                if report is not None and report in readable:
                    self._kill(process, report)
            if self._control in readable and not self._accept():
                return

    def end_children(self) -> None:
        for process in self._children:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)

    def _kill(self, process: int, report: socket.socket) -> None:
        """End a child without a report. The socket is closed at once: it would stay readable, and the loop would spin until the
        child is gone, which takes a while where the kernel or a debugger holds it."""
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
        report.close()
        self._children[process] = None

    def _accept(self) -> bool:
        """Fork for the next job; False when the gateway has closed the socket."""
        message, descriptors, _, _ = socket.recv_fds(self._control, NAME_BYTES, 2)
        if len(descriptors) != 2:
            return False
        while len(message) < NAME_BYTES:
            more = self._control.recv(NAME_BYTES - len(message))
            if not more:
                return False
            message += more
        connection, status = (socket.socket(fileno=descriptor) for descriptor in descriptors)
        with connection:
            self._preload(message.rstrip(b" ").decode("ascii", "replace"))
            parent = os.getpid()
            try:
                child = os.fork()
            except OSError as error:
                sys.stderr.write(f"A decoder could not be forked: {error}\n")
                status.close()
                return True
            if not child:
                self._control.close()
                for other in self._children.values():
                    if other is not None:
                        other.close()
                status.close()
                run_child(connection, parent)
        self._children[child] = status
        return True

    def _preload(self, name: str) -> None:
        if name not in self._known:
            self._known.add(name)
            preload(name)

    def _reap(self) -> None:
        """Report the children that have ended."""
        while self._children:
            try:
                process, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if not process:
                return
            if (report := self._children.pop(process, None)) is not None:
                peak, seconds = peak_memory(usage) // MEGABYTE, usage.ru_utime + usage.ru_stime
                with report, suppress(OSError):
                    report.sendall(STATUS.pack(os.waitstatus_to_exitcode(status), peak, seconds))


def preload(name: str) -> None:
    """Import a job's module and libraries. What fails here fails again in the child, which tells why."""
    with suppress(Exception):
        job = find_job(name)
        types_of(job)
        for module in limits_of(job).preload:
            with suppress(ImportError):
                importlib.import_module(module)
    # A collection in a child would write to every object, which copies the pages that it shares with this process.
    gc.collect()
    gc.freeze()


def main() -> None:
    control = socket.socket(fileno=0)
    wakeup, bell = socket.socketpair()
    wakeup.setblocking(False)
    bell.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    signal.set_wakeup_fd(bell.fileno(), warn_on_full_buffer=False)
    os.nice(NICE)
    server = ForkServer(control, wakeup)
    try:
        server.serve()
    finally:
        server.end_children()


if __name__ == "__main__":
    main()
