"""The turns of work in the slots of a joined worker: waits where a `SlotTable` says so, and tells each gateway what works for others.

One for the worker; each connection to a gateway passes its work through `turn`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from duologue.notifier import Notifier
from duologue.worker.joined.slot_table import SlotTable, SlotWork

TellElsewhere = Callable[[tuple[int, ...]], None]


class SlotTurns:
    """`slots`: how many the worker has now."""

    def __init__(self, slots: Callable[[], int]) -> None:
        self._slots = slots
        self._table = SlotTable()
        self._ended = Notifier()
        self._tell: dict[int, TellElsewhere] = {}
        self._told: dict[int, tuple[int, ...]] = {}

    def joined(self, gateway: int, tell: TellElsewhere) -> None:
        """A connection to a gateway is open; it is told of every change from now on."""
        self._tell[gateway] = tell
        self._told[gateway] = ()
        self._changed()

    def left(self, gateway: int) -> None:
        """It is gone."""
        self._tell.pop(gateway, None)

    @asynccontextmanager
    async def turn(self, gateway: int, lease: int, slot: int) -> AsyncIterator[None]:
        """The body has the slot; waits for it."""
        work = SlotWork(gateway, lease, slot)
        self._table.begin(work)
        self._changed()
        try:
            while not self._table.may_run(work):
                await self._ended.wait()
            yield
        finally:
            self._table.end(work)
            self._ended.notify()
            self._changed()

    def _changed(self) -> None:
        for gateway, tell in self._tell.items():
            elsewhere = self._table.elsewhere(gateway, self._slots())
            if elsewhere != self._told[gateway]:
                self._told[gateway] = elsewhere
                tell(elsewhere)
