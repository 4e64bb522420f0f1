"""Which work may use which slot of a worker that serves several gateways. Pure.

Each gateway schedules all slots of the worker, and hears of those that work for others (`SlotsElsewhere`). Two may begin in the same slot
at the same moment all the same: the later work waits here, first come, first served. `SlotTurns` asks.
"""

from __future__ import annotations

from typing import NamedTuple

EVERY = -1
"""In place of a slot: all of them, for a call that a model holds by itself."""


class SlotWork(NamedTuple):
    """A lease of a gateway, whose numbers are its own, and its slot."""

    gateway: int
    lease: int
    slot: int


class SlotTable:
    """The work in the order in which it came."""

    def __init__(self) -> None:
        self._works: list[SlotWork] = []

    def begin(self, work: SlotWork) -> None:
        """The work has come; `may_run` says when its turn is."""
        self._works.append(work)

    def end(self, work: SlotWork) -> None:
        """The work is over, or gave up waiting."""
        self._works.remove(work)

    def may_run(self, work: SlotWork) -> bool:
        """Whether nothing that came before needs the same slot."""
        for earlier in self._works:
            if earlier is work:
                return True
            if work.slot in (earlier.slot, EVERY) or earlier.slot == EVERY:
                return False
        return False

    def elsewhere(self, gateway: int, slots: int) -> tuple[int, ...]:
        """Of so many slots, those that work for other gateways, or will when their turn comes."""
        taken = {work.slot for work in self._works if work.gateway != gateway}
        return tuple(range(slots)) if EVERY in taken else tuple(sorted(taken))
