"""Tells the other gateways how much each key has used of a model's slots, so that a key gets no larger share by using several gateways.

The shell around `FairLine.served_elsewhere`: notices, every second while something is charged. Made by `gateway/sharing.py`, once for each pool.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import anyio

from duologue.gateway.scheduling.scheduler import Scheduler
from duologue.store.cluster.notices import Notices
from duologue.values.cluster.notices import SlotsServed

EVERY_S = 1.0
"""Seconds between two notices about a model."""
AT_A_TIME = 60
"""Keys of one notice, which has a few kilobytes at most."""
LARGEST = 86_400.0
"""Slot-seconds of one key in one notice: a clock that jumps somewhere must not lock a key out here."""


class SharedService:
    """`pool`: what the other gateways call this pool; `others`: whether there are any."""

    def __init__(
        self,
        scheduler: Scheduler,
        notices: Notices,
        pool: Literal["models", "voice"],
        others: Callable[[], bool],
    ) -> None:
        self._scheduler, self._notices, self._pool, self._others = scheduler, notices, pool, others
        notices.on(SlotsServed, self._heard)

    async def run(self) -> None:
        """Tell the others, until cancelled."""
        while True:
            await anyio.sleep(EVERY_S)
            self.tell()

    def tell(self) -> None:
        """Tell what was charged since the last time."""
        for (model, place), seconds in self._scheduler.charged(tells=self._others()).items():
            rows = [(share, round(amount, 3)) for share, amount in seconds.items() if amount]
            for start in range(0, len(rows), AT_A_TIME):
                self._notices.post(
                    SlotsServed(self._pool, model, place, dict(rows[start : start + AT_A_TIME]))
                )

    def _heard(self, notice: SlotsServed) -> None:
        if notice.pool != self._pool:
            return
        sound = {share: amount for share, amount in notice.seconds.items() if math.isfinite(amount)}
        bounded = {share: max(-LARGEST, min(LARGEST, amount)) for share, amount in sound.items()}
        self._scheduler.served_elsewhere(notice.model, notice.place, bounded)
