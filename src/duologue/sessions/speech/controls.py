"""Where a session reads what it is told."""

from __future__ import annotations

from typing import Protocol

from duologue.values.call_events import CallControl


class Controls(Protocol):
    """What a call or a speech is told, in order. Bounded by whoever gives it."""

    async def take(self) -> list[CallControl]:
        """All that came, waiting for something. Raises Problems."""
        ...
