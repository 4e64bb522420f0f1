"""The service of a worker with a language model: generates replies and counts prompts."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime

from duologue.engines.contracts import LanguageEngine, WatchedEngine
from duologue.errors import Unavailable, Unsupported
from duologue.sessions.chat.chat import count, reply
from duologue.sessions.speech.speech_task import SendEvent
from duologue.values.events import Failed
from duologue.values.requests import ModelCard
from duologue.wire import worker_protocol
from duologue.worker.connection import Emit
from duologue.worker.inbox import ControlInbox
from duologue.worker.load_spec import load
from duologue.worker.state import WorkerLifecycle


class LanguageService:
    """One language engine. `report` sends the worker's status to the gateway."""

    def __init__(
        self, load_spec: worker_protocol.LoadSpec, status: WorkerLifecycle, report: Callable[[], None]
    ) -> None:
        self.engine: LanguageEngine | None = None
        self._load_spec = load_spec
        self._status = status
        self._report = report

    async def load(self) -> None:
        """Load the engine, reporting to the gateway."""
        self.engine = await load(self._load_spec, self._status, self._report)

    async def watch(self) -> None:
        """Report what changes about the engine's model, until cancelled."""
        if isinstance(self.engine, WatchedEngine):
            await self.engine.watch(self._changed)

    def _changed(self, card: ModelCard) -> None:
        self._status.changed(card)
        self._report()

    async def generate(self, begin: worker_protocol.Begin, emit: Emit) -> None:
        """Write one reply into `emit`, ending with exactly one terminal event."""
        if self.engine is None:
            problem = Unavailable(self._status.detail)
            await emit(Failed(problem.code, problem.message, problem.status))
            return
        await reply(
            self.engine,
            begin.slot,
            begin.request,
            emit,
            now=datetime.now().astimezone(),
            clock=time.monotonic,
        )

    async def run_session(self, opening: worker_protocol.Open, inbox: ControlInbox, send: SendEvent) -> None:
        """Raises Unsupported: calls need a voice worker."""
        raise Unsupported("This worker has a language model and no voice.", code="voice_unavailable")

    async def count(self, request: worker_protocol.Count) -> worker_protocol.Counted:
        """Count the tokens of a prompt. Raises Unavailable while no model is loaded, and the Problems of its template."""
        if self.engine is None:
            raise Unavailable(self._status.detail)
        prompt = await count(self.engine, request.request, now=datetime.now().astimezone())
        return worker_protocol.Counted(request.ask, prompt.tokens, prompt.context, prompt.estimated)

    async def close(self) -> None:
        """Release the engine."""
        if self.engine is not None:
            await self.engine.close()
