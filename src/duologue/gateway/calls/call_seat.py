"""What a call leases: a seat of the voice worker, or a worker of the model that holds the call by itself, whole.

Used by `Call`; `CallServices` makes it.
"""

from __future__ import annotations

from contextlib import AbstractContextManager

from msgspec import Struct

from duologue.gateway.scheduling.lease import Lease
from duologue.gateway.scheduling.pool import Pool
from duologue.gateway.scheduling.scheduler import EVERY_SLOT
from duologue.gateway.scheduling.voice_seats import SEAT
from duologue.values.requests import ModelCard


class CallSeat(Struct, frozen=True):
    """`kind` is the queue's name for the call. `model`: the card of the model that holds it; None for a seat of the voice worker."""

    pool: Pool
    kind: str = "call"
    model: ModelCard | None = None

    @property
    def native(self) -> bool:
        """Whether a model holds the call by itself."""
        return self.model is not None

    def lease(self, user: str) -> AbstractContextManager[Lease]:
        """A lease on the seat, or a place in the queue for it."""
        if self.model is None:
            return self.pool.lease(SEAT, kind=self.kind, user=user)
        return self.pool.lease(self.model.name, kind=self.kind, user=user, need=EVERY_SLOT)
