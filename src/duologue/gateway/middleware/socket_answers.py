"""Whether the application of a socket still has something to say, which a server that stops lets it say before it closes the socket.

The socket's protocol (`connections`) leaves a `SocketAnswers` in the scope's state; the sockets of chats and calls enter `answering` for as long as they answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from starlette.types import Scope

SOCKET_ANSWERS = "socket_answers"
"""The entry of a socket's state."""


class SocketAnswers:
    """The answers of one socket that have not ended. `on_end` is called when the last of them has."""

    def __init__(self) -> None:
        self.running = 0
        self.on_end: Callable[[], None] | None = None

    def begin(self) -> None:
        """An answer begins."""
        self.running += 1

    def end(self) -> None:
        """An answer has ended, and its last message was sent."""
        self.running -= 1
        if not self.running and self.on_end is not None:
            self.on_end()


@contextmanager
def answering(scope: Scope) -> Iterator[None]:
    """An answer on the socket of this scope, until its last message was sent."""
    answers: SocketAnswers | None = scope.get("state", {}).get(SOCKET_ANSWERS)
    if answers is None:  # a socket of a test
        yield
        return
    answers.begin()
    try:
        yield
    finally:
        answers.end()
