"""How far the loading of a model is: reported by the engine from any thread, read by the worker that waits for it.

A context variable connects the two, so that no engine's `load` needs a parameter for it. No lock is needed: it is one
number, written by one side alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class LoadProgress:
    """`share` is how much is done, 0 to 1; None while it is unknown."""

    def __init__(self) -> None:
        self.share: float | None = None


_current: ContextVar[LoadProgress | None] = ContextVar("duologue.load_progress", default=None)


@contextmanager
def track() -> Iterator[LoadProgress]:
    """The progress of what is loaded in this context, and in the threads it calls."""
    progress = LoadProgress()
    token = _current.set(progress)
    try:
        yield progress
    finally:
        _current.reset(token)


def report(share: float | None) -> None:
    """Report how much is done, 0 to 1. Without a `track` around it, nothing happens."""
    if (progress := _current.get()) is not None:
        progress.share = share
