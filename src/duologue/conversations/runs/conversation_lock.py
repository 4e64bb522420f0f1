"""One run's claim to a conversation within this process. Used by `service.py`."""

from __future__ import annotations

import anyio

from duologue.conversations.runs.run import ActiveRun
from duologue.errors import Unavailable


class ConversationLock:
    """Taken before anything is awaited, so two requests cannot both start a run."""

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        self.started = anyio.Event()
        """Set when `run` is known, or will never be."""
        self.released = anyio.Event()
        self.run: ActiveRun | None = None

    async def wait_for_release(self, seconds: float) -> None:
        """A run whose end was published releases its conversation soon. Raises Unavailable while it cannot be stored."""
        with anyio.move_on_after(seconds):
            await self.released.wait()
        if not self.released.is_set():
            raise Unavailable(
                "The last reply could not be saved yet; the server keeps trying. Send this again in a moment.",
                code="storage_unavailable",
            )
