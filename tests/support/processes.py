"""Whether processes have ended."""

from __future__ import annotations

import os

import anyio


async def process_ended(process: int) -> None:
    """Return once there is no such process."""
    with anyio.fail_after(30):
        while _lives(process):  # noqa: ASYNC110 (nothing here is told of the end of another process's child)
            await anyio.sleep(0.01)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
