"""The lowest place in the queue: work that waits until nobody else wants its model, as a program under `nice` waits for a processor.

A property of the task, not of a request: every lease that a task takes inside `lowest_place`, and the tasks it starts there, is behind all
others, whatever dialect asks for it. `batches` runs its lines in it; `pool` asks.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

BATCH = "batch"
"""The kind of work in the lowest place, for the estimates and the status pages."""
_lowest: ContextVar[bool] = ContextVar("lowest_place", default=False)


@contextmanager
def lowest_place() -> Iterator[None]:
    """What this task, and tasks that it starts meanwhile, lease inside waits behind everybody else."""
    token = _lowest.set(True)
    try:
        yield
    finally:
        _lowest.reset(token)


def in_lowest_place() -> bool:
    """Whether the running task is in the lowest place."""
    return _lowest.get()
