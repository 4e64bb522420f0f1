"""A blocking call that a test holds and releases, for tests of threads."""

from __future__ import annotations

import threading
from collections.abc import Callable

import anyio


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
        assert self.open.wait(10)
        with self._lock:
            self.entered -= 1
        return threading.get_ident()


async def until(condition: Callable[[], bool]) -> None:
    """Let the loop turn until `condition` holds."""
    with anyio.fail_after(10):
        while not condition():
            await anyio.lowlevel.checkpoint()
