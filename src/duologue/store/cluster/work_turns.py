"""Periodic work that any gateway may do but only one does each time: deletions, copies.

Passed to everything that works in rounds. A gateway without others, as with SQLite, has every turn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duologue.store.cluster.claim_rows import ClaimRows

EARLY = 0.9
"""Of the time between two rounds: clocks and sleeps differ a little, and a round that comes a moment early must not be left out."""


class WorkTurns:
    """`claims`: of this gateway; None for one that is alone."""

    def __init__(self, claims: ClaimRows | None = None) -> None:
        self._claims = claims

    async def mine(self, name: str, every_s: float) -> bool:
        """Whether this gateway does the round of this name, which is done once in so many seconds. Raises Unavailable."""
        if self._claims is None:
            return True
        return await self._claims.take_turn(f"round:{name}", round(every_s * EARLY * 1000))

    async def forget_dead(self) -> None:
        """Delete what gateways claimed that are long gone. Raises Unavailable."""
        if self._claims is not None:
            await self._claims.forget_dead()


EVERY_TURN = WorkTurns()
"""Of a gateway that is alone."""
