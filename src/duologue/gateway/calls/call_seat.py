"""What a call leases: a seat of the voice worker, or a worker of the model that holds the call by itself, whole.

Used by `Call`; `CallServices` makes it.
"""

from __future__ import annotations

from contextlib import AbstractContextManager

from msgspec import Struct

from duologue.gateway.scheduling.lease import Lease
from duologue.gateway.scheduling.pool import Pool
from duologue.gateway.scheduling.request_meter import NO_METER, MeteredRequest, RequestMeter
from duologue.gateway.scheduling.scheduler import EVERY_SLOT
from duologue.gateway.scheduling.voice_seats import SEAT
from duologue.values.requests import ModelCard


class CallSeat(Struct, frozen=True):
    """`kind` is the queue's name for the call. `model`: the card of the model that holds it; None for a seat of the voice worker. `meter`
    counts and limits it."""

    pool: Pool
    kind: str = "call"
    model: ModelCard | None = None
    meter: RequestMeter = NO_METER

    @property
    def native(self) -> bool:
        """Whether a model holds the call by itself."""
        return self.model is not None

    def lease(self, user: str) -> AbstractContextManager[Lease]:
        """A lease on the seat, or a place in the queue for it."""
        if self.model is None:
            return self.pool.lease(SEAT, kind=self.kind, user=user)
        return self.pool.lease(self.model.name, kind=self.kind, user=user, need=EVERY_SLOT)

    async def ready(self, user: str) -> None:
        """Call it right before `metered`; see `RequestMeter.ready`."""
        if self.model is not None:
            await self.meter.ready(user)

    def metered(self, user: str) -> AbstractContextManager[MeteredRequest]:
        """The call as a request of the user's key. One that a model holds by itself is a request as long as it lasts; of another one every
        reply is. Raises as `RequestMeter.request`."""
        model = "" if self.model is None else self.model.name
        return self.meter.request("call", model, user=user, part=self.model is None)
