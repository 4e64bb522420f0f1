"""What a call sends to the client of a duplex session: most of it goes into the next results. Used by `DuplexSession`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from duologue.errors import Problem
from duologue.gateway.duplex.duplex_frames import DuplexBuffer
from duologue.values import call_events
from duologue.values.call_events import CallEvent
from duologue.values.conversations import Approval, Decision, StoredMessage
from duologue.values.events import Queued
from duologue.values.messages import ToolCall
from duologue.wire.calls import duplex


class DuplexEncoder:
    """The `Dialect` of this socket. `left` is called with what the client will have played of replies that are cut, `held` when one is on
    hold, `changed` after each batch of events."""

    def __init__(
        self,
        buffer: DuplexBuffer,
        *,
        left: Callable[[list[call_events.Played]], None],
        held: Callable[[], None],
        changed: Callable[[], None],
    ) -> None:
        self._buffer, self._left, self._held, self._changed = buffer, left, held, changed
        self._seated = False

    @property
    def epoch(self) -> int:
        return self._buffer.epoch

    def encode(self, events: Iterable[CallEvent]) -> list[str]:
        events = list(events)
        left = self._buffer.left_playing(events)
        self._buffer.take(events)
        self._left(left)
        if any(isinstance(event, call_events.Hold) for event in events):
            self._held()
        self._changed()
        return [
            duplex.error_message(Problem(event.message, code=event.code))
            for event in events
            if isinstance(event, call_events.CallProblem)
        ]

    def queued(self, event: Queued, again: bool) -> list[str]:
        # A client that was seated once has its session; it is not told of the wait when the voice worker is restarted.
        return [] if self._seated else [duplex.queue_message(event, again)]

    def seated(self, waited: bool) -> list[str]:
        if self._seated:
            return []
        self._seated = True
        return [duplex.queue_done_message()]

    def waiting(self, epoch: int) -> list[str]:
        return self.encode([call_events.State(epoch, "waiting")])

    def problem(self, problem: Problem) -> list[str]:
        return [duplex.error_message(problem)]

    # This protocol has no tools, and its sessions belong to no conversation.

    def tool_calls(self, reply: int, tool_calls: Iterable[ToolCall]) -> list[str]:
        return []

    def tool_state(self, reply: int, row: StoredMessage) -> list[str]:
        return []

    def approval_requested(self, reply: int, approval: Approval, question: str) -> list[str]:
        return []

    def approval_answered(self, reply: int, id: str, decision: Decision | None) -> list[str]:
        return []

    def history_changed(
        self, conversation: str, leaf: str | None, path: Sequence[StoredMessage]
    ) -> list[str]:
        return []
