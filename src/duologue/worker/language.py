"""A worker's station with one language engine: replies are generated, prompts are counted.

Owns the engine. Knows no socket and no speech.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime

from duologue.engines.contracts import LanguageEngine
from duologue.errors import Unavailable, Unsupported
from duologue.sessions.chat.chat import count, reply
from duologue.values.events import Failed
from duologue.wire import worker_protocol
from duologue.worker.connection import Emit, Tell
from duologue.worker.inbox import ControlInbox
from duologue.worker.load_spec import load
from duologue.worker.state import Standing


class LanguageStation:
    """One language engine and its standing."""

    def __init__(
        self, loadout: worker_protocol.LoadSpec, standing: Standing, changed: Callable[[], None]
    ) -> None:
        self.engine: LanguageEngine | None = None
        self._loadout = loadout
        self._standing = standing
        self._changed = changed

    async def load(self) -> None:
        """Load the engine; the gateway is told how it went."""
        self.engine = await load(self._loadout, self._standing, self._changed)

    async def serve(self, begin: worker_protocol.Begin, emit: Emit) -> None:
        """One reply's events into `emit`, ending with exactly one terminal event."""
        if self.engine is None:
            problem = Unavailable(self._standing.detail)
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

    async def attend(self, opened: worker_protocol.Open, inbox: ControlInbox, tell: Tell) -> None:
        """Raises Unsupported: calls are for a voice worker."""
        raise Unsupported("This worker has a language model and no voice.", code="voice_unavailable")

    async def count(self, asked: worker_protocol.Count) -> worker_protocol.Counted:
        """The tokens of a prompt. Raises Unavailable while there is no model, and the Problems of its template."""
        if self.engine is None:
            raise Unavailable(self._standing.detail)
        counted = await count(self.engine, asked.request, now=datetime.now().astimezone())
        return worker_protocol.Counted(asked.ask, counted.tokens, counted.context, counted.estimated)

    async def close(self) -> None:
        """Let go of the engine."""
        if self.engine is not None:
            await self.engine.close()
