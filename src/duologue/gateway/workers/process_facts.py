"""What the system says about a process, and what it wrote last: read where `/proc` and the control group say it, unknown elsewhere.

`keeper.py` asks when a worker has ended, `connection.py` while one does not answer.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

OUT_OF_MEMORY = (Path("/sys/fs/cgroup/memory.events"), Path("/proc/vmstat"))
"""Where Linux counts the processes that it killed for want of memory."""
LINE_BYTES = 4096
"""The most of one line of a worker's log that is kept."""
PIPE_BYTES, READS = 65536, 16
"""Bytes of one read from the pipe, and reads in a row: a worker that never stops writing must not stop the gateway."""


def out_of_memory_kills(files: Iterable[Path] = OUT_OF_MEMORY) -> int:
    """How many processes the system has killed for want of memory; 0 where it does not say."""
    count = 0
    for file in files:
        try:
            lines = file.read_text(encoding="ascii", errors="replace").splitlines()
        except OSError:
            continue
        count += sum(int(line.split()[1]) for line in lines if line.startswith("oom_kill "))
    return count


def resident_bytes(pid: int) -> int:
    """The memory that a process has, with the files it has mapped; 0 where the system does not say."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS:")), 0)


def waits_for_disk(pid: int) -> bool:
    """Whether the process waits for the disk at this moment, as while the machine swaps."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return False
    # The name before it is in brackets and may contain anything.
    return stat.rpartition(b")")[2].split()[:1] == [b"D"]


class LogTail:
    """A worker's error stream on its way to the server's own: passed on as it comes, its last line kept.

    The worker gets `write_end`; who holds neither end any more closes the pipe by leaving the context. Nothing waits for the other
    processes that a worker may have started, which hold the pipe too.
    """

    def __init__(self, forward: Callable[[bytes], object] | None = None) -> None:
        self._forward = forward or _to_own_error_stream
        self._line = b""
        self._last = b""
        self._read_end, self.write_end = os.pipe()
        os.set_blocking(self._read_end, False)

    def __enter__(self) -> LogTail:
        asyncio.get_running_loop().add_reader(self._read_end, self._read)
        return self

    def __exit__(self, *error: object) -> None:
        asyncio.get_running_loop().remove_reader(self._read_end)
        self.close_write_end()
        self._read()
        os.close(self._read_end)

    def close_write_end(self) -> None:
        """Leave it to the worker alone."""
        if self.write_end >= 0:
            os.close(self.write_end)
            self.write_end = -1

    @property
    def last_line(self) -> str:
        """The last line with text in it, "" before the first."""
        line = self._line.strip() or self._last
        return line.decode("utf-8", "replace")

    def feed(self, data: bytes) -> None:
        """Take in the next bytes."""
        *lines, rest = (self._line + data).split(b"\n")
        self._last = next((line.strip()[:LINE_BYTES] for line in reversed(lines) if line.strip()), self._last)
        self._line = rest[-LINE_BYTES:]

    def _read(self) -> None:
        for _ in range(READS):
            try:
                data = os.read(self._read_end, PIPE_BYTES)
            except BlockingIOError:
                return
            if not data:
                asyncio.get_running_loop().remove_reader(self._read_end)
                return
            self.feed(data)
            self._forward(data)


def _to_own_error_stream(data: bytes) -> None:
    # The terminal may be gone, or full: the worker must not stop for it.
    with suppress(OSError, ValueError):
        os.write(sys.stderr.fileno(), data)
