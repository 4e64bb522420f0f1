"""What a worker process is for: a language model, or speech. The process around it is the same."""

from __future__ import annotations

from typing import Protocol

from duologue.wire import worker_protocol
from duologue.worker.connection import Emit, Tell
from duologue.worker.inbox import ControlInbox


class WorkerService(Protocol):
    """The engines of one worker process, and what they do for a lease."""

    async def load(self) -> None:
        """Load what the loadout names; the gateway is told how it went."""
        ...

    async def serve(self, begin: worker_protocol.Begin, emit: Emit) -> None:
        """One generation: its events into `emit`, ending with exactly one terminal event."""
        ...

    async def attend(self, opened: worker_protocol.Open, inbox: ControlInbox, tell: Tell) -> None:
        """One call, speech or transcription, all but its last event. Raises Problems, which become that one."""
        ...

    async def count(self, asked: worker_protocol.Count) -> worker_protocol.Counted:
        """The tokens of a prompt. Raises Problems."""
        ...

    async def close(self) -> None:
        """Let go of the engines."""
        ...
