"""How a worker is replaced: by a new one beside it, or in its own place once it is empty. Pure: bytes in, a way out.

`rolling_restart` asks with what was measured just before; `scaler` asks whether one more worker has room.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Way = Literal["beside", "after"]
SPARE = 512 * 2**20
"""Bytes that stay free beside a second worker: replies grow the memory of the first meanwhile."""


class WorkerMemory(Struct, frozen=True):
    """What a worker like this one needs, by its model's size and by what its process has, and what is free where it runs; bytes.
    `free` is None where nobody measures."""

    by_model: int
    by_process: int
    free: int | None

    @property
    def fits(self) -> bool:
        """Whether one more has room."""
        if self.free is None:
            return True
        needed = max(self.by_model, self.by_process)
        return needed + SPARE <= self.free if needed else True


ANYWHERE, NOWHERE = WorkerMemory(0, 0, None), WorkerMemory(1, 0, 0)
"""Of a worker on a cluster that has room for another one, and on one that has none."""


def choose_way(memory: WorkerMemory, *, stays: bool) -> tuple[Way, str]:
    """How to replace a worker, and why, for the log. `stays`: it must keep its name and its place: a voice, whose seats cannot be at two
    workers, or the worker of a connected server."""
    if stays:
        return "after", "it is replaced in place"
    if not memory.fits:
        return "after", "there is not enough memory for a second one beside it"
    return "beside", "there is room for a second one beside it"
