"""The gateway's end of the decoder processes: starts the fork server, opens a child for each job, and ends both.

Used by `service`. The fork server is started at the first job, and again when it has ended: by itself after some idle minutes,
or because it was killed. The child of a job is killed when the job's context is left.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio
import msgspec
from anyio import lowlevel

from duologue import process_limits
from duologue.decoder.frames import HEADER, STATUS, Ending, JobRequest, pack_request
from duologue.decoder.job import NAME_BYTES

CHUNK = 2**18
"""Bytes sent or received at a time; between two pieces the loop turns."""
STATUS_SECONDS = 5.0
"""Seconds that the fork server may take to tell how a child ended."""


class ChildEnded(Exception):
    """A child ended before its job did."""

    def __init__(self, ending: Ending) -> None:
        super().__init__(ending)
        self.ending = ending


class ForkServerEnded(Exception):
    """The fork server ended, and the child with it: neither says anything about the file."""


class ResultTooLarge(Exception):
    """A child sent more than its job may."""


class ChildConnection:
    """One child, for one job."""

    def __init__(self, near: socket.socket, status: socket.socket, most: int) -> None:
        self._near, self._status, self._most = near, status, most

    async def send(self, request: JobRequest, data: bytes = b"") -> None:
        """The job, and its file unless the child reads it itself. A child that has ended is noticed by `receive`."""
        for part in (pack_request(request), data):
            rest = memoryview(part)
            while rest:
                try:
                    rest = rest[self._near.send(rest[:CHUNK]) :]
                except BlockingIOError:
                    await anyio.wait_writable(self._near)
                except OSError:
                    return
                else:
                    # A child that reads as fast as it is written to would hold the loop for the whole file.
                    await lowlevel.checkpoint()

    async def receive(self) -> tuple[bytes, bytearray]:
        """The kind and the body of the next frame. Raises ChildEnded, ForkServerEnded, ResultTooLarge."""
        header = await self._exactly(self._near, HEADER.size)
        if header is None:
            raise await self._ending()
        kind, size = HEADER.unpack(header)
        if size > self._most:
            raise ResultTooLarge
        body = await self._exactly(self._near, size)
        if body is None:
            raise await self._ending()
        return kind, body

    async def _ending(self) -> ChildEnded | ForkServerEnded:
        with anyio.move_on_after(STATUS_SECONDS):
            status = await self._exactly(self._status, STATUS.size)
            if status is not None:
                return ChildEnded(Ending(*STATUS.unpack(status)))
        return ForkServerEnded()

    async def _exactly(self, source: socket.socket, size: int) -> bytearray | None:
        """So many bytes; None when the other end closes first."""
        # It grows with what arrives: a large buffer is filled with zeros first, during which the loop stands still.
        buffer = bytearray()
        while len(buffer) < size:
            try:
                piece = source.recv(min(CHUNK, size - len(buffer)))
            except BlockingIOError:
                await anyio.wait_readable(source)
                continue
            except OSError:
                return None
            if not piece:
                return None
            buffer += piece
            if len(buffer) < size:
                await lowlevel.checkpoint()
        return buffer


class ForkServerProcess:
    """The fork server of this process, started when it is needed."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None

    @asynccontextmanager
    async def child(self, job: str, most: int) -> AsyncIterator[ChildConnection]:
        """A child for the job of this name, whose results have at most `most` bytes. Leaving kills it.

        Raises ForkServerEnded when none can be started.
        """
        near, far = socket.socketpair()
        status, far_status = socket.socketpair()
        with near, status:
            with far, far_status:
                self._hand_over(job, (far.fileno(), far_status.fileno()))
            process = self.process
            near.setblocking(False)
            status.setblocking(False)
            try:
                yield ChildConnection(near, status, most)
            except ForkServerEnded:
                # It may still take a job while it is dying, and that job would be lost too. Another job may have started a
                # new one by now: leave that alone.
                if self.process is process:
                    self.close()
                raise

    def close(self) -> None:
        """End the fork server and its children."""
        process, self.process = self.process, None
        if self._control is not None:
            self._control.close()
            self._control = None
        if process is not None:
            if process.poll() is None:
                # The children are in its group: systems without a signal at a parent's death end them too.
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.kill()
            process.wait()

    def _hand_over(self, job: str, descriptors: tuple[int, int]) -> None:
        message = job.encode().ljust(NAME_BYTES)
        for _ in range(2):
            control = self._started()
            # An error: it has ended, after an idle time or because it was killed. Or it has taken none of hundreds of jobs
            # (BlockingIOError) and hangs. Start another.
            with suppress(OSError):
                if socket.send_fds(control, [message], list(descriptors)) == NAME_BYTES:
                    return
            self.close()
        raise ForkServerEnded

    def _started(self) -> socket.socket:
        if self._control is not None and self.process is not None and self.process.poll() is None:
            return self._control
        self.close()
        near, far = socket.socketpair()
        near.setblocking(False)
        with far:
            self.process = subprocess.Popen(
                # -P: do not import from the current folder, where a file may shadow a library.
                [sys.executable, "-P", "-m", "duologue.decoder.fork_server"],
                stdin=far.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=None,
                # Ctrl-C goes to the whole process group; this process ends with its socket instead.
                start_new_session=True,
                # Few arenas, each of which would take address space.
                env=process_limits.inherited_environment() | {"MALLOC_ARENA_MAX": "2"},
            )
        process_limits.set_oom_score(self.process.pid, process_limits.FORK_SERVER)
        self._control = near
        return near


def request_for(job: str, arguments: tuple[object, ...], source: bytes | Path) -> tuple[JobRequest, bytes]:
    """The request of a job, and the bytes that follow it."""
    packed = msgspec.msgpack.encode(arguments)
    if isinstance(source, Path):
        return JobRequest(job, packed, path=str(source)), b""
    return JobRequest(job, packed, size=len(source)), source
