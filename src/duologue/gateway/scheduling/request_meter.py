"""What counts and limits requests, as those see it that carry them out: the dialects, speech, calls, vectors.

`gateway/usage/usage_meter.py` implements it. Without it nothing is limited and nothing counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Protocol


class SharedRequest:
    """Replies that are one request of a client, such as those to several prompts. `running`: how many of them run; `is_counted`: whether
    the first of them was admitted, for all; `holds_place`: one that has ended left its place to the others."""

    def __init__(self) -> None:
        self.running = 0
        self.is_counted = False
        self.holds_place = False


_shared: ContextVar[SharedRequest | None] = ContextVar("shared_request", default=None)


@contextmanager
def one_request() -> Iterator[None]:
    """The tasks that are started inside are one request of a client, whatever they generate."""
    token = _shared.set(SharedRequest())
    try:
        yield
    finally:
        _shared.reset(token)


def shared_request() -> SharedRequest | None:
    """What the running task has in common with others; None for a request of its own."""
    return _shared.get()


class MeteredRequest(Protocol):
    """A request that runs. Its methods return at once."""

    def wrote(self, tokens: int) -> None:
        """So many more tokens of the reply were written."""

    def counted(self, *, prompt: int = 0, cached: int = 0, completion: int = 0, instead_of: int = 0) -> None:
        """What a part of it used, such as one of several choices, in tokens; `instead_of`: of these, tokens that were told as written."""

    def heard(self, seconds: float) -> None:
        """So much sound was heard."""

    def spoke(self, seconds: float) -> None:
        """So much sound was spoken."""

    def failed(self) -> None:
        """It ends with an error."""


class RequestMeter(Protocol):
    async def ready(self, user: str, tokens: int = 0) -> None:
        """Call it right before `request`, with nothing awaited in between: where several gateways share the limits of the key, what the request needs is
        fetched first."""
        ...

    def request(
        self, kind: str, model: str, *, user: str, tokens: int = 0, part: bool = False
    ) -> AbstractContextManager[MeteredRequest]:
        """A request of the running task's key, or of the user, from its admission to its end. `tokens`: how many it may need; `part`: it
        belongs to another request, so it is no request of its own and is not limited.

        Entering raises Busy where the limits of the key do not allow it now, ModelNotFound for a model that the key may not use.
        """
        ...


class _Unmetered:
    def wrote(self, tokens: int) -> None:
        pass

    def counted(self, *, prompt: int = 0, cached: int = 0, completion: int = 0, instead_of: int = 0) -> None:
        pass

    def heard(self, seconds: float) -> None:
        pass

    def spoke(self, seconds: float) -> None:
        pass

    def failed(self) -> None:
        pass


class NoMeter:
    """Limits and counts nothing."""

    async def ready(self, user: str, tokens: int = 0) -> None:
        pass

    @contextmanager
    def request(
        self, kind: str, model: str, *, user: str, tokens: int = 0, part: bool = False
    ) -> Iterator[MeteredRequest]:
        yield UNMETERED


UNMETERED: MeteredRequest = _Unmetered()
"""A request that nobody counts."""
NO_METER: RequestMeter = NoMeter()
