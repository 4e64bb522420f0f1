"""What a call has to say to its client, whatever its socket speaks.

Only the shape: `/ws/voice` and `/ws/duplex` fill it. Knows neither.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Protocol

from duologue.errors import Problem
from duologue.values.call_events import CallEvent
from duologue.values.conversations import Approval, Decision, StoredMessage
from duologue.values.events import Queued
from duologue.values.messages import ToolCall

Write = Callable[[Sequence[str | bytes]], Awaitable[None]]


class Dialect(Protocol):
    """What a call says, in the words of its socket. It lets nothing out that is stale."""

    @property
    def epoch(self) -> int: ...

    def encode(self, events: Iterable[CallEvent]) -> Sequence[str | bytes]: ...

    def queued(self, event: Queued, again: bool) -> Sequence[str | bytes]: ...

    def seated(self, waited: bool) -> Sequence[str | bytes]: ...

    def waiting(self, epoch: int) -> Sequence[str | bytes]: ...

    def trouble(self, problem: Problem) -> Sequence[str | bytes]: ...

    def tool_calls(self, reply: int, asked: Iterable[ToolCall]) -> Sequence[str | bytes]:
        """Tools of the client are called."""
        ...

    def tool(self, reply: int, row: StoredMessage) -> Sequence[str | bytes]:
        """How a call of a tool of the server stands."""
        ...

    def asked(self, reply: int, approval: Approval, aloud: str) -> Sequence[str | bytes]:
        """Only the caller can answer this, which is said `aloud` too."""
        ...

    def answered(self, reply: int, id: str, decision: Decision | None) -> Sequence[str | bytes]:
        """The question is open no more."""
        ...

    def rewritten(
        self, conversation: str, leaf: str | None, path: Sequence[StoredMessage]
    ) -> Sequence[str | bytes]:
        """The conversation was changed elsewhere: this is what the call goes on from."""
        ...
