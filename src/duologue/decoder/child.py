"""A child of the fork server: limits itself, does one job on one file, and exits.

Called by `fork_server` after the fork, and never returns to it. Nothing here may be needed after a job: the process may be
killed at any moment. Linux applies every limit and, where the kernel has Landlock, lets the job open only libraries and
fonts; other systems apply the limits they have.
"""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec

from duologue import landlock, process_limits
from duologue.decoder.frames import END, FAILURE, ITEM, LENGTH, JobRequest, failure_of, pack_frame
from duologue.decoder.job import MEGABYTE, find_job, limits_of, types_of
from duologue.errors import NotFound

FILES = 64
"""Files a child may have open."""
FONTS = (
    *("/usr/share/fonts", "/usr/local/share/fonts", "/usr/share/X11/fonts", "/usr/share/fontconfig"),
    *("/etc/fonts", os.path.expanduser("~/.fonts"), os.path.expanduser("~/.local/share/fonts")),
)
"""Where the readers of drawings and PDFs look for fonts."""
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)


def run_child(connection: socket.socket, parent: int) -> None:
    """Do the job that is requested on `connection`, as a child of the process `parent`. Never returns."""
    status = 1
    try:
        _prepare(parent)
        _do_job(connection)
        status = 0
    except OSError:
        status = 0  # the gateway has left
    finally:
        # No cleanup of the fork server's state, and no trace on the terminal: the gateway reports how a child ended.
        os._exit(status)


def _prepare(parent: int) -> None:
    """Leave the fork server's signals and outputs."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    # Libraries print warnings about damaged files there.
    silent = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(silent, descriptor)
    os.close(silent)
    if sys.platform == "linux":
        # The fork server may be killed too.
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # killed before the line above
            os._exit(1)
        process_limits.set_oom_score(os.getpid(), process_limits.READER)


def _do_job(connection: socket.socket) -> None:
    try:
        request = _request(connection)
        job = find_job(request.job)
        types, limits = types_of(job), limits_of(job)
        arguments = msgspec.msgpack.decode(request.arguments, type=types.arguments)
        source: bytes | BinaryIO
        if types.opens:
            source = _open(request.path)
        else:
            source = _read(request.path) if request.path else _receive(connection, request.size)
        process_limits.limit_process(
            memory=limits.memory_mb * MEGABYTE, cpu_seconds=limits.cpu_seconds, open_files=FILES
        )
        landlock.restrict([*landlock.library_places(), *FONTS])
        result = job(source, *arguments)
        items: Iterator[object] = result if types.streams else iter((result,))
        for item in items:
            connection.sendall(pack_frame(ITEM, msgspec.msgpack.encode(item)))
        frame = pack_frame(END)
    except BaseException as error:  # noqa: BLE001 (a panic in Rust code is no Exception, and all of them are answered)
        frame = pack_frame(FAILURE, msgspec.msgpack.encode(failure_of(error)))
    connection.sendall(frame)


def _read(path: str) -> bytes:
    with _open(path) as file:
        return file.read()


def _open(path: str) -> BinaryIO:
    try:
        return Path(path).open("rb")
    except FileNotFoundError:
        raise NotFound("The file no longer exists.", code="blob_not_found") from None


def _request(connection: socket.socket) -> JobRequest:
    (length,) = LENGTH.unpack(_receive(connection, LENGTH.size))
    return msgspec.msgpack.decode(_receive(connection, length), type=JobRequest)


def _receive(connection: socket.socket, size: int) -> bytes:
    """Exactly `size` bytes. Raises OSError when the other end closes first."""
    buffer = bytearray(size)
    view, filled = memoryview(buffer), 0
    while filled < size:
        received = connection.recv_into(view[filled:])
        if not received:
            raise ConnectionError
        filled += received
    view.release()
    return bytes(buffer)
