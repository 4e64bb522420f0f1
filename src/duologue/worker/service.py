"""What a worker process does for the gateway: `LanguageService` or `VoiceService`. The process around them is the same."""

from __future__ import annotations

from typing import Protocol

from duologue.sessions.chat.reply_controls import ReplyControls
from duologue.sessions.speech.speech_task import SendEvent
from duologue.values.questions.worker_answers import Answer
from duologue.values.questions.worker_questions import Question
from duologue.wire import worker_protocol
from duologue.worker.connection import Emit
from duologue.worker.inbox import ControlInbox


class WorkerService(Protocol):
    """The engines of one worker process, and what they do for a lease."""

    async def load(self) -> None:
        """Load what the load spec names, reporting to the gateway."""
        ...

    async def watch(self) -> None:
        """Report what changes about the engines after loading, until cancelled; return where nothing does."""
        ...

    async def generate(self, begin: worker_protocol.Begin, emit: Emit, controls: ReplyControls) -> None:
        """Run one generation: its events go into `emit`, the last one is its only terminal event. `controls` reach it while it runs."""
        ...

    async def run_session(self, opening: worker_protocol.Open, inbox: ControlInbox, send: SendEvent) -> None:
        """Run one call, speech request or transcription; the connection adds the final event. Raises Problems, which become
        part of it."""
        ...

    async def answer(self, question: Question) -> Answer:
        """Answer a question that needs no slot. Raises Problems."""
        ...

    async def close(self) -> None:
        """Release the engines."""
        ...
