"""What a call sends to its client, as a protocol that each socket implements: `/ws/voice` and `/ws/duplex`."""

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
    """Encodes a call as messages of its socket. Drops what is stale: sound and text of an older epoch."""

    @property
    def epoch(self) -> int: ...

    def encode(self, events: Iterable[CallEvent]) -> Sequence[str | bytes]: ...

    def queued(self, event: Queued, again: bool) -> Sequence[str | bytes]:
        """The call waits for a seat; `again`: its place has changed."""
        ...

    def seated(self, waited: bool) -> Sequence[str | bytes]:
        """The call has a seat."""
        ...

    def waiting(self, epoch: int) -> Sequence[str | bytes]:
        """The call has lost its seat and waits for another one."""
        ...

    def problem(self, problem: Problem) -> Sequence[str | bytes]:
        """Something failed; the call continues."""
        ...

    def tool_calls(self, reply: int, tool_calls: Iterable[ToolCall]) -> Sequence[str | bytes]:
        """The model calls tools of the client."""
        ...

    def tool_state(self, reply: int, row: StoredMessage) -> Sequence[str | bytes]:
        """The state of a tool call, with the result once there is one."""
        ...

    def approval_requested(self, reply: int, approval: Approval, question: str) -> Sequence[str | bytes]:
        """Only the caller can answer this; `question` is how it is spoken."""
        ...

    def approval_answered(self, reply: int, id: str, decision: Decision | None) -> Sequence[str | bytes]:
        """The question is closed; without a decision it expired."""
        ...

    def history_changed(
        self, conversation: str, leaf: str | None, path: Sequence[StoredMessage]
    ) -> Sequence[str | bytes]:
        """The conversation was changed elsewhere; the call continues from this path."""
        ...
