"""How far the loading of a model is: told by whatever loads it, from any thread; read by whoever waits for it.

Owns the way between the two, which needs no lock: one number, written by one side alone. Knows no engine.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class Loading:
    """`share` is how much is done, 0 to 1; None while nobody can say."""

    def __init__(self) -> None:
        self.share: float | None = None


_current: ContextVar[Loading | None] = ContextVar("duologue.loading", default=None)


@contextmanager
def watched() -> Iterator[Loading]:
    """What is loaded in this context, and in the threads it calls, tells its progress here."""
    loading = Loading()
    token = _current.set(loading)
    try:
        yield loading
    finally:
        _current.reset(token)


def tell(share: float | None) -> None:
    """So much is done. Nobody need listen."""
    if (loading := _current.get()) is not None:
        loading.share = share
