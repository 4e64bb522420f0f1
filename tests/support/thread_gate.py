"""A blocking call that a test holds and releases, for tests of threads."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import anyio
import anyio.lowlevel
import pytest

from duologue.errors import Busy
from duologue.threads import DISK_THREADS, WAITING, disk_io


class Gate:
    """A blocking call that waits until the test opens it, and counts how many are inside."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.entered = 0
        self.most = 0
        self._lock = threading.Lock()

    def __call__(self) -> int:
        with self._lock:
            self.entered += 1
            self.most = max(self.most, self.entered)
        assert self.open.wait(60)
        with self._lock:
            self.entered -= 1
        return threading.get_ident()


async def until(condition: Callable[[], bool]) -> None:
    """Let the loop turn until `condition` holds."""
    with anyio.fail_after(60):
        while not condition():
            await anyio.lowlevel.checkpoint()


@asynccontextmanager
async def crowded_disk() -> AsyncIterator[Callable[[], Awaitable[None]]]:
    """A function that fills the queue of the disk: the next call that may be refused is refused, if the loop has not turned."""

    async def crowd() -> None:
        gate = Gate()
        for _ in range(DISK_THREADS + WAITING):
            tasks.start_soon(disk_io, gate)
        await until(lambda: gate.entered == DISK_THREADS)
        await anyio.wait_all_tasks_blocked()
        with pytest.raises(Busy):
            await disk_io(gate)
        gate.open.set()

    async with anyio.create_task_group() as tasks:
        yield crowd
